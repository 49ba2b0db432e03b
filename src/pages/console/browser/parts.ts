import { type Child, el } from './dom.ts';
import { count, duration, momentText, plural, shortId } from './format.ts';
import { type KindName, kindOf } from './kinds.ts';
import { address, type PageRef, type Query } from './place.ts';
import type { Destination, Mailbox } from './records.ts';
import { serverClock } from './server-clock.ts';
import type { SpaceState } from './space-state.ts';
import { isDeserted, workersAt } from './staff.ts';

export interface Row {
  readonly key: string;
  readonly cells: readonly Child[];
}

/** A link to an object's page: its name or else its id, and both for a run, as names of runs need not be unique. */
export function objectLink(kind: KindName, id: string, world: SpaceState): Element {
  const href = address(world.spaceId, `${kind}/${id}`);
  const name = kindOf(kind).nameField === undefined ? null : world.nameOf(id, kind);
  if (name === null) return el('a', { class: 'id', href }, shortId(id));
  const shownId = kind === 'run' ? [' ', el('span', { class: 'id note' }, shortId(id))] : [];
  return el('a', { class: 'named', href }, name, ...shownId);
}

/** The kinds of things that a message may be after, or suspended for. */
export type AwaitedKind = 'MESSAGE' | 'GROUP' | 'SCOPE' | 'NOTE';

/** A link to one of them; of a note, to its run. */
export function awaitedLink(id: string, kind: AwaitedKind, world: SpaceState): Element {
  if (kind === 'GROUP') return el('span', {}, 'group ', objectLink('group', id, world));
  if (kind === 'SCOPE') return el('span', {}, 'run ', objectLink('run', id, world));
  if (kind === 'NOTE') return el('span', {}, 'a note of run ', objectLink('run', id, world));
  return messageLink(id, world);
}

/** The kind and the id of an entry of `after`. */
export function awaitedOf({
  messageId,
  groupId,
  scopeId,
}: {
  readonly messageId: string | null;
  readonly groupId: string | null;
  readonly scopeId: string | null;
}): readonly [id: string, kind: AwaitedKind] {
  if (messageId !== null) return [messageId, 'MESSAGE'];
  return groupId !== null ? [groupId, 'GROUP'] : [scopeId ?? '', 'SCOPE'];
}

/** A link to one blocker: a pool or an allowance, or what it is after or suspended for. */
function whatBlocks(kind: string, id: string, world: SpaceState): Element {
  if (kind === 'POOL') return el('span', {}, 'units of pool ', objectLink('pool', id, world));
  if (kind === 'ALLOWANCE') return el('span', {}, 'units of allowance ', objectLink('allowance', id, world));
  return awaitedLink(id, kind === 'KEY' ? 'MESSAGE' : (kind as AwaitedKind), world);
}

/** Links to everything that a BLOCKED message waits for. */
export function blockersOf(
  blockedBy: readonly { readonly kind: string; readonly id: string | null }[],
  world: SpaceState,
): (Element | string)[] {
  return blockedBy.flatMap(({ kind, id }, index) => [
    index === 0 ? '' : ', ',
    ...(kind === 'KEY' ? [id === null ? 'other messages of its key' : 'its key, which has '] : []),
    ...(kind === 'TIME' ? ['the end of its sleep'] : []),
    ...(kind === 'QUESTION' ? ['an answer'] : id === null ? [] : [whatBlocks(kind, id, world)]),
  ]);
}

/** A name chosen by a caller: of any length, possibly without a place to break the line. */
export function named(text: string): Element {
  return el('span', { class: 'named' }, text);
}

/** Rows beyond this number are folded away. */
const maxRows = 15;

/** How many rows of a list the overview shows. On a phone, the whole overview should fit on three screens. */
export function shownOf(wide: number, narrow: number): number {
  return matchMedia('(max-width: 48rem)').matches ? narrow : wide;
}

export interface TableText {
  readonly caption: string;
  readonly heads: readonly string[];
  /** Shown when there are no rows. */
  readonly empty: string;
  /** Headings that are links to the same list in another order, by their texts. */
  readonly orders?: Readonly<Record<string, { readonly href: string; readonly isCurrent: boolean }>>;
  /** Shown if several tables are below one heading; otherwise captions are for screen readers only. */
  readonly isCaptionVisible?: true;
}

/** Shown below the waits if there are more. */
export const onlySome = 'Only 200 of each kind are shown; there are more.';

/** A table. On narrow screens each row becomes a card, so every cell has its role and column heading. */
export function table(text: TableText, rows: readonly Row[], shownRows = maxRows): Element {
  if (rows.length === 0) return el('p', { class: 'empty' }, text.empty);
  const first = plainTable(text, rows.slice(0, shownRows));
  const rest = rows.slice(shownRows);
  if (rest.length === 0) return first;
  const caption = `${text.caption}: the rest`;
  const folded = el(
    'details',
    {},
    el('summary', {}, `${count(rest.length)} more`),
    plainTable({ ...text, caption }, rest),
  );
  return el('div', {}, first, folded);
}

/** Adds a last column for buttons if the key may act. */
export const acting = (text: TableText, canAct: boolean): TableText =>
  canAct ? { ...text, heads: [...text.heads, 'Do'] } : text;

function plainTable({ caption, heads, orders, isCaptionVisible }: TableText, all: readonly Row[]): Element {
  const head = heads.map((text) => {
    const { href, isCurrent } = orders?.[text] ?? {};
    const cell = { scope: 'col', role: 'columnheader', ...(isCurrent && { 'aria-sort': 'descending' }) };
    return el('th', cell, href === undefined ? text : el('a', { href }, text));
  });
  const body = all.map(({ key, cells }) => {
    // With the focus on a link or button, the tip has all times of its row.
    const isReached = cells.some((cell) => cell instanceof Element && cell.matches(':is(a, button, :has(a, button))'));
    if (isReached) for (const cell of cells) withoutStops(cell);
    const parts = cells.map((cell, index) => {
      const label = { 'data-label': heads[index] ?? '' };
      return index === 0
        ? el('th', { scope: 'row', role: 'rowheader', ...label }, cell)
        : el('td', { role: 'cell', ...label, ...(isNothing(cell) && { class: 'nil' }) }, cell);
    });
    return el('tr', { role: 'row', 'data-key': key }, ...parts);
  });
  const rows = el(
    'table',
    { role: 'table' },
    el('caption', { class: isCaptionVisible ? '' : 'unseen' }, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...head)),
    el('tbody', { role: 'rowgroup' }, ...body),
  );
  return el('div', { class: 'rows' }, rows);
}

function withoutStops(cell: Child): void {
  if (!(cell instanceof Element)) return;
  for (const time of [cell, ...cell.querySelectorAll('time')])
    if (time.matches('time')) time.removeAttribute('tabindex');
}

/** Whether a cell is hidden on a phone, because it is empty or zero. */
const isNothing = (cell: Child): boolean => cell === '0' || cell === 0 || cell === '–';

/** A bar of parts in percent, by CSS class; the label says the same in words. */
export function bar(label: string, parts: Readonly<Record<string, number>>): Element {
  let x = 0;
  const rects = Object.entries(parts).map(([name, width]) => {
    const rect = el('rect', { class: name, x: String(x), y: '0', width: String(width), height: '10' });
    x += width;
    return rect;
  });
  const box = { viewBox: '0 0 100 10', preserveAspectRatio: 'none' };
  return el('svg', { class: 'bar', role: 'img', 'aria-label': label, ...box }, ...rects);
}

export function badge(state: string): Element {
  return el('span', { class: `badge ${state.toLowerCase()}` }, state);
}

export const scopeLink = (scopeId: string, world: SpaceState): Element => objectLink('run', scopeId, world);

export const messageLink = (messageId: string, world: SpaceState): Element => objectLink('message', messageId, world);

const ofReserve = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/\d+\/(\d+)$/;
const ofModelCall = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d{4}-[\d-]+T[\d:.]+Z)\/(\d+)$/;

/** A workKey: if a worker made it, a link to the message with the attempt; otherwise the key itself. */
export function workLink(workKey: string | null, world: SpaceState): Element {
  const [, messageId = '', attempt] = ofReserve.exec(workKey ?? '') ?? [];
  if (attempt !== undefined) return el('span', {}, messageLink(messageId, world), ` attempt ${attempt}`);
  const [, calling = '', claimedAt, number] = ofModelCall.exec(workKey ?? '') ?? [];
  if (claimedAt === undefined) return named(workKey ?? '–');
  return el('span', {}, messageLink(calling, world), ` call ${number} of the attempt of `, clock(claimedAt));
}

/** A link to a mailbox, by its name if known. query: filters for its messages. */
export function mailboxLink(
  mailboxId: string,
  world: SpaceState,
  text = world.named(mailboxId, 'mailbox').name,
  query: Query = {},
) {
  return el('a', { class: 'named', href: address(world.spaceId, `mailbox/${mailboxId}`, query) }, text);
}

/** How many workers a mailbox has, or that nobody works on it. */
export function receiversOf(mailbox: Mailbox, world: SpaceState): Element | string {
  if (mailbox.paused) return 'paused';
  if (isDeserted(mailbox, world)) return el('span', { class: 'problem' }, 'nobody');
  return count(workersAt(mailbox, world));
}

type Data = Readonly<Record<string, string>>;

/** A button that asks before it acts (actions.ts). data: the object it acts on; its `label` is the object's name. */
export const button = (action: string, text: string, data: Data): Element => buttonOf('act', action, text, data);

/** A button that acts at once (answering.ts). */
export const instantButton = (action: string, text: string, data: Data): Element => buttonOf('do', action, text, data);

function buttonOf(how: 'act' | 'do', action: string, text: string, data: Data): Element {
  const given = Object.entries(data).map(([name, value]) => [`data-${name}`, value]);
  // Several buttons on a page may have the same text: the label tells them apart.
  const { label } = data;
  const named: Record<string, string> = label === undefined ? {} : { 'aria-label': `${text} ${label}` };
  return el('button', { type: 'button', [`data-${how}`]: action, ...Object.fromEntries(given), ...named }, text);
}

/** A button that pauses or resumes a mailbox or a run. */
export function pauseButton(
  kind: 'Mailbox' | 'Run',
  { paused }: { readonly paused: boolean },
  data: Readonly<Record<string, string>>,
): Element {
  return paused ? button(`resume${kind}`, 'Resume…', data) : button(`pause${kind}`, 'Pause…', data);
}

export function buttons(...all: readonly (Element | false | null)[]): Element | null {
  const shown = all.filter((one): one is Element => Boolean(one));
  return shown.length === 0 ? null : el('p', { class: 'buttons' }, ...shown);
}

export function pairs(facts: readonly (readonly [string, Child] | null | false)[]): Element {
  const shown = facts.filter((fact): fact is readonly [string, Child] => Boolean(fact));
  return el(
    'dl',
    { class: 'pairs' },
    ...shown.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
  );
}

/** A heading with content below it. id: of the element that a panel fills. */
export function section(title: string, id: string, ...before: readonly Node[]): Element {
  const heading = el('h2', { id: `${id}-title`, tabindex: '-1' }, title);
  return el(
    'section',
    { class: 'wide', 'aria-labelledby': `${id}-title` },
    heading,
    ...before,
    el('div', { id }, reading()),
  );
}

export function reading(): Element {
  return el('p', { class: 'empty' }, 'Reading…');
}

/** Links to the first and the next page of a list. list: its name, if a page has several. */
export function pager({ spaceId = '', page, id, query }: PageRef, nextCursor: string | null, list = 'cursor'): Node[] {
  const at = (cursor: string | undefined): string =>
    address(spaceId, id === undefined ? page : `${page}/${id}`, { ...Object.fromEntries(query), [list]: cursor });
  const first = query.has(list) ? el('a', { href: at(undefined), 'data-key': 'first' }, 'First page') : null;
  const next = nextCursor === null ? null : el('a', { href: at(nextCursor), 'data-key': 'next' }, 'Next page');
  const label = list === 'cursor' ? 'Pages' : `Pages of ${list}`;
  return first || next ? [el('nav', { 'aria-label': label, class: 'pages' }, first, next)] : [];
}

/** The time since or until a moment, kept up to date. The moment itself is in a tip (tip.ts). */
export function age(moment: string): Element {
  return el('time', { datetime: moment, 'data-ticks': '', tabindex: '0' }, ageText(moment));
}

export function ageText(moment: string): string {
  const seconds = (serverClock.now() - Date.parse(moment)) / 1000;
  return seconds < 0 ? `in ${duration(-seconds)}` : duration(seconds);
}

/** How a webhook destination fails: how often in a row, and since when. */
export function failureOf({ consecutiveFailures, failingSince }: Destination): Element {
  const since = failingSince === null ? [] : [', since ', age(failingSince)];
  return el('span', { class: 'problem' }, `${plural(consecutiveFailures, 'failure')} in a row`, ...since);
}

/** When something happened: `5 m ago`, with the moment itself in a tip. */
export function clock(moment: string): Element {
  return el('time', { datetime: moment, 'data-ticks': 'ago', tabindex: '0' }, agoText(moment));
}

export const agoText = (moment: string): string => {
  const text = ageText(moment);
  return text.startsWith('in ') ? text : `${text} ago`;
};

/** A moment with date and zone, for lists that are read as a log. */
export function exactly(moment: string): Element {
  return el('time', { datetime: moment }, momentText(moment));
}
