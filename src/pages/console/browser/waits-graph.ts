import { type Child, el } from './dom.ts';

/** The height of a row in pixels, as in console.css. */
const rowHeight = 52;
const width = 60;
const dotX = width - 10;

/** A message or a group in the graph. */
export interface GraphNode {
  readonly id: string;
  /** In lower case, the class of its dot in console.css. */
  readonly state: string;
  readonly isThis?: boolean;
  /** Its two lines. */
  readonly line: readonly Child[];
  readonly note: readonly Child[];
}

/** The ids of two nodes. The first must end before the second can start. */
export type Edge = readonly [before: string, after: string];

/** A curve between two rows, to the left of the dots; a straight line if they are neighbours. */
function curve(from: number, to: number): Element[] {
  const [y1, y2] = [from * rowHeight + rowHeight / 2 + 6, to * rowHeight + rowHeight / 2 - 8];
  const bend = to - from === 1 ? 0 : Math.min(dotX + 8, 14 + 12 * (to - from));
  const line = `M${dotX} ${y1}C${dotX - bend} ${y1} ${dotX - bend} ${y2} ${dotX} ${y2}`;
  const arrow = `M${dotX - 4} ${y2}L${dotX + 4} ${y2}L${dotX} ${y2 + 6}Z`;
  return [el('path', { d: line }), el('path', { d: arrow, class: 'arrow' })];
}

/**
 * Draws a dependency graph: one row per node, each below its prerequisites, with the edges beside the rows. It is as
 * narrow as a list, so it needs no other layout on a phone. label: the graph in words.
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
