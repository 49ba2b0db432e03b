import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { plural } from '../format.ts';
import { type Panel, panel } from '../panels/panel.ts';
import { clock, pager, scopeLink, section, shownOf, type TableText, table } from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import { progress, runState } from '../progress.ts';
import type { Scope, Scopes } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';
import { searchForm } from './search.ts';

const text: TableText = {
  caption: 'Runs',
  heads: ['Run', 'State', 'Progress', 'Live', 'Began', 'Below'],
  empty: 'No such run.',
};

function runTable(scopes: readonly Scope[], world: SpaceState, isMore = false, shownRows = 50): Element {
  return table(
    isMore && scopes.length === 0 ? { ...text, empty: 'None found yet; the next page looks further.' } : text,
    scopes.map((run) => ({
      key: run.id,
      cells: [
        scopeLink(run.id, world),
        runState(run),
        progress(run),
        [
          plural(run.live.messages, 'message'),
          ...(run.live.waiters > 0 ? [plural(run.live.waiters, 'waiter')] : []),
        ].join(', '),
        clock(run.createdAt),
        run.parentScopeId === null ? '–' : scopeLink(run.parentScopeId, world),
      ],
    })),
    shownRows,
  );
}

/** For a page of one state, the service scans 1,000 runs. The page may be empty although there are more matches. */
const maxScans = 20;

async function search(api: Api, path: string, signal: AbortSignal): Promise<Scopes> {
  let answer = await api.get<Scopes>(path, signal);
  for (let scans = 1; answer.scopes.length === 0 && answer.nextCursor !== null && scans < maxScans; scans++)
    answer = await api.get<Scopes>(`${path.replace(/&cursor=[^&]*/, '')}&cursor=${answer.nextCursor}`, signal);
  return answer;
}

function runsPanel(id: string, path: string, render: (answer: Scopes, world: SpaceState) => Node[]): Panel {
  return panel<Scopes>({
    id,
    path,
    read: (api, signal) => search(api, path, signal),
    hears: ['scope', 'message', 'waiter'],
    everySeconds: 4,
    idleSeconds: 20,
    learn: ({ scopes }, world) => {
      world.learnRuns(scopes);
    },
    render,
  });
}

export const newestRuns = runsPanel('runs', '/scopes?limit=10', ({ scopes }, world) => [
  runTable(scopes.slice(0, shownOf(3, 2)), world, false),
  el('p', { class: 'pages' }, el('a', { href: address(world.spaceId, 'runs') }, 'All runs, by name and state')),
]);

/** All scopes, newest first, with a search by state and name. An id opens a scope. */
export function runsPage(place: PageRef): Page {
  const { query } = place;
  const of = (name: string): string | undefined => query.get(name) ?? undefined;
  const wanted = { state: of('state'), namePrefix: of('name'), cursor: of('cursor') };
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
    { name: 'name', label: 'Name, or its beginning' },
    { name: 'scopeId', label: 'Scope id', isId: true, leadsTo: 'run' },
  ]);
  return { title: 'Runs', content: [section('All runs', list.id, form)], panels: [list] };
}
