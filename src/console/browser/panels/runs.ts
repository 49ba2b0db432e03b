import { el } from '../dom.ts';
import { count } from '../format.ts';
import { scopeLink } from '../parts.ts';
import type { Waits } from '../records.ts';
import type { ScopeNode } from '../scopes.ts';
import type { World } from '../world.ts';

const maxRoots = 50;

/** What is going on in each scope, as far as the waits show it. */
function work(waits: Waits | undefined): Map<string, string> {
  const tasks = waits?.waitingTasks ?? [];
  const kinds: [string, readonly { scopeId: string }[]][] = [
    ['claimed', waits?.heldClaims ?? []],
    ['ready', tasks.filter(({ readyAt }) => readyAt === null)],
    ['delayed', tasks.filter(({ readyAt }) => readyAt !== null)],
    ['waiting', waits?.waiters ?? []],
  ];
  const found = new Map<string, string>();
  for (const [name, rows] of kinds) {
    const counts = new Map<string, number>();
    for (const { scopeId } of rows) counts.set(scopeId, (counts.get(scopeId) ?? 0) + 1);
    for (const [scopeId, value] of counts) {
      const before = found.get(scopeId);
      found.set(scopeId, `${before === undefined ? '' : `${before}, `}${count(value)} ${name}`);
    }
  }
  return found;
}

/** Scopes as nested lists, each with a note. */
export function scopeTree(nodes: readonly ScopeNode[], note: (id: string) => string, world: World): Element {
  const items = nodes.map(({ id, below }) => {
    const children = below.length === 0 ? null : scopeTree(below, note, world);
    return el('li', { 'data-key': id }, scopeLink(id, world), el('span', { class: 'note' }, ` ${note(id)}`), children);
  });
  return el('ul', { class: 'tree' }, ...items);
}

/** The known runs, from other panels' responses and the journal, so without requests of its own. */
export function renderRuns(world: World): Node[] {
  const trees = world.scopes.trees();
  if (trees.length === 0) return [el('p', { class: 'empty' }, 'No run has been heard of yet.')];
  const works = work(world.waits);
  const tree = scopeTree(trees.slice(0, maxRoots), (id) => works.get(id) ?? '', world);
  const hidden = trees.length - maxRoots;
  const note = hidden > 0 ? [el('p', { class: 'note' }, `${count(hidden)} more are known.`)] : [];
  return [tree, ...note];
}
