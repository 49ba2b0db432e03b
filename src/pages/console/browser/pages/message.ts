import { el } from '../dom.ts';
import { words } from '../format.ts';
import { members, parse, pretty, textOf } from '../json-text.ts';
import { attemptsPanel } from '../panels/attempts.ts';
import { type Panel, panel } from '../panels/panel.ts';
import { prerequisitesPanel } from '../panels/prerequisites.ts';
import {
  age,
  awaitedLink,
  awaitedOf,
  badge,
  blockersOf,
  button,
  buttons,
  clock,
  mailboxLink,
  named,
  objectLink,
  pairs,
  scopeLink,
  section,
} from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { EventsPage, Happening, Message } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { requeueable } from './errors.ts';
import { eventList } from './events.ts';
import type { Page } from './page.ts';

/** A message, and its opaque values as their original text. */
interface Shown {
  readonly message: Message;
  readonly texts: ReadonlyMap<string, string>;
}

/** What a message may wait for beside those it is after. */
const waitsApart: readonly string[] = ['KEY', 'QUESTION', 'NOTE', 'TIME'];
const live: readonly string[] = ['READY', 'DELAYED', 'BLOCKED', 'CLAIMED'];

/** The message's prerequisites, each with its state, and what happens if one fails. */
function afterOf({ after, onFailure, blockedBy }: Message, world: SpaceState): Element {
  const isOpen = (id: string): boolean => blockedBy.some((one) => one.id === id);
  const links = after.flatMap((one, index) => {
    const [id, kind] = awaitedOf(one);
    const { state } = one;
    const link = awaitedLink(id, kind, world);
    return [index === 0 ? '' : ', ', link, ' ', badge(state ?? 'GONE'), isOpen(id) ? ' (waits for it)' : ''];
  });
  return el('span', {}, ...links, `; if one fails: ${words(onFailure ?? '')}`);
}

/** The last suspension: since when, for what, until when, and what has ended it. */
function suspensionOf(suspension: NonNullable<Message['suspension']>, world: SpaceState): Element {
  const { since, after, note, until, timeoutAt, any, wokenBy } = suspension;
  const things = [
    ...after.map((one) => el('span', {}, awaitedLink(...awaitedOf(one), world), ' ', badge(one.state ?? 'GONE'))),
    ...(note === null ? [] : [el('span', {}, 'note ', named(note.key), ` after version ${note.sinceVersion}`)]),
    ...(until === null ? [] : [el('span', {}, 'sleep until ', age(until))]),
  ];
  const list = things.flatMap((one, index) => [index === 0 ? '' : any ? ' or ' : ', ', one]);
  const end = wokenBy === null ? ['; at most until ', age(timeoutAt)] : [`; woken by ${words(wokenBy)}`];
  return el('span', {}, 'since ', age(since), ' for ', ...list, ...end);
}

/** The last question asked about the message, with its answer. */
function questionOf({ question, state, answer, answeredBy }: NonNullable<Message['question']>): Element {
  const answered = state === 'ANSWERED' ? [' ', named(textOf(answer)), ' by ', named(answeredBy ?? '')] : [];
  return el('span', {}, named(textOf(question)), ' ', badge(state), ...answered);
}

/** The id of the message's trace; a link if the server knows where traces can be viewed (TRACE_URL). */
function traceLink(traceparent: string): Element {
  const traceId = traceparent.slice(3, 35);
  const template = document.querySelector<HTMLMetaElement>('meta[name=trace-url]')?.content ?? '';
  const href = template.replace('{traceId}', traceId);
  return template === ''
    ? el('span', { class: 'id' }, traceId)
    : el('a', { href, rel: 'noreferrer', class: 'id' }, traceId);
}

function facts(message: Message, world: SpaceState): Node[] {
  const { id, state, reason, holder, claimedAt, leaseExpiresAt, readyAt, deadline, finishedAt } = message;
  const claim =
    holder !== null && leaseExpiresAt !== null && claimedAt !== null
      ? el('span', {}, named(holder), ' since ', age(claimedAt), ', lease ends ', age(leaseExpiresAt))
      : null;
  return [
    pairs([
      ['State', el('span', {}, badge(state), reason === null ? '' : ` ${words(reason)}`)],
      ['Mailbox', mailboxLink(message.mailboxId, world)],
      ['Run', scopeLink(message.scopeId, world)],
      ['Created', clock(message.createdAt)],
      readyAt !== null && ['Ready', age(readyAt)],
      message.blockedBy.some(({ kind }) => waitsApart.includes(kind)) && [
        'Waits for',
        el('span', {}, ...blockersOf(message.blockedBy, world)),
      ],
      message.after.length > 0 && ['After', afterOf(message, world)],
      deadline !== null && ['Deadline', age(deadline)],
      ['Attempts', `${message.attempts} of ${message.maxAttempts}`],
      claim && ['Claim', claim],
      finishedAt !== null && ['Finished', clock(finishedAt)],
      message.priority > 0 && ['Priority', String(message.priority)],
      message.key !== null && ['Key', named(message.key)],
      message.workKey !== null && ['Work key', named(message.workKey)],
      message.taskKey !== null && ['Task key', named(message.taskKey)],
      message.groupId !== null && ['Group', objectLink('group', message.groupId, world)],
      message.question !== null && ['Question', questionOf(message.question)],
      message.suspension !== null && ['Suspended', suspensionOf(message.suspension, world)],
      message.traceparent !== null && ['Trace', traceLink(message.traceparent)],
      message.lastError !== null && ['Last error', named(message.lastError)],
    ]),
    ...[
      buttons(
        world.can.write && live.includes(state) && button('cancel', 'Cancel…', { id }),
        world.can.config && state === 'CLAIMED' && button('release', 'Take the claim away…', { id }),
        world.can.write && requeueable.includes(state) && button('requeue', 'Requeue…', { id }),
      ),
    ].filter((one) => one !== null),
  ];
}

function value(name: string, text: string | undefined): Node[] {
  if (text === undefined || text === 'null') return [];
  // Focusable, since it scrolls.
  const label = { tabindex: '0', role: 'group', 'aria-label': name };
  return [el('h2', { 'data-key': name }, name), el('pre', { ...label, 'data-key': `${name} text` }, pretty(text))];
}

/** State that the panels of a message share. */
interface MessageEnd {
  finishedAt: string | null;
  latest?: Promise<Message>;
}

function messagePanel(id: string, known: MessageEnd): Panel {
  return panel<Shown>({
    id: 'message',
    path: `/messages/${id}`,
    hears: ['message'],
    everySeconds: 2.5,
    idleSeconds: 20,
    read: async (api, signal) => {
      const reading = api.text(`/messages/${id}`, signal);
      known.latest = reading.then((text) => parse(text) as Message);
      const [text, message] = await Promise.all([reading, known.latest]);
      known.finishedAt = message.finishedAt;
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

/** Each read scans some 5,000 events. */
const maxReads = 20;

interface MessageEvents {
  readonly events: readonly Happening[];
  readonly isAll: boolean;
}

/** Whether all events were read: nothing happens to a finished message, so the rest of the journal is not needed. */
function hasEnded(events: readonly Happening[], { finishedAt }: MessageEnd): boolean {
  return finishedAt !== null && (events.at(-1)?.occurredAt ?? '') >= finishedAt;
}

/** The time when a message was sent, which its id, a UUIDv7, contains. */
export function sentAt(messageId: string): number {
  return Number.parseInt(messageId.replaceAll('-', '').slice(0, 12), 16);
}

/** More than the clocks of browser and server may differ. */
const dayMs = 86_400_000;

/** Whether this may be a message's id, a UUIDv7. A message that retention has removed still has its events. */
function isOfMessage(id: string, now: number): boolean {
  const at = sentAt(id);
  return id[14] === '7' && at > 0 && at < now + dayMs;
}

function eventsPanel(id: string, known: MessageEnd, view: SpaceState): Panel {
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
export function messagePage({ id = '' }: PageRef, world: SpaceState): Page {
  const known: MessageEnd = { finishedAt: null };
  const [attempts, graph] = [attemptsPanel(id), prerequisitesPanel(() => known.latest)];
  return {
    title: 'Message',
    id,
    content: [
      el('section', { class: 'wide', 'aria-label': 'Message' }, el('div', { id: 'message' })),
      section('Its attempts', attempts.id),
      section('What it waits for, and what waits for it', graph.id),
      section('Its events', 'message-events'),
    ],
    panels: [messagePanel(id, known), attempts, graph, eventsPanel(id, known, world)],
  };
}
