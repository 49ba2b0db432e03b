import { type Child, el } from './dom.ts';

/** The height of a row in pixels, as console.css has it. */
const rowHeight = 52;
const width = 60;
const dotX = width - 10;

/** A message or a group of the graph. */
export interface GraphNode {
  readonly id: string;
  /** Of its class in console.css. */
  readonly state: string;
  readonly isThis?: boolean;
  /** Its two lines. */
  readonly line: readonly Child[];
  readonly note: readonly Child[];
}

/** What has to end before what, by ids. */
export type Edge = readonly [before: string, after: string];

/** A curve from row to row, to the left of the dots; to the next one a line. */
function curve(from: number, to: number): Element[] {
  const [y1, y2] = [from * rowHeight + rowHeight / 2 + 6, to * rowHeight + rowHeight / 2 - 8];
  const bend = to - from === 1 ? 0 : Math.min(dotX + 8, 14 + 12 * (to - from));
  const line = `M${dotX} ${y1}C${dotX - bend} ${y1} ${dotX - bend} ${y2} ${dotX} ${y2}`;
  const arrow = `M${dotX - 4} ${y2}L${dotX + 4} ${y2}L${dotX} ${y2 + 6}Z`;
  return [el('path', { d: line }), el('path', { d: arrow, class: 'arrow' })];
}

/**
 * Draws what waits for what: one row each, what has to end first above what waits for it, and beside them the lines. It is as
 * narrow as a list, so it needs no other form on a phone. label: the same in words.
 */
export function waitsGraph(label: string, nodes: readonly GraphNode[], edges: readonly Edge[]): Element {
  const rows = new Map(nodes.map(({ id }, row) => [id, row]));
  const lines = edges.flatMap(([before, after]) => {
    const [from, to] = [rows.get(before), rows.get(after)];
    return from === undefined || to === undefined ? [] : curve(Math.min(from, to), Math.max(from, to));
  });
  const dots = nodes.map(({ state, isThis }, row) => {
    const at = { cx: String(dotX), cy: String(row * rowHeight + rowHeight / 2), r: isThis ? '7' : '5' };
    return el('circle', { ...at, class: `${state.toLowerCase()}${isThis ? ' this' : ''}` });
  });
  const size = { width: String(width), height: String(nodes.length * rowHeight) };
  return el(
    'div',
    { class: 'waits' },
    el('svg', { ...size, role: 'img', 'aria-label': label }, ...lines, ...dots),
    el(
      'ol',
      {},
      ...nodes.map(({ id, line, note }) =>
        el(
          'li',
          { 'data-key': id },
          el('span', { class: 'line' }, ...line),
          el('span', { class: 'line note' }, ...note),
        ),
      ),
    ),
  );
}
