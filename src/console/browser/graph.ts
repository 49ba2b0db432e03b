import { el } from './dom.ts';
import type { Series } from './history.ts';

const height = 30;

interface Shape {
  readonly title: string;
  /** The latest value in words. */
  readonly now: string;
  /** The highest value in words. */
  readonly peak: string;
  /** When it begins. */
  readonly from: string;
  readonly kind: 'area' | 'bars';
  readonly isBad?: boolean;
}

/** A small graph of one figure; the text says the same as far as words can. */
export function graph({ title, now, peak, from, kind, isBad = false }: Shape, values: Series): Element {
  const top = Math.max(1, ...values);
  const rects = values.map((value, x) => {
    // Something is never invisible.
    const shown = value > 0 ? Math.max(1, (value / top) * height) : 0;
    const size = { width: kind === 'bars' ? '0.8' : '1.02', height: String(shown) };
    return el('rect', { class: isBad ? 'bad' : 'settled', x: String(x), y: String(height - shown), ...size });
  });
  const box = { viewBox: `0 0 ${values.length} ${height}`, preserveAspectRatio: 'none' };
  return el(
    'figure',
    { class: 'graph', 'data-key': title },
    el('figcaption', {}, el('b', {}, title), ` ${now}`),
    el('svg', { ...box, role: 'img', 'aria-label': `${title}: ${now} now, at most ${peak} ${from}` }, ...rects),
    el('p', { class: 'note' }, el('span', {}, `from ${from}`), el('span', {}, `at most ${peak}`)),
  );
}
