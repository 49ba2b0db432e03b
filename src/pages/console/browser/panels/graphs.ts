import { el } from '../dom.ts';
import { count } from '../format.ts';
import { graph } from '../graph.ts';
import { queryText } from '../place.ts';
import type { Figures } from '../records.ts';
import { type Panel, panel } from './panel.ts';

type Period = Figures['minutes'][number];

/** The time that a row of graphs covers, and the time of one bar. */
interface Span {
  readonly name: string;
  readonly slot: string;
}
const hour: Span = { name: '1 h', slot: '1 min' };
const day: Span = { name: '24 h', slot: '10 min' };

const ended = ({ rejected, failed, expired }: Period): number => rejected + failed + expired;

function row(periods: readonly Period[], { name, slot }: Span): Element {
  const bars = (title: string, figureOf: (period: Period) => number, isBad = false): Element => {
    const values = periods.map(figureOf);
    const sum = values.reduce((all, value) => all + value, 0);
    const words = { now: `${count(sum)} in ${name}`, peak: `${count(Math.max(...values))} in ${slot}` };
    return graph({ title, ...words, from: `${name} ago`, isBad }, values);
  };
  return el(
    'div',
    { class: 'graphs', 'data-key': name },
    bars('Sent', ({ sent }) => sent),
    bars('Claimed', ({ claimed }) => claimed),
    bars('Completed', ({ acked }) => acked),
    bars('Failed, rejected, expired', ended, true),
  );
}

/** The throughput of the space or of a mailbox, as counted by the store. */
export function graphsPanel(mailboxId?: string): Panel {
  return panel<Figures>({
    id: 'graphs',
    path: `/figures${queryText({ mailboxId })}`,
    hears: ['message'],
    everySeconds: 4,
    idleSeconds: 30,
    render: ({ minutes, tens }) => [
      row(minutes, hour),
      el('details', { 'data-key': 'day' }, el('summary', {}, 'The last day, by ten minutes'), row(tens, day)),
    ],
  });
}
