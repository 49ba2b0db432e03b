import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { count, duration } from '../format.ts';
import { graph } from '../graph.ts';
import { countedTypes, type Figures, History, type Sample, type Series, slots } from '../history.ts';
import type { EventsPage, Happening } from '../records.ts';
import type { World } from '../world.ts';
import { type Panel, panel } from './panel.ts';

const spanMs = 6 * 3_600_000;
const perPage = 500;
/** Where so many pages do not have all events of the time, it is estimated from samples. */
const maxPages = 6;
const samples = 20;
const perSample = 300;
const readsAtOnce = 4;

const counted = `types=${countedTypes.join(',')}`;
const sinceText = (at: number): string => `since=${new Date(at).toISOString()}`;

/** All events of the time; undefined if they are too many. */
async function eventsOf(api: Api, since: number, signal: AbortSignal): Promise<Happening[] | undefined> {
  const found: Happening[] = [];
  let from = sinceText(since);
  for (let pages = 0; pages < maxPages; pages++) {
    const { events, nextCursor } = await api.get<EventsPage>(`/watch?${counted}&limit=${perPage}&${from}`, signal);
    found.push(...events);
    if (from === `cursor=${nextCursor}`) return found;
    from = `cursor=${nextCursor}`;
  }
  return undefined;
}

/** The first events of equal parts of the time until now. */
async function samplesOf(api: Api, now: number, signal: AbortSignal): Promise<Sample[]> {
  const partMs = spanMs / samples;
  const first = Math.floor(now / partMs) - samples + 1;
  const found: Sample[] = [];
  for (let part = 0; part < samples; part += readsAtOnce) {
    const some = Array.from({ length: Math.min(readsAtOnce, samples - part) }, async (_, n): Promise<Sample> => {
      const from = (first + part + n) * partMs;
      const until = from + partMs;
      const path = `/watch?${counted}&limit=${perSample}&${sinceText(from)}`;
      const { events } = await api.get<EventsPage>(path, signal);
      const times = events.map(({ occurredAt }) => Date.parse(occurredAt));
      // Earlier ones may come first.
      const inPart = events.filter((_, n) => (times[n] ?? 0) >= from && (times[n] ?? 0) < until);
      const isCut = events.length === perSample && (times.at(-1) ?? 0) < until;
      return { from, until: Math.min(until, now), events: inPart, isCut };
    });
    found.push(...(await Promise.all(some)));
  }
  return found;
}

/** The history of the last hours: of all its events, or where they are many, of samples. */
async function readHistory(api: Api, now: number, signal: AbortSignal): Promise<History> {
  const history = new History(spanMs);
  const events = await eventsOf(api, now - spanMs, signal);
  if (events) history.add(events);
  else history.estimate(await samplesOf(api, now, signal), now);
  return history;
}

const highest = (values: Series): number => Math.max(0, ...values);
const sum = (values: Series): number => values.reduce((all, value) => all + value, 0);

function drawn({ spanMs: shownMs, backlog, completed, failed, oldestSeconds }: Figures): Element {
  const from = `${duration(shownMs / 1000)} ago`;
  const slot = duration(shownMs / slots / 1000);
  const oldest = oldestSeconds.at(-1) ?? 0;
  return el(
    'div',
    { class: 'graphs' },
    graph(
      {
        title: 'Backlog',
        now: count(backlog.at(-1) ?? 0),
        peak: count(highest(backlog)),
        from,
        kind: 'area',
      },
      backlog,
    ),
    graph(
      {
        title: 'Completed',
        now: `${count(sum(completed))} in all`,
        peak: `${count(highest(completed))} in ${slot}`,
        from,
        kind: 'bars',
      },
      completed,
    ),
    graph(
      {
        title: 'Failed, rejected, expired',
        now: `${count(sum(failed))} in all`,
        peak: `${count(highest(failed))} in ${slot}`,
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
        peak: duration(highest(oldestSeconds)),
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
    render: () => {
      if (!world.history) return [];
      const figures = world.history.figures(world.now());
      return figures.isEstimated ? [drawn(figures), estimatedNote()] : [drawn(figures)];
    },
  });
}

function estimatedNote(): Element {
  const text =
    'So much happens here that what was before is estimated from samples; what happens from now on is counted.';
  return el('p', { class: 'note' }, text);
}
