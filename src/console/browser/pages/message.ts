import { el } from '../dom.ts';
import { words } from '../format.ts';
import { members, pretty } from '../json-text.ts';
import { type Panel, panel } from '../panels/panel.ts';
import {
  age,
  badge,
  blockersOf,
  button,
  buttons,
  clock,
  mailboxLink,
  messageOrGroup,
  named,
  pairs,
  scopeLink,
  section,
} from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { EventsPage, Happening, Message, Waits } from '../records.ts';
import type { World } from '../world.ts';
import { requeueable } from './errors.ts';
import { eventList } from './events.ts';
import type { Page } from './page.ts';

/** A message, and its opaque values as they are written. */
interface Shown {
  readonly message: Message;
  readonly texts: ReadonlyMap<string, string>;
}

type Dependents = Waits['waitingTasks'];

const live: readonly string[] = ['READY', 'DELAYED', 'BLOCKED', 'CLAIMED'];

/** Its prerequisites, each with how it came out or stands; and what is to happen if one comes out otherwise. */
function afterOf({ after, onFailure, blockedBy }: Message, world: World): Element {
  const isOpen = (id: string): boolean => blockedBy.some((one) => one.id === id);
  const links = after.flatMap(({ messageId, groupId, state }, index) => {
    const id = messageId ?? groupId ?? '';
    const link = messageOrGroup(id, messageId === null, world);
    return [index === 0 ? '' : ', ', link, ' ', badge(state ?? 'GONE'), isOpen(id) ? ' (waits for it)' : ''];
  });
  return el('span', {}, ...links, `; if one fails: ${words(onFailure ?? '')}`);
}

/** The last question that it has asked, with its answer. */
function questionOf({ question, state, answer, answeredBy }: NonNullable<Message['question']>): Element {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const answered = state === 'ANSWERED' ? [' ', named(text(answer)), ' by ', named(answeredBy ?? '')] : [];
  return el('span', {}, named(text(question)), ' ', badge(state), ...answered);
}

/** The id of its trace, as a link where the server says in the page what shows traces (TRACE_URL). */
function traceLink(traceparent: string): Element {
  const traceId = traceparent.slice(3, 35);
  const template = document.querySelector<HTMLMetaElement>('meta[name=trace-url]')?.content ?? '';
  const href = template.replace('{traceId}', traceId);
  return template === ''
    ? el('span', { class: 'id' }, traceId)
    : el('a', { href, rel: 'noreferrer', class: 'id' }, traceId);
}

function facts(message: Message, world: World): Node[] {
  const { id, state, reason, holder, claimedAt, leaseExpiresAt, readyAt, deadline, finishedAt } = message;
  const claim =
    holder !== null && leaseExpiresAt !== null && claimedAt !== null
      ? el('span', {}, named(holder), ' since ', age(claimedAt, world), ', lease ends ', age(leaseExpiresAt, world))
      : null;
  return [
    pairs([
      ['State', el('span', {}, badge(state), reason === null ? '' : ` ${words(reason)}`)],
      ['Mailbox', mailboxLink(message.mailboxId, world)],
      ['Run', scopeLink(message.scopeId, world)],
      ['Created', clock(message.createdAt)],
      readyAt !== null && ['Ready', age(readyAt, world)],
      message.blockedBy.some(({ kind }) => kind === 'KEY' || kind === 'QUESTION') && [
        'Waits for',
        el('span', {}, ...blockersOf(message.blockedBy, world)),
      ],
      message.after.length > 0 && ['After', afterOf(message, world)],
      deadline !== null && ['Deadline', age(deadline, world)],
      ['Attempts', `${message.attempts} of ${message.maxAttempts}`],
      claim && ['Claim', claim],
      finishedAt !== null && ['Finished', clock(finishedAt)],
      message.priority > 0 && ['Priority', String(message.priority)],
      message.key !== null && ['Key', named(message.key)],
      message.workKey !== null && ['Work key', named(message.workKey)],
      message.taskKey !== null && ['Task key', named(message.taskKey)],
      message.groupId !== null && ['Group', el('span', { class: 'id' }, message.groupId)],
      message.question !== null && ['Question', questionOf(message.question)],
      message.traceparent !== null && ['Trace', traceLink(message.traceparent)],
      message.lastError !== null && ['Last error', named(message.lastError)],
    ]),
    ...[
      buttons(
        world.can.write && live.includes(state) && button('cancel', 'Cancel…', { id }),
        world.can.write && requeueable.includes(state) && button('requeue', 'Requeue…', { id }),
      ),
    ].filter((one) => one !== null),
  ];
}

/** The first of those that wait for it. */
const maxDependents = 20;

/** The waits name a member by its task, not by its message: its run has a link to that. */
function dependentsOf(dependents: Dependents, world: World): Node[] {
  if (dependents.length === 0) return [];
  const links = dependents
    .slice(0, maxDependents)
    .flatMap(({ taskId, groupId, scopeId }, index) => [
      index === 0 ? '' : ', ',
      messageOrGroup(groupId ?? taskId, groupId !== null, world),
      ...(groupId === null ? [] : [' in run ', scopeLink(scopeId, world)]),
    ]);
  const more = dependents.length > maxDependents ? ' and more' : '';
  return [el('p', {}, 'Waiting for it: ', ...links, more)];
}

function value(name: string, text: string | undefined): Node[] {
  if (text === undefined || text === 'null') return [];
  // Focusable, since it scrolls.
  const label = { tabindex: '0', role: 'group', 'aria-label': name };
  return [el('h2', { 'data-key': name }, name), el('pre', { ...label, 'data-key': `${name} text` }, pretty(text))];
}

/** What the panels of a message know of each other. */
interface MessageEnd {
  finishedAt: string | null;
  isAcked: boolean;
}

function messagePanel(id: string, known: MessageEnd): Panel {
  return panel<Shown>({
    id: 'message',
    path: `/messages/${id}`,
    hears: ['message'],
    everySeconds: 2.5,
    idleSeconds: 20,
    read: async (api, signal) => {
      const text = await api.text(`/messages/${id}`, signal);
      const message = JSON.parse(text) as Message;
      known.finishedAt = message.finishedAt;
      known.isAcked = message.state === 'ACKED';
      return { message, texts: members(text) };
    },
    render: ({ message, texts }, world) => [
      ...facts(message, world),
      ...(texts.get('payload') === 'null' ? [el('p', { class: 'empty' }, 'The payload is null.')] : []),
      ...value('Payload', texts.get('payload')),
      ...value('Progress', texts.get('progress')),
      ...value('Result', texts.get('result')),
    ],
  });
}

/** Nothing waits for an ACKED message; others may wait for one that has failed, until it is requeued and ACKED. */
function dependentsPanel(id: string, known: MessageEnd): Panel {
  return panel<Dependents>({
    id: 'message-dependents',
    path: '/ops/waits',
    hears: [],
    idleSeconds: 20,
    read: async (api, signal) => {
      if (known.isAcked) return [];
      const { waitingTasks } = await api.get<Waits>('/ops/waits', signal);
      return waitingTasks.filter(({ blockedBy }) => blockedBy.some((one) => one.id === id));
    },
    render: dependentsOf,
  });
}

/** Each read looks at some 5,000 events. */
const maxReads = 20;

interface MessageEvents {
  readonly events: readonly Happening[];
  readonly isAll: boolean;
}

/** Nothing happens to a finished message: the rest of the journal need not be read. */
function hasEnded(events: readonly Happening[], { finishedAt }: MessageEnd): boolean {
  return finishedAt !== null && (events.at(-1)?.occurredAt ?? '') >= finishedAt;
}

/** Ids of messages are UUIDv7: they say when the message was sent. */
function sentAt(messageId: string): number {
  return Number.parseInt(messageId.replaceAll('-', '').slice(0, 12), 16);
}

/** More than the clocks of browser and server differ. */
const dayMs = 86_400_000;

/** Whether a message may have had this id, a UUIDv7: one that retention has removed still has its events. */
function isOfMessage(id: string, now: number): boolean {
  const at = sentAt(id);
  return id[14] === '7' && at > 0 && at < now + dayMs;
}

function eventsPanel(id: string, known: MessageEnd, view: World): Panel {
  let cursor = '';
  let events: readonly Happening[] = [];
  return panel<MessageEvents>({
    id: 'message-events',
    path: '/watch',
    hears: ['message'],
    everySeconds: 2.5,
    idleSeconds: 20,
    read: async (api, signal) => {
      let isAll = !isOfMessage(id, view.now());
      // Nothing happened to it before it was sent.
      for (let reads = 0; reads < maxReads && !isAll; reads++) {
        const from = cursor === '' ? `since=${new Date(sentAt(id)).toISOString()}` : `cursor=${cursor}`;
        const path = `/watch?aggregate=message:${id}&limit=100&${from}`;
        const page = await api.get<EventsPage>(path, signal);
        events = [...events, ...page.events];
        isAll = page.nextCursor === cursor || hasEnded(events, known);
        cursor = page.nextCursor;
      }
      return { events, isAll };
    },
    render: (found, world) => [
      eventList(found.events, world),
      ...(found.isAll ? [] : [el('p', { class: 'note' }, 'Still reading the journal.')]),
    ],
  });
}

/** One message: its state and claim, its payload, progress and result, and its events. */
export function messagePage({ id = '' }: PageRef, world: World): Page {
  const known: MessageEnd = { finishedAt: null, isAcked: false };
  return {
    title: 'Message',
    id,
    content: [
      el(
        'section',
        { class: 'wide', 'aria-label': 'Message' },
        el('div', { id: 'message' }),
        el('div', { id: 'message-dependents' }),
      ),
      section('Its events', 'message-events'),
    ],
    panels: [messagePanel(id, known), dependentsPanel(id, known), eventsPanel(id, known, world)],
  };
}
