import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { count, duration } from '../format.ts';
import { graph } from '../graph.ts';
import { countedTypes, type Figures, History, type Series, slots } from '../history.ts';
import type { EventsPage, Happening } from '../records.ts';
import type { World } from '../world.ts';
import { type Panel, panel } from './panel.ts';

/** The longest first: the one whose events are read in a few pages. */
const spansMs = [6 * 3_600_000, 3_600_000, 10 * 60_000];
const perPage = 500;
const maxPages = 6;

/** All events of the time; undefined if they are too many. */
async function eventsOf(api: Api, since: number, signal: AbortSignal): Promise<Happening[] | undefined> {
  const query = `types=${countedTypes.join(',')}&limit=${perPage}`;
  const found: Happening[] = [];
  let from = `since=${new Date(since).toISOString()}`;
  for (let pages = 0; pages < maxPages; pages++) {
    const { events, nextCursor } = await api.get<EventsPage>(`/watch?${query}&${from}`, signal);
    found.push(...events);
    if (from === `cursor=${nextCursor}`) return found;
    from = `cursor=${nextCursor}`;
  }
  return undefined;
}

/** The history of as much time as a few reads tell; without any it begins now. */
async function readHistory(api: Api, now: number, signal: AbortSignal): Promise<History> {
  for (const spanMs of spansMs) {
    const events = await eventsOf(api, now - spanMs, signal);
    if (!events) continue;
    const history = new History(spanMs);
    history.add(events);
    return history;
  }
  return new History(spansMs.at(-1) ?? 0);
}

const highest = (values: Series): number => Math.max(0, ...values);
const sum = (values: Series): number => values.reduce((all, value) => all + value, 0);

function drawn({ spanMs, backlog, completed, failed, oldestSeconds }: Figures): Element {
  const from = `${duration(spanMs / 1000)} ago`;
  const slot = duration(spanMs / slots / 1000);
  const oldest = oldestSeconds.at(-1) ?? 0;
  return el(
    'div',
    { class: 'graphs' },
    graph(
      {
        title: 'Backlog',
        now: count(backlog.at(-1) ?? 0),
        most: count(highest(backlog)),
        from,
        kind: 'area',
      },
      backlog,
    ),
    graph(
      {
        title: 'Completed',
        now: `${count(sum(completed))} in all`,
        most: `${count(highest(completed))} in ${slot}`,
        from,
        kind: 'bars',
      },
      completed,
    ),
    graph(
      {
        title: 'Failed, rejected, expired',
        now: `${count(sum(failed))} in all`,
        most: `${count(highest(failed))} in ${slot}`,
        from,
        kind: 'bars',
        isBad: true,
      },
      failed,
    ),
    graph(
      {
        title: 'Oldest message',
        now: oldest === 0 ? 'none' : duration(oldest),
        most: duration(highest(oldestSeconds)),
        from,
        kind: 'area',
      },
      oldestSeconds,
    ),
  );
}

/** Graphs of a space, of what its journal tells and of what is seen from then on. */
export function graphsPanel(world: World): Panel {
  return panel<object>({
    id: 'graphs',
    path: '/watch',
    hears: ['message'],
    // Only the first one is a read.
    everySeconds: 1,
    idleSeconds: 5,
    read: async (api, signal) => {
      if (!world.history) world.takeHistory(await readHistory(api, world.now(), signal));
      return {};
    },
    render: () => (world.history ? [drawn(world.history.figures(world.now()))] : []),
  });
}
