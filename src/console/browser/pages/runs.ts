import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { plural } from '../format.ts';
import { type Panel, panel } from '../panels/panel.ts';
import { badge, clock, named, pager, scopeLink, section, shownOf, type TableText, table } from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import type { Scope, Scopes } from '../records.ts';
import type { World } from '../world.ts';
import type { Page } from './page.ts';
import { searchForm } from './search.ts';

const text: TableText = {
  caption: 'Runs',
  heads: ['Run', 'Name', 'State', 'Live', 'Began', 'Below'],
  empty: 'No such run.',
};

function runTable(scopes: readonly Scope[], world: World, isMore = false, shownRows = 50): Element {
  return table(
    isMore && scopes.length === 0 ? { ...text, empty: 'None found yet; the next page looks further.' } : text,
    scopes.map(({ id, name, state, live, createdAt, parentScopeId }) => ({
      key: id,
      cells: [
        scopeLink(id, world),
        named(name ?? '–'),
        badge(state),
        [plural(live.messages, 'message'), ...(live.waiters > 0 ? [plural(live.waiters, 'waiter')] : [])].join(', '),
        clock(createdAt),
        parentScopeId === null ? '–' : scopeLink(parentScopeId, world),
      ],
    })),
    shownRows,
  );
}

/** The service looks at 1,000 runs for a page of one state, which may be empty though there are more. */
const maxScans = 20;

async function search(api: Api, path: string, signal: AbortSignal): Promise<Scopes> {
  let answer = await api.get<Scopes>(path, signal);
  for (let scans = 1; answer.scopes.length === 0 && answer.nextCursor !== null && scans < maxScans; scans++)
    answer = await api.get<Scopes>(`${path.replace(/&cursor=[^&]*/, '')}&cursor=${answer.nextCursor}`, signal);
  return answer;
}

function runsPanel(id: string, path: string, render: (answer: Scopes, world: World) => Node[]): Panel {
  return panel<Scopes>({
    id,
    path,
    read: (api, signal) => search(api, path, signal),
    hears: ['scope', 'message', 'waiter'],
    everySeconds: 4,
    idleSeconds: 20,
    learn: ({ scopes }, world) => {
      for (const scope of scopes) world.scopes.learn(scope.id, scope.createdAt, scope.parentScopeId);
    },
    render,
  });
}

export const newestRuns = runsPanel('runs', '/scopes?limit=10', ({ scopes }, world) => [
  runTable(scopes, world, false, shownOf(10, 3)),
  el('p', {}, el('a', { href: address(world.spaceId, 'runs') }, 'All runs, by name and state')),
]);

/** All scopes, newest first, by state and name, or opened by their ids. */
export function runsPage(place: PageRef): Page {
  const { query } = place;
  const of = (name: string): string | undefined => query.get(name) ?? undefined;
  const wanted = { state: of('state'), name: of('name'), cursor: of('cursor') };
  const list = runsPanel(
    'run-list',
    `/scopes${queryText({ limit: '50', ...wanted })}`,
    ({ scopes, nextCursor }, world) => [runTable(scopes, world, nextCursor !== null), ...pager(place, nextCursor)],
  );
  const form = searchForm(place, [
    {
      name: 'state',
      label: 'State',
      options: [
        ['', 'any'],
        ['ACTIVE', 'active'],
        ['IDLE', 'idle'],
        ['CANCELLED', 'cancelled'],
      ],
    },
    { name: 'name', label: 'Name, exactly' },
    { name: 'scopeId', label: 'Scope id', isId: true, leadsTo: 'run' },
  ]);
  return { title: 'Runs', content: [section('All runs', list.id, form)], panels: [list] };
}
