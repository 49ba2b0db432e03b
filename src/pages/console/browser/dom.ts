import { visible } from '../../text/visible.ts';

export type Child = Node | string | number | null;

const svgTags = new Set(['svg', 'rect', 'path', 'line', 'text', 'g', 'circle']);

/** Attributes that people read or hear. */
const saidAttributes = new Set(['aria-label', 'title']);

/**
 * Creates an element. Strings become text nodes, so names chosen by callers are never markup. Hidden characters in them
 * are shown.
 */
export function el(tag: string, attributes: Readonly<Record<string, string>>, ...children: readonly Child[]): Element {
  const node = svgTags.has(tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, saidAttributes.has(name) ? visible(value) : value);
  }
  for (const child of children) if (child !== null) node.append(child instanceof Node ? child : visible(String(child)));
  return node;
}

/** Like `el`, but typed as an HTML element, for access to its properties. */
export function html<T extends HTMLElement>(
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): T {
  return el(tag, attributes, ...children) as T;
}

/**
 * Sets the whole text of an element, with hidden characters shown. An equal text is not set again, because screen
 * readers announce each change.
 */
export function setText(node: Element, text: string): void {
  const shown = visible(text);
  if (node.textContent !== shown) node.textContent = shown;
}

export function setTitle(text: string): void {
  document.title = `${visible(text)} – Muster console`;
}

/** Sets the heading of the page. Called again once the name of the object shown is known. */
export function setHeading(text: string, id?: string): void {
  const parts = id === undefined ? [] : [' ', el('span', { class: 'id' }, id)];
  byId('page-title').replaceChildren(visible(text), ...parts);
}

/** The element with this id, which the page must have. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/**
 * Makes the children of `parent` equal to `wanted` with minimal changes, so that nodes that are focused, selected or
 * being read out stay the same. Children with a data-key are matched by it.
 */
export function patch(parent: Node, wanted: readonly Node[]): void {
  const keyed = new Map<string, Node>();
  for (const child of parent.childNodes) {
    const key = keyOf(child);
    if (key !== undefined) keyed.set(key, child);
  }
  const keys = new Set(wanted.map(keyOf));
  const isGone = (node: Node): boolean => keyOf(node) !== undefined && !keys.has(keyOf(node));
  let at = parent.firstChild;
  for (const node of wanted) {
    while (at && isGone(at)) at = removed(at);
    const key = keyOf(node);
    const same = key === undefined ? at : (keyed.get(key) ?? null);
    if (same && same.nodeName === node.nodeName && keyOf(same) === key) {
      if (same === at) at = at.nextSibling;
      else parent.insertBefore(same, at);
      update(same, node);
    } else parent.insertBefore(node, at);
  }
  while (at) at = removed(at);
}

function keyOf(node: Node): string | undefined {
  return node instanceof HTMLElement ? node.dataset['key'] : undefined;
}

function removed(node: ChildNode): ChildNode | null {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function update(old: Node, wanted: Node): void {
  if (!(old instanceof Element) || !(wanted instanceof Element)) {
    if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
    return;
  }
  for (const name of old.getAttributeNames()) {
    // Keep a <details> open if the user has opened it.
    if (name !== 'open' && !wanted.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const name of wanted.getAttributeNames()) {
    const value = wanted.getAttribute(name) ?? '';
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  patch(old, [...wanted.childNodes]);
}
