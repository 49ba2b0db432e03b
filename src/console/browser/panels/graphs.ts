import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { count, duration } from '../format.ts';
import { graph } from '../graph.ts';
import { countedTypes, type Figures, History, type Series, slots } from '../history.ts';
import { longestOf } from '../past.ts';
import type { World } from '../world.ts';
import { type Panel, panel } from './panel.ts';

const shortestMs = 600_000;
/** The graphs show the longest of these of which a few reads have every event. */
const spansMs = [6 * 3_600_000, 3_600_000, shortestMs];
const counted = { types: countedTypes.join(',') };

/** The history of the last hours or minutes, or, where too much happens, of what happens from now on. */
async function readHistory(api: Api, world: World, signal: AbortSignal): Promise<History> {
  const found = await longestOf(spansMs, api, counted, () => world.now(), signal);
  if (!found) return new History(shortestMs, world.now());
  const history = new History(found.spanMs);
  history.add(found.events);
  return history;
}

const highest = (values: Series): number => Math.max(0, ...values);
const sum = (values: Series): number => values.reduce((all, value) => all + value, 0);

function drawn({ spanMs, isPartial, backlog, completed, failed, oldestSeconds }: Figures): Element {
  const span = duration(spanMs / 1000);
  const from = `${span} ago`;
  const slot = duration(spanMs / slots / 1000);
  const total = (values: Series): string => `${isPartial ? 'at least ' : ''}${count(sum(values))} in ${span}`;
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
        now: total(completed),
        peak: `${count(highest(completed))} in ${slot}`,
        from,
        kind: 'bars',
      },
      completed,
    ),
    graph(
      {
        title: 'Failed, rejected, expired',
        now: total(failed),
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
      if (!world.history) world.takeHistory(await readHistory(api, world, signal));
      return {};
    },
    render: () => {
      if (!world.history) return [];
      const figures = world.history.figures(world.now());
      return figures.isPartial ? [drawn(figures), partialNote()] : [drawn(figures)];
    },
  });
}

function partialNote(): Element {
  const text = 'So much happens here that only what has happened since this page was opened is counted.';
  return el('p', { class: 'note' }, text);
}
