import { el } from '../dom.ts';
import { alike, count, plural, words } from '../format.ts';
import { age, button, buttons, messageLink, named } from '../parts.ts';
import type { Message } from '../records.ts';
import type { SpaceState } from '../space-state.ts';

/** The final states from which a message can be requeued. */
export const requeueable: readonly string[] = ['FAILED', 'REJECTED', 'EXPIRED', 'CANCELLED'];

/** How many groups are shown. */
const maxGroups = 8;
/** How many messages of a group are shown one by one. */
const maxMessages = 20;
const shortError = 120;

interface ErrorGroup {
  /** The text that their errors have in common. */
  readonly text: string;
  /** The most recently ended first. */
  readonly messages: readonly Message[];
}

const endOf = ({ finishedAt, createdAt }: Message): string => finishedAt ?? createdAt;

/** Groups messages by error, the most frequent error first. */
function groupsOf(messages: readonly Message[]): ErrorGroup[] {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const { lastError, reason } = message;
    const text =
      lastError === null ? `no error was given${reason === null ? '' : `: ${words(reason)}`}` : alike(lastError);
    groups.set(text, [...(groups.get(text) ?? []), message]);
  }
  return [...groups]
    .map(([text, all]) => ({ text, messages: all.sort((one, other) => (endOf(one) < endOf(other) ? 1 : -1)) }))
    .sort((one, other) => other.messages.length - one.messages.length);
}

const cut = (text: string): string => (text.length > shortError ? `${text.slice(0, shortError)}…` : text);

function messageItem(message: Message, canAct: boolean, world: SpaceState): Element {
  const { id, lastError } = message;
  return el(
    'li',
    { 'data-key': id },
    messageLink(id, world),
    ' ',
    named(cut(lastError ?? message.workKey ?? '')),
    ', ',
    age(endOf(message)),
    ' ago',
    ' ',
    canAct ? button('requeue', 'Requeue…', { id, label: id }) : null,
  );
}

function groupItem({ text, messages }: ErrorGroup, canAct: boolean, world: SpaceState): Element {
  const [newest] = messages as readonly [Message, ...Message[]];
  const short = cut(text);
  const ids = messages.map(({ id }) => id).join(' ');
  const act =
    canAct && button('requeueThese', `Requeue ${count(messages.length)}…`, { ids, error: short, label: short });
  const rest = messages.length - maxMessages;
  return el(
    'li',
    { 'data-key': text },
    el('b', {}, count(messages.length)),
    ' × ',
    named(short),
    ', newest ',
    age(endOf(newest)),
    ' ago',
    buttons(act),
    el(
      'details',
      {},
      el('summary', {}, messages.length === 1 ? 'The message' : 'One by one, the newest first'),
      el('ul', { class: 'plain' }, ...messages.slice(0, maxMessages).map((one) => messageItem(one, canAct, world))),
      rest > 0 ? el('p', { class: 'note' }, `${count(rest)} older ones.`) : null,
    ),
  );
}

/** The errors of messages in one state. Messages with the same error can be requeued together, without the others. */
export function errorList(state: string, messages: readonly Message[], world: SpaceState): Element {
  const groups = groupsOf(messages);
  const canAct = world.can.write && requeueable.includes(state);
  const rest = groups.length - maxGroups;
  return el(
    'div',
    {},
    el('ul', { class: 'plain errors' }, ...groups.slice(0, maxGroups).map((one) => groupItem(one, canAct, world))),
    rest > 0 ? el('p', { class: 'note' }, `${plural(rest, 'other error')} among these.`) : null,
  );
}

/** The same, to be shown above the list of these messages; null if it would add nothing to the list. */
export function errorsOf(state: string, messages: readonly Message[], world: SpaceState): Element | null {
  if (!requeueable.includes(state) || groupsOf(messages).length < 2) return null;
  const title = 'Last errors on this page';
  return el('div', { role: 'group', 'aria-label': title }, el('h3', {}, title), errorList(state, messages, world));
}
