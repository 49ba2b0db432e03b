import { type Child, el } from './dom.ts';
import { count, duration, plural, shortId } from './format.ts';
import { address, type PageRef, type Query } from './place.ts';
import type { Destination } from './records.ts';
import type { World } from './world.ts';

export interface Row {
  readonly key: string;
  readonly cells: readonly Child[];
}

/** A message by a link, a group by its id. */
export function messageOrGroup(id: string, isGroup: boolean, world: World): Element {
  return isGroup ? el('span', { class: 'id' }, `group ${shortId(id)}`) : messageLink(id, world);
}

/** Units of a pool or an allowance by its name; else a message or a group. */
function whatBlocks(kind: string, id: string, world: World): Element {
  if (kind !== 'POOL' && kind !== 'ALLOWANCE') return messageOrGroup(id, kind === 'GROUP', world);
  return named(`units of ${kind.toLowerCase()} ${world.named(id).name}`);
}

/** What a BLOCKED message waits for. */
export function blockersOf(
  blockedBy: readonly { readonly kind: string; readonly id: string | null }[],
  world: World,
): (Element | string)[] {
  return blockedBy.flatMap(({ kind, id }, index) => [
    index === 0 ? '' : ', ',
    ...(kind === 'KEY' ? [id === null ? 'other messages of its key' : 'its key, which has '] : []),
    ...(kind === 'QUESTION' ? ['an answer'] : id === null ? [] : [whatBlocks(kind, id, world)]),
  ]);
}

/** A name chosen by a caller: of any length, possibly without a place to break the line. */
export function named(text: string): Element {
  return el('span', { class: 'named' }, text);
}

/** Further rows of a table are folded away. */
const maxRows = 20;

/** How much the front page shows of a list: on a phone all of it is to be seen in three screens. */
export function shownOf(wide: number, narrow: number): number {
  return matchMedia('(max-width: 48rem)').matches ? narrow : wide;
}

export interface TableText {
  readonly caption: string;
  readonly heads: readonly string[];
  /** Shown when there are no rows. */
  readonly empty: string;
  /** Shown if several tables are below one heading; otherwise captions are for screen readers only. */
  readonly isCaptionVisible?: true;
}

/** Below what the waits show, where there are more. */
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

/** With a last column of buttons, where there may be some. */
export const acting = (text: TableText, canAct: boolean): TableText =>
  canAct ? { ...text, heads: [...text.heads, 'Do'] } : text;

function plainTable({ caption, heads, isCaptionVisible }: TableText, rows: readonly Row[]): Element {
  const head = heads.map((text) => el('th', { scope: 'col', role: 'columnheader' }, text));
  const body = rows.map(({ key, cells }) => {
    const parts = cells.map((cell, index) => {
      const label = { 'data-label': heads[index] ?? '' };
      return index === 0
        ? el('th', { scope: 'row', role: 'rowheader', ...label }, cell)
        : el('td', { role: 'cell', ...label, ...(isNothing(cell) && { class: 'nil' }) }, cell);
    });
    return el('tr', { role: 'row', 'data-key': key }, ...parts);
  });
  return el(
    'table',
    { role: 'table' },
    el('caption', { class: isCaptionVisible ? '' : 'unseen' }, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...head)),
    el('tbody', { role: 'rowgroup' }, ...body),
  );
}

/** What a row of a phone does without. */
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

export function scopeLink(scopeId: string, world: World): Element {
  return el('a', { class: 'id', href: address(world.spaceId, `run/${scopeId}`) }, shortId(scopeId));
}

export function messageLink(messageId: string, world: World): Element {
  return el('a', { class: 'id', href: address(world.spaceId, `message/${messageId}`) }, shortId(messageId));
}

/** What a workKey stands for: the message and the attempt where a worker made it, else the key itself. */
export function workLink(workKey: string | null, world: World): Element {
  const [, messageId, attempt] =
    /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/\d+\/(\d+)$/.exec(workKey ?? '') ?? [];
  if (messageId === undefined) return named(workKey ?? '–');
  return el('span', {}, messageLink(messageId, world), ` attempt ${attempt}`);
}

/** The mailbox by its name, as far as it is known; with a state, its messages of that state. */
export function mailboxLink(mailboxId: string, world: World, text = world.named(mailboxId).name, query: Query = {}) {
  return el('a', { class: 'named', href: address(world.spaceId, `mailbox/${mailboxId}`, query) }, text);
}

type Data = Readonly<Record<string, string>>;

/** A button that asks before it acts (actions.ts). data: what it acts on; `label`: its name. */
export const button = (action: string, text: string, data: Data): Element => buttonOf('act', action, text, data);

/** A button that acts at once (answering.ts). */
export const instantButton = (action: string, text: string, data: Data): Element => buttonOf('do', action, text, data);

function buttonOf(how: 'act' | 'do', action: string, text: string, data: Data): Element {
  const given = Object.entries(data).map(([name, value]) => [`data-${name}`, value]);
  // Several buttons of a page have the same text.
  const { label } = data;
  const named: Record<string, string> = label === undefined ? {} : { 'aria-label': `${text} ${label}` };
  return el('button', { type: 'button', [`data-${how}`]: action, ...Object.fromEntries(given), ...named }, text);
}

/** Pauses or resumes a mailbox or a run. */
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

/** A heading with content below it; `id`: of the element that a panel fills. */
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

/** The page's name, once what it shows is read. */
export function retitle(title: string): void {
  const heading = document.getElementById('page-title');
  if (heading) heading.textContent = title;
}

export function reading(): Element {
  return el('p', { class: 'empty' }, 'Reading…');
}

/** Below a page of a list: where it goes on, and its beginning. list: its name, where a page has several. */
export function pager({ spaceId = '', page, id, query }: PageRef, nextCursor: string | null, list = 'cursor'): Node[] {
  const at = (cursor: string | undefined): string =>
    address(spaceId, id === undefined ? page : `${page}/${id}`, { ...Object.fromEntries(query), [list]: cursor });
  const first = query.has(list) ? el('a', { href: at(undefined), 'data-key': 'first' }, 'First page') : null;
  const next = nextCursor === null ? null : el('a', { href: at(nextCursor), 'data-key': 'next' }, 'Next page');
  const label = list === 'cursor' ? 'Pages' : `Pages of ${list}`;
  return first || next ? [el('nav', { 'aria-label': label, class: 'pages' }, first, next)] : [];
}

/** The time since or until a moment, which the page keeps up to date. */
export function age(moment: string, world: World): Element {
  return el('time', { datetime: moment, 'data-ticks': '' }, ageText(moment, world));
}

export function ageText(moment: string, world: World): string {
  const seconds = (world.now() - Date.parse(moment)) / 1000;
  return seconds < 0 ? `in ${duration(-seconds)}` : duration(seconds);
}

/** How a webhook destination fails: how often in a row, and since when. */
export function failureOf({ consecutiveFailures, failingSince }: Destination, world: World): Element {
  const since = failingSince === null ? [] : [', since ', age(failingSince, world)];
  return el('span', { class: 'problem' }, `${plural(consecutiveFailures, 'failure')} in a row`, ...since);
}

/** The time of day, with the date unless it is today. */
export function clock(moment: string): Element {
  const at = new Date(moment);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const isToday = at.toDateString() === new Date().toDateString();
  return el('time', { datetime: moment }, isToday ? time : day + time);
}
