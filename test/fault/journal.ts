import { expect } from 'chai';
import type { World } from '../support/world.ts';
import type { Operation } from './history.ts';

export interface Event {
  readonly eventId: string;
  readonly type: string;
  readonly aggregateId: string;
  readonly occurredAt: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly payload: Readonly<Record<string, string | number>>;
}

/** The whole journal of a space. Fails if it is not in order or an id comes twice. */
export async function journal(world: World): Promise<Event[]> {
  const all: Event[] = [];
  for (let query = ''; ; ) {
    const { body } = await world.get(`/events?limit=500${query}`);
    if (body.events.length === 0) break;
    all.push(...body.events);
    query = `&cursor=${body.nextCursor}`;
  }
  for (let i = 1; i < all.length; i++)
    expect((all[i - 1]?.eventId ?? '') < (all[i]?.eventId ?? ''), 'event ids rise').to.equal(true);
  return all;
}

/** The event that a successful operation of each kind adds to the journal: exactly one. */
const leaves: Readonly<Record<string, RegExp>> = {
  'create mailbox': /^mailbox\.created$/,
  'create budget': /^budget\.created$/,
  'create barrier': /^barrier\.created$/,
  'create pool': /^pool\.created$/,
  'create line': /^pool\.created$/,
  'create gauge': /^allowance\.created$/,
  'create tokens': /^allowance\.created$/,
  'create allowance': /^allowance\.created$/,
  'create group': /^group\.created$/,
  'create scope': /^scope\.created$/,
  'create schedule': /^schedule\.created$/,
  trigger: /^message\.sent$/,
  'send in run': /^message\.sent$/,
  'barrier in run': /^barrier\.created$/,
  'group in run': /^group\.created$/,
  'wait in run': /^waiter\.queued$/,
  'complete in run': /^message\.acked$/,
  stop: /^scope\.cancelled$/,
  send: /^message\.sent$/,
  plant: /^message\.sent$/,
  'cancel planted': /^message\.cancelled$/,
  'requeue planted': /^message\.requeued$/,
  pause: /^scope\.paused$/,
  resume: /^scope\.resumed$/,
  'pause mailbox': /^mailbox\.paused$/,
  'resume mailbox': /^mailbox\.resumed$/,
  claim: /^message\.claimed$/,
  complete: /^message\.acked$/,
  nack: /^message\.(retried|rejected|failed|cancelled)$/,
  post: /^message\.sent$/,
  ask: /^question\.asked$/,
  answer: /^question\.answered$/,
  'withdraw question': /^question\.withdrawn$/,
  reserve: /^budget\.reserved$/,
  settle: /^budget\.settled$/,
  void: /^budget\.voided$/,
  'put note': /^note\.put$/,
  'delete note': /^note\.deleted$/,
  'put memo': /^note\.put$/,
  arrive: /^barrier\.arrived$/,
  nextEpoch: /^barrier\.epoch_advanced$/,
  consume: /^allowance\.consumed$/,
  'settle units': /^allowance\.settled$/,
  take: /^allowance\.consumed$/,
  correct: /^allowance\.settled$/,
  observe: /^allowance\.observed$/,
  wait: /^waiter\.(queued|granted)$/,
  hold: /^hold\.held$/,
  stand: /^hold\.(queued|held)$/,
  leave: /^hold\.cancelled$/,
  'line up': /^hold\.(queued|held)$/,
  'leave line': /^hold\.cancelled$/,
  'let go': /^hold\.released$/,
  release: /^hold\.released$/,
  withdraw: /^message\.cancelled$/,
  purge: /^message\.cancelled$/,
  'purge all': /^bulk\.started$/,
  'requeue all': /^bulk\.started$/,
  'take away': /^message\.released$/,
  'requeue some': /^message\.requeued$/,
  requeue: /^message\.requeued$/,
  cancel: /^waiter\.cancelled$/,
  submit: /^task\.submitted$/,
  seal: /^group\.sealed$/,
  accept: /^task\.accepted$/,
  reject: /^task\.rejected$/,
};
/** Kinds whose success may change nothing, such as a repeated arrival. */
const mayLeaveNothing = new Set([
  ...[
    'arrive',
    'consume',
    'reserve again',
    'cancel',
    'withdraw',
    'renew',
    'release',
    'look',
    'stop',
    'purge',
    'clear',
    'requeue some',
  ],
  ...['cancel planted', 'pause', 'resume', 'pause mailbox', 'resume mailbox', 'settle units', 'read note', 'read memo'],
  ...[
    'correct',
    'observe',
    'leave line',
    'let go',
    'withdraw question',
    'link',
    'stay',
    'leave',
    'repeat group',
    'repeat submit',
  ],
  ...['create key', 'revoke key', 'read'],
]);

/** The events that each request left, by its id. */
export function byRequest(events: readonly Event[]): Map<string, Event[]> {
  const found = new Map<string, Event[]>();
  for (const event of events) {
    const events = found.get(event.requestId ?? '') ?? [];
    events.push(event);
    found.set(event.requestId ?? '', events);
  }
  return found;
}

/** Where journal and answers disagree: an acknowledged change without its one event, or an event without a change. */
export function disagreements(history: readonly Operation[], events: readonly Event[]): string[] {
  const found = byRequest(events);
  const wrong: string[] = [];
  const calls = new Map<string, number>();
  for (const { id } of history) calls.set(id, (calls.get(id) ?? 0) + 1);
  for (const { id, kind, outcome, object, input, value } of history) {
    // Other calls of its batch may have left events, and it has no object by which to tell them apart.
    if (outcome === 'refused' && object === '' && Number(calls.get(id)) > 1) continue;
    // A receive may claim several messages, a batch change many: each is an operation of its own if the answer is
    // known.
    const isOne = object.startsWith('message ') && outcome !== 'unknown';
    const left = (found.get(id) ?? []).filter(
      ({ type, aggregateId }) => leaves[kind]?.test(type) && (!isOne || object === `message ${aggregateId}`),
    ).length;
    const counted = value['count'];
    const max = outcome === 'refused' ? 0 : Number(counted ?? (isOne ? 1 : (input['max'] ?? 1)));
    const min = outcome === 'ok' && !mayLeaveNothing.has(kind) ? 1 : Number(counted ?? 0);
    if (left < min || left > max) wrong.push(`${kind} of ${object} was ${outcome} and left ${left} events`);
  }
  const known = new Set(history.map(({ id }) => id));
  for (const [id, events] of found)
    if (id !== '' && !known.has(id)) wrong.push(`request ${id} is not ours: ${events.map(({ type }) => type)}`);
  return wrong;
}

/** The changes acknowledged by a moment that are missing from the journals. */
export function lost(history: readonly Operation[], events: readonly Event[], by: number): Operation[] {
  const found = byRequest(events);
  return history.filter(
    ({ id, kind, outcome, respondedAt }) =>
      outcome === 'ok' && respondedAt <= by && leaves[kind] && !mayLeaveNothing.has(kind) && !found.has(id),
  );
}
