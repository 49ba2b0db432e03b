import { el } from './dom.ts';

const height = 30;

interface Shape {
  readonly title: string;
  /** The total, in words. */
  readonly now: string;
  /** The highest value, in words. */
  readonly peak: string;
  /** When the graph begins. */
  readonly from: string;
  readonly isBad?: boolean;
}

/** A small bar chart of one figure over time, oldest first. Its text has the total and the highest value. */
export function graph({ title, now, peak, from, isBad = false }: Shape, values: readonly number[]): Element {
  const top = Math.max(1, ...values);
  const rects = values.map((value, x) => {
    // A value above zero is always visible.
    const shown = value > 0 ? Math.max(1, (value / top) * height) : 0;
    const size = { width: '0.8', height: String(shown) };
    return el('rect', { class: isBad ? 'bad' : 'settled', x: String(x), y: String(height - shown), ...size });
  });
  const box = { viewBox: `0 0 ${values.length} ${height}`, preserveAspectRatio: 'none' };
  return el(
    'figure',
    { class: 'graph', 'data-key': title },
    el('figcaption', {}, el('b', {}, title), ` ${now}`),
    el('svg', { ...box, role: 'img', 'aria-label': `${title}: ${now}, at most ${peak}` }, ...rects),
    el('p', { class: 'note' }, el('span', {}, `from ${from}`), el('span', {}, `at most ${peak}`)),
  );
}
