import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Counters, expectNone } from './differences.ts';
import { notesOf, type Records, readEach, scoresOf } from './recount.ts';
import type { World } from './world.ts';

type Hash = Record<string, string>;
/** Members of a key, each with its score if the records determine it. */
type Members = Map<string, string | null>;

/** Keys derived from the records. */
const derived = new RegExp(
  `^(${[
    ...['mailboxes', 'mailboxNames', 'oldestReady', 'claims', 'tombstones', 'scopes', 'scopeNames', 'waiting'],
    ...['mailbox:[^:]+:(messages|segments|delayed|blocked|turns|heads|workKeys|requeueable:\\w+|ready:.+)'],
    ...['mailbox:[^:]+:(keyed:.+|keyActive:.+|keyWaiting:.+|waitedKeys)'],
    ...[
      'scope:[^:]+:(messages|waiters|barriers|bulks|reservations|gates|notes)',
      'allowance:[^:]+:(live|units)',
      'barriers',
    ],
    'bulks',
    ...['pools', 'poolNames', 'holds', 'waitingHolds', 'waitingHolders', 'holdLeases', 'finishedHolds'],
    ...['pool:[^:]+:(live|units|held|holds|claims)', 'parked:.+', 'parkedQueues:.+', 'scope:[^:]+:holds'],
    ...['questions', 'openQuestions', '(message|scope):[^:]+:questions'],
    ...['budget:[^:]+:(reservations:\\w+|workKeys:RESERVE)', 'groups', 'dependents:.+', 'group:[^:]+:members'],
    ...['waits', 'waiters:.+'],
  ].join('|')})$`,
);
const live = ['READY', 'DELAYED', 'BLOCKED', 'CLAIMED'];
const requeueable = ['REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** The lists of dependents that a BLOCKED message is in, according to the prerequisites in its record. */
function openPlaces(prerequisites = ''): string[] {
  const [policy, ...entries] = prerequisites.split(' ');
  return entries
    .filter((entry) => !entry.includes('=') && !entry.startsWith('s'))
    .map((entry) => (policy === 'WAIT' && entry.startsWith('m') ? `${entry.slice(1, 37)}#WAIT` : entry.slice(1)));
}

/** The sets in which a BLOCKED message waits, by place. */
export function awaitedPlaces({ prerequisites = '', awaited = '', awaitedNote = '' }: Hash): Map<string, string> {
  const [version, ...key] = awaitedNote.split(' ');
  const entries = `${prerequisites} ${awaited}`.matchAll(/([mgsn])(\S{36})#(\d+)(?= |$)/g);
  const places = [...entries].flatMap(([, kind = '', id = '', number = '']): [string, string][] => {
    // The number of a prerequisite's list is not that of a set.
    if (kind !== 's' && prerequisites.includes(`${kind}${id}#`)) return [];
    const note = createHash('sha1')
      .update(`${id} ${key.join(' ')}`)
      .digest('hex');
    return [[kind === 'n' ? `n${note}:${version}` : `${kind}${id}`, number]];
  });
  return new Map(places);
}

/** A space's indexes, and the counters of its mailboxes, groups and scopes, derived from the records. */
class Recounted {
  readonly keys = new Map<string, Members>();
  /** Members that the store may have in addition: a message given back without an attempt may be active or not. */
  readonly others = new Map<string, Members>();
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
    this.#mailboxes();
    this.#messages();
    this.#queues();
    this.#scopes();
    this.#others();
    this.#pools();
  }

  #put(key: string, member: string, score: string | null = null, into = this.keys): void {
    const members = into.get(key) ?? new Map();
    into.set(key, members.set(member, score));
  }

  #mailboxes(): void {
    for (const { id = '', name } of this.#records.all('mailbox')) {
      this.#put('mailboxes', id);
      this.#put('mailboxNames', `${name}\t${id}`);
    }
  }

  #messages(): void {
    for (const [mailboxId, id] of this.#records.named) this.#put(`mailbox:${mailboxId}:segments`, id);
    for (const { id = '', mailboxId, scopeId, state = '', workKey, finishedAt, packed, ...rest } of this.#records.all(
      'message',
    )) {
      this.#put(`scope:${scopeId}:messages`, id);
      if (mailboxId === undefined) {
        if (!packed) this.#put('tombstones', `${finishedAt} ${id}`);
        continue;
      }
      const box = `mailbox:${mailboxId}`;
      if (!packed) this.#put(`${box}:messages`, id);
      if (workKey !== undefined) this.#put(`${box}:workKeys`, workKey, id);
      this.#key(box, { id, state, ...rest });
      for (const entry of rest['held']?.split(' ') ?? []) {
        const [poolId, , fence = ''] = entry.split(':');
        this.#put(`pool:${poolId}:claims`, id, fence);
      }
      const [kind, resourceId] = rest['blockedOn']?.split(' ') ?? [];
      if (kind === 'POOL' || kind === 'ALLOWANCE') {
        this.#put(`parked:${resourceId}:${mailboxId}:${scopeId}`, `${rest['place']}${id}`);
        this.#put(`parkedQueues:${resourceId}`, `${mailboxId} ${scopeId}`, '0');
      }
      if (requeueable.includes(state)) this.#put(`${box}:requeueable:${state}`, id);
      if (state === 'DELAYED') this.#put(`${box}:delayed`, id, rest['readyAt']);
      if (state === 'BLOCKED') {
        this.#put(`${box}:blocked`, id);
        for (const place of openPlaces(rest['prerequisites'])) this.#put(`dependents:${place}`, id);
        for (const [place, number] of awaitedPlaces(rest)) {
          this.#put(`waiters:${number}`, id);
          // A place that is over has no number any more, although workers still free those that wait.
          this.#put('waits', place, number, this.others);
        }
      }
      if (state === 'CLAIMED') this.#put('claims', id, rest['leaseExpiresAt']);
      if (state === 'READY')
        for (const above of this.#records.path(scopeId))
          this.#put(`${box}:ready:${above}`, `${rest['place'] ?? ''}${id}`);
    }
  }

  /** The sets that contain a message with a key. A message DELAYED after an attempt is active. */
  #key(box: string, { id = '', state = '', key, place, prerequisites, attempts, blockedOn }: Hash): void {
    if (key === undefined) return;
    this.#put(`${box}:keyed:${key}`, id, '0');
    if (blockedOn?.startsWith('QUESTION') || blockedOn === 'SUSPENSION') {
      // It has kept its place or yielded it.
      this.#put(`${box}:keyActive:${key}`, id, '0', this.others);
      return;
    }
    const isActive =
      state === 'READY' ||
      state === 'CLAIMED' ||
      (state === 'DELAYED' && Number(attempts ?? 0) > 0) ||
      blockedOn !== undefined;
    if (isActive || state === 'DELAYED')
      this.#put(`${box}:keyActive:${key}`, id, '0', isActive ? this.keys : this.others);
    // A message that waits for units keeps its place.
    if (state !== 'BLOCKED' || blockedOn !== undefined || openPlaces(prerequisites).length > 0) return;
    this.#put(`${box}:keyWaiting:${key}`, `${place}${id}`);
    this.#put(`${box}:waitedKeys`, key, '0');
  }

  /** The mailboxes and root scopes with READY messages, and the turns of the root scopes. */
  #queues(): void {
    for (const { mailboxId, scopeId, state } of this.#records.all('message')) {
      if (state !== 'READY' || mailboxId === undefined) continue;
      const [root = ''] = this.#records.path(scopeId);
      this.#put('oldestReady', mailboxId);
      this.#put(`mailbox:${mailboxId}:heads`, root);
      if (this.#records.of('mailbox').get(mailboxId)?.['turn']) this.#put(`mailbox:${mailboxId}:turns`, root);
    }
  }

  #scopes(): void {
    for (const { id = '', createdAt, name } of this.#records.all('scope')) {
      const place = `${Number(createdAt).toString(16).padStart(12, '0')} ${id}`;
      this.#put('scopes', place);
      if (name !== undefined) this.#put('scopeNames', `${name}\t${place}`);
      const parentId = this.#records.path(id).at(-2);
      if (parentId !== undefined) this.#put(`scope:${parentId}:gates`, place);
    }
  }

  #pools(): void {
    for (const { id = '', name = '' } of this.#records.all('pool')) {
      this.#put('pools', id);
      this.#put('poolNames', name, id);
    }
    for (const { id = '', poolId, scopeId, state, units = '', holder, holderSession, ...times } of this.#records.all(
      'hold',
    )) {
      for (const list of ['holds', `pool:${poolId}:holds`, `scope:${scopeId}:holds`]) this.#put(list, id);
      if (times['finishedAt']) this.#put('finishedHolds', id, times['finishedAt']);
      if (state === 'HELD') {
        this.#put('holdLeases', id, times['leaseExpiresAt']);
        this.#put(`pool:${poolId}:held`, id, times['fence']);
      }
      if (state !== 'WAITING') continue;
      this.#put('waitingHolds', id);
      this.#put(`pool:${poolId}:live`, id);
      this.#put(`pool:${poolId}:units`, id, units);
      if (holderSession !== undefined)
        this.#put('waitingHolders', `${this.#records.path(scopeId)[0]} ${holder}\t${holderSession}\t${id}`);
    }
  }

  #others(): void {
    for (const { id = '', scopeId, allowanceId, state, units = '', createdAt = '' } of this.#records.all('waiter')) {
      this.#put(`scope:${scopeId}:waiters`, id);
      if (state !== 'WAITING') continue;
      this.#put('waiting', id, createdAt);
      this.#put(`allowance:${allowanceId}:live`, id);
      this.#put(`allowance:${allowanceId}:units`, id, units);
    }
    for (const { id = '', scopeId } of this.#records.all('bulk')) {
      this.#put('bulks', id);
      if (scopeId !== undefined) this.#put(`scope:${scopeId}:bulks`, id);
    }
    for (const { id = '', scopeId } of this.#records.all('barrier')) {
      this.#put('barriers', id);
      this.#put(`scope:${scopeId}:barriers`, id);
    }
    for (const { id = '', scopeId, budgetId, state, workKey, ...of } of this.#records.all('reservation')) {
      this.#put(`scope:${scopeId}:reservations`, id);
      this.#put(`budget:${budgetId}:reservations:${state}`, id);
      const amount = ['settledMinor', 'voidedMinor', 'remainingMinor'].reduce(
        (sum, part) => sum + BigInt(of[part] ?? 0),
        -BigInt(of['overrunMinor'] ?? 0),
      );
      if (workKey !== undefined) this.#put(`budget:${budgetId}:workKeys:RESERVE`, workKey, `${id} ${amount}`);
    }
    for (const [scopeId, texts] of this.#records.notes)
      for (const key of Object.keys(notesOf(texts))) this.#put(`scope:${scopeId}:notes`, key, '0');
    for (const { id = '', scopeId, messageId, state } of this.#records.all('question')) {
      for (const list of ['questions', `scope:${scopeId}:questions`]) this.#put(list, id, '0');
      if (messageId !== undefined) this.#put(`message:${messageId}:questions`, id, '0');
      if (state === 'OPEN') this.#put('openQuestions', id, '0');
    }
    for (const { id = '' } of this.#records.all('group')) this.#put('groups', id);
    for (const { id = '', groupId } of this.#records.all('task')) this.#put(`group:${groupId}:members`, id);
  }
}

/** The stored members of a key. */
async function stored(world: World, key: string): Promise<Members> {
  const { store } = world.service;
  const name = `${world.prefix}:${key}`;
  if (key === 'poolNames' || key === 'waits' || /:workKeys/.test(key))
    return new Map(Object.entries(await store.hgetall(name)));
  if (key === 'tombstones' || key.startsWith('dependents:'))
    return new Map((await store.lrange(name, '0', '-1')).map((entry) => [entry, null]));
  const scores = await scoresOf(store, name);
  if (!key.endsWith(':segments')) return scores;
  return new Map([...scores.keys()].flatMap((entry) => entry.split(' ').map((id) => [id, null])));
}

/** The lowest score of a key's members. */
const least = (members: Members | undefined): number =>
  [...(members?.values() ?? [])].reduce((lowest, score) => Math.min(lowest, Number(score)), Number.POSITIVE_INFINITY);

/** For READY messages: the moment of the oldest, and whether any has a priority, which lowers the score. */
const oldest = (members: Members | undefined): { at: number; isOrdered: boolean } => {
  const scores = [...(members?.values() ?? [])].map(Number);
  const momentOf = (score: number): number => score + Math.max(0, Math.ceil(-score / 1e13)) * 1e13;
  return {
    at: scores.reduce((first, score) => Math.min(first, momentOf(score)), Number.POSITIVE_INFINITY),
    isOrdered: scores.some((score) => score < 0),
  };
};

/** Indexes of live messages, with whose scores others are compared. */
const scored = /^(oldestReady|claims|mailbox:[^:]+:(heads|delayed|ready:.+))$/;

/** Fails if an index, or a counter of a mailbox, group or scope, differs from the records. */
export async function expectIndexes(world: World, records: Records, isClockSteady: boolean): Promise<void> {
  const recounted = new Recounted(records);
  await expectNone(indexDifferences(world, records, recounted));
  const names = [...records.others].filter((key) => scored.test(key));
  const found = new Map<string, Members>();
  for await (const [key, members] of readEach(names, (key) => stored(world, key))) found.set(key, members);
  if (isClockSteady) expectHeads(recounted, found);
  await expectNone(mailboxDifferences(records, found));
  await expectNone(groupDifferences(records));
  await expectNone(scopeDifferences(records));
  await expectTimers(world, records, found);
}

/** Where a stored index differs from the one derived from the records. */
async function* indexDifferences(world: World, records: Records, { keys, others }: Recounted): AsyncGenerator<string> {
  for (const key of keys.keys()) if (!records.others.has(key)) yield `${key} is missing`;
  const names = [...records.others].filter((key) => keys.has(key) || derived.test(key));
  for await (const [key, found] of readEach(names, (name) => stored(world, name))) {
    for (const [member, score] of keys.get(key) ?? []) {
      const at = found.get(member);
      if (at === undefined) yield `${key} lacks ${member}`;
      else if (score !== null && score !== at) yield `${key} has ${member} at ${at}, not at ${score}`;
      found.delete(member);
    }
    for (const member of found.keys())
      if (!others.get(key)?.has(member)) yield `${key} has ${member}, which no record explains`;
  }
}

/**
 * The heads and the oldest message of each mailbox are exact to the second, with two exceptions. A message sent after
 * the clock was set back to a time before the head does not become the head, because every send would then need a read.
 * If a message has a priority, the head may be earlier.
 */
function expectHeads({ keys }: Recounted, found: ReadonlyMap<string, Members>): void {
  const second = (moment: number): number => Math.floor(moment / 1000);
  for (const mailboxId of keys.get('oldestReady')?.keys() ?? []) {
    const heads = found.get(`mailbox:${mailboxId}:heads`) as Members;
    for (const [root, at] of heads) {
      const first = oldest(found.get(`mailbox:${mailboxId}:ready:${root}`));
      if (first.isOrdered) expect(second(Number(at)), `head of ${root}`).to.be.at.most(second(first.at));
      else expect(second(Number(at)), `head of ${root}`).to.equal(second(first.at));
    }
    expect(second(Number(found.get('oldestReady')?.get(mailboxId))), mailboxId).to.equal(second(least(heads)));
  }
}

const mailboxCounters = new Map(
  ['ready', 'delayed', 'blocked', 'claimed', 'failed'].map((name) => [name.toUpperCase(), name]),
);

function* mailboxDifferences(records: Records, found: ReadonlyMap<string, Members>): Generator<string> {
  const counted = new Counters();
  for (const { mailboxId, state = '', key, priority } of records.all('message')) {
    const name = mailboxCounters.get(state);
    if (mailboxId === undefined || name === undefined) continue;
    counted.add(mailboxId, name);
    if (state === 'DELAYED' && (key ?? priority) !== undefined) counted.add(mailboxId, 'orderedDelayed');
  }
  for (const { mailboxId = '', state } of records.all('group'))
    if (state !== 'DECIDED') counted.add(mailboxId, 'undecidedGroups');
  const boxes = records.of('mailbox');
  yield* counted.differences(boxes, [...mailboxCounters.values(), 'orderedDelayed', 'undecidedGroups']);
  for (const [id, { nextReadyAt }] of boxes) {
    const next = found.get(`mailbox:${id}:delayed`);
    if (next && !(Number(nextReadyAt) >= 1 && Number(nextReadyAt) <= least(next)))
      yield `nextReadyAt of ${id} is ${nextReadyAt}, but the first is DELAYED to ${least(next)}`;
  }
}

const taskOf: Readonly<Record<string, string>> = {
  READY: 'PENDING',
  DELAYED: 'PENDING',
  BLOCKED: 'PENDING',
  CLAIMED: 'RUNNING',
};

const groupCounters = [
  ...['members', 'pending', 'running', 'succeeded', 'failed', 'expired', 'cancelled'],
  ...['accepted', 'rejected', 'unjudged'],
];

function* groupDifferences(records: Records): Generator<string> {
  const counted = new Counters();
  for (const { groupId = '', messageId = '', state, verdict } of records.all('task')) {
    const now = state ?? taskOf[records.of('message').get(messageId)?.['state'] ?? ''] ?? 'none';
    counted.add(groupId, 'members');
    counted.add(groupId, now.toLowerCase());
    if (verdict !== undefined) counted.add(groupId, verdict.toLowerCase());
    else if (now === 'SUCCEEDED') counted.add(groupId, 'unjudged');
  }
  yield* counted.differences(records.of('group'), groupCounters);
}

/**
 * Checks a scope's counts of groups and declared children, the count of messages that a cancel has ended, and that the
 * cancel has reached everything.
 */
function* scopeDifferences(records: Records): Generator<string> {
  const scopes = records.of('scope');
  const counted = new Counters();
  for (const { parentScopeId = '', state } of records.all('group'))
    if (state !== 'DECIDED') counted.add(parentScopeId, 'undecidedGroups');
  for (const [id, { isDeclared }] of scopes)
    if (isDeclared) counted.add(records.path(id).at(-2) ?? '', 'declaredChildren');
  for (const { reason, scopeId } of records.all('message')) {
    if (reason !== 'RUN_CANCELLED') continue;
    const cancelledAt = (id: string): number => Number(scopes.get(id)?.['cancelledAt']);
    const cancelled = records.path(scopeId).filter((id) => scopes.get(id)?.['cancelledAt']);
    const [first = ''] = cancelled.sort((a, b) => cancelledAt(a) - cancelledAt(b));
    counted.add(first, 'cancelledMessages');
  }
  yield* counted.differences(scopes, ['undecidedGroups', 'declaredChildren']);
  for (const [id, { cancelledMessages = '0', cancelledAt, cancelWalk, live }] of scopes) {
    const ended = counted.of(id, 'cancelledMessages');
    // Retention removes messages that the cancel ended.
    if (Number(cancelledMessages) < ended) yield `the cancel of ${id} ended ${ended}, not ${cancelledMessages}`;
    const isWalked = cancelledAt !== undefined && cancelWalk === undefined;
    if (isWalked && live !== '0') yield `${live} live in ${id}, which a cancel has passed`;
  }
}

/**
 * Expects a timer no later than each due moment: deadlines, waiters, the first lease, delays, and the rest of each cancel.
 */
async function expectTimers(world: World, records: Records, found: ReadonlyMap<string, Members>): Promise<void> {
  const [timers, background] = await Promise.all(
    ['timers', 'backgroundTimers'].map((key) => scoresOf(world.service.store, `muster:{${world.org}}:${key}`)),
  );
  const expectArmed = (of: Map<string, string> | undefined, kind: string, id: string | undefined, at: number): void => {
    expect(Number(of?.get(`${kind}:${world.spaceNumber}:${id}`)), `${kind} of ${id}`).to.be.at.most(at);
  };
  for (const { id, state, expiresAt } of records.all('waiter'))
    if (state === 'WAITING') expectArmed(timers, 'allowance:waiter', id, Number(expiresAt));
  for (const { id, state, expiresAt } of records.all('question'))
    if (state === 'OPEN') expectArmed(timers, 'question:expiry', id, Number(expiresAt));
  for (const { id, state, deadline } of records.all('message'))
    if (live.includes(state ?? '') && deadline) expectArmed(timers, 'mailbox:message', id, Number(deadline));
  const claims = found.get('claims');
  if (claims) expectArmed(timers, 'mailbox:lease', '', least(claims));
  for (const { id } of records.all('mailbox')) {
    const delayed = found.get(`mailbox:${id}:delayed`);
    if (delayed) expectArmed(background, 'mailbox:delays', id, least(delayed));
  }
  for (const { id, cancelWalk } of records.all('scope'))
    if (cancelWalk) expectArmed(background, 'scope:cancel', id, Number.MAX_SAFE_INTEGER);
}
