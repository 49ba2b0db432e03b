import { expect } from 'chai';
import { notesOf, type Records } from './recount.ts';
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
    ...['scope:[^:]+:(messages|waiters|barriers|reservations|gates|notes)', 'allowance:[^:]+:(live|units)', 'barriers'],
    ...['pools', 'poolNames', 'holds', 'waitingHolds', 'waitingHolders', 'holdLeases', 'finishedHolds'],
    ...['pool:[^:]+:(live|units|held|holds|claims)', 'parked:.+', 'parkedQueues:.+', 'scope:[^:]+:holds'],
    ...['questions', 'openQuestions', '(message|scope):[^:]+:questions'],
    ...['budget:[^:]+:(reservations:\\w+|workKeys:RESERVE)', 'groups', 'dependents:.+', 'group:[^:]+:members'],
  ].join('|')})$`,
);
const live = ['READY', 'DELAYED', 'BLOCKED', 'CLAIMED'];
const requeueable = ['REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** The lists of dependents that a BLOCKED message is in, according to the prerequisites in its record. */
function openPlaces(prerequisites = ''): string[] {
  const [policy, ...entries] = prerequisites.split(' ');
  return entries
    .filter((entry) => !entry.includes('='))
    .map((entry) => (policy === 'WAIT' && entry.startsWith('m') ? `${entry.slice(1, 37)}#WAIT` : entry.slice(1)));
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

  all(kind: string): Hash[] {
    return [...this.#records.of(kind)].map(([id, record]) => ({ ...record, id }));
  }

  path(scopeId: string | undefined): string[] {
    return (
      this.#records
        .of('scope')
        .get(scopeId ?? '')
        ?.['path']?.split(' ') ?? []
    );
  }

  #mailboxes(): void {
    for (const { id = '', name } of this.all('mailbox')) {
      this.#put('mailboxes', id);
      this.#put('mailboxNames', `${name}\t${id}`);
    }
  }

  #messages(): void {
    for (const [mailboxId, id] of this.#records.named) this.#put(`mailbox:${mailboxId}:segments`, id);
    for (const { id = '', mailboxId, scopeId, state = '', workKey, finishedAt, packed, ...rest } of this.all(
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
      }
      if (state === 'CLAIMED') this.#put('claims', id, rest['leaseExpiresAt']);
      if (state === 'READY')
        for (const above of this.path(scopeId)) this.#put(`${box}:ready:${above}`, `${rest['place'] ?? ''}${id}`);
    }
  }

  /** The sets that contain a message with a key. A message DELAYED after an attempt is active. */
  #key(box: string, { id = '', state = '', key, place, prerequisites, attempts, blockedOn }: Hash): void {
    if (key === undefined) return;
    this.#put(`${box}:keyed:${key}`, id, '0');
    if (blockedOn?.startsWith('QUESTION')) return;
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
    for (const { mailboxId, scopeId, state } of this.all('message')) {
      if (state !== 'READY' || mailboxId === undefined) continue;
      const [root = ''] = this.path(scopeId);
      this.#put('oldestReady', mailboxId);
      this.#put(`mailbox:${mailboxId}:heads`, root);
      if (this.#records.of('mailbox').get(mailboxId)?.['turn']) this.#put(`mailbox:${mailboxId}:turns`, root);
    }
  }

  #scopes(): void {
    for (const { id = '', createdAt, name } of this.all('scope')) {
      const place = `${Number(createdAt).toString(16).padStart(12, '0')} ${id}`;
      this.#put('scopes', place);
      if (name !== undefined) this.#put('scopeNames', `${name}\t${place}`);
      const parentId = this.path(id).at(-2);
      if (parentId !== undefined) this.#put(`scope:${parentId}:gates`, place);
    }
  }

  #pools(): void {
    for (const { id = '', name = '' } of this.all('pool')) {
      this.#put('pools', id);
      this.#put('poolNames', name, id);
    }
    for (const { id = '', poolId, scopeId, state, units = '', holder, holderSession, ...times } of this.all('hold')) {
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
        this.#put('waitingHolders', `${this.path(scopeId)[0]} ${holder}\t${holderSession}\t${id}`);
    }
  }

  #others(): void {
    for (const { id = '', scopeId, allowanceId, state, units = '', createdAt = '' } of this.all('waiter')) {
      this.#put(`scope:${scopeId}:waiters`, id);
      if (state !== 'WAITING') continue;
      this.#put('waiting', id, createdAt);
      this.#put(`allowance:${allowanceId}:live`, id);
      this.#put(`allowance:${allowanceId}:units`, id, units);
    }
    for (const { id = '', scopeId } of this.all('barrier')) {
      this.#put('barriers', id);
      this.#put(`scope:${scopeId}:barriers`, id);
    }
    for (const { id = '', scopeId, budgetId, state, workKey, ...of } of this.all('reservation')) {
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
    for (const { id = '', scopeId, messageId, state } of this.all('question')) {
      for (const list of ['questions', `scope:${scopeId}:questions`]) this.#put(list, id, '0');
      if (messageId !== undefined) this.#put(`message:${messageId}:questions`, id, '0');
      if (state === 'OPEN') this.#put('openQuestions', id, '0');
    }
    for (const { id = '' } of this.all('group')) this.#put('groups', id);
    for (const { id = '', groupId } of this.all('task')) this.#put(`group:${groupId}:members`, id);
  }
}

/** The stored members of a key. */
async function stored(world: World, key: string): Promise<Members> {
  const { store } = world.service;
  const name = `${world.prefix}:${key}`;
  if (key === 'poolNames' || /:workKeys/.test(key)) return new Map(Object.entries(await store.hgetall(name)));
  if (key === 'tombstones' || key.startsWith('dependents:'))
    return new Map((await store.lrange(name, '0', '-1')).map((entry) => [entry, null]));
  if (key.endsWith(':segments'))
    return new Map((await store.zrange(name, '0', '-1')).flatMap((entry) => entry.split(' ').map((id) => [id, null])));
  const pairs = await store.zrange(name, '0', '-1', 'WITHSCORES');
  return new Map(pairs.flatMap((member, i) => (i % 2 === 0 ? [[member, pairs[i + 1] ?? '']] : [])));
}

/** The lowest score of a key's members. */
const least = (members: Members | undefined): number =>
  Math.min(...[...(members ?? [])].map(([, score]) => Number(score)));

/** For READY messages: the moment of the oldest, and whether any has a priority, which lowers the score. */
const oldest = (members: Members | undefined): { at: number; isOrdered: boolean } => {
  const scores = [...(members ?? [])].map(([, score]) => Number(score));
  const momentOf = (score: number): number => score + Math.max(0, Math.ceil(-score / 1e13)) * 1e13;
  return { at: Math.min(...scores.map(momentOf)), isOrdered: scores.some((score) => score < 0) };
};

/** Fails if an index, or a counter of a mailbox, group or scope, differs from the records. */
export async function expectIndexes(world: World, records: Records, isClockSteady: boolean): Promise<void> {
  const recounted = new Recounted(records);
  const names = [...records.others].filter((key) => derived.test(key)).sort();
  const found = new Map(await Promise.all(names.map(async (key) => [key, await stored(world, key)] as const)));
  for (const [key, members] of recounted.others) {
    const entries = found.get(key);
    for (const member of members.keys()) entries?.delete(member);
    if (entries?.size === 0) found.delete(key);
  }
  expect([...found.keys()].sort(), 'indexes').to.deep.equal([...recounted.keys.keys()].sort());
  for (const [key, members] of recounted.keys) {
    const entries = found.get(key) ?? new Map();
    const known = [...members].map(([member, score]) => [member, score ?? entries.get(member) ?? null]);
    expect([...entries].sort(), key).to.deep.equal(known.sort());
  }
  if (isClockSteady) expectHeads(recounted, found);
  expectMailboxes(recounted, found);
  expectGroups(recounted);
  expectScopes(recounted);
  await expectTimers(world, recounted, found);
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

function expectMailboxes(recounted: Recounted, found: ReadonlyMap<string, Members>): void {
  const messages = recounted.all('message');
  const groups = recounted.all('group');
  for (const box of recounted.all('mailbox')) {
    const { id = '', ready, delayed, blocked, claimed, failed, undecidedGroups, nextReadyAt, orderedDelayed } = box;
    const countOf = (state: string): number =>
      messages.filter((one) => one['mailboxId'] === id && one['state'] === state).length;
    const undecided = groups.filter((one) => one['mailboxId'] === id && one['state'] !== 'DECIDED').length;
    expect(
      [ready, delayed, blocked, claimed, failed, undecidedGroups].map((value) => Number(value ?? 0)),
      id,
    ).to.deep.equal([
      ...[countOf('READY'), countOf('DELAYED'), countOf('BLOCKED'), countOf('CLAIMED'), countOf('FAILED'), undecided],
    ]);
    const ordered = messages.filter(
      (one) => one['mailboxId'] === id && one['state'] === 'DELAYED' && (one['key'] ?? one['priority']) !== undefined,
    ).length;
    expect(Number(orderedDelayed ?? 0), `orderedDelayed of ${id}`).to.equal(ordered);
    const next = found.get(`mailbox:${id}:delayed`);
    if (next) expect(Number(nextReadyAt), `nextReadyAt of ${id}`).to.be.within(1, least(next));
  }
}

const counterOf: Readonly<Record<string, string>> = { PENDING: 'pending', RUNNING: 'running', SUCCEEDED: 'succeeded' };
const taskOf: Readonly<Record<string, string>> = {
  READY: 'PENDING',
  DELAYED: 'PENDING',
  BLOCKED: 'PENDING',
  CLAIMED: 'RUNNING',
};

function expectGroups(recounted: Recounted): void {
  const messages = new Map(recounted.all('message').map((one) => [one['id'], one]));
  const tasks = recounted.all('task').map((task) => ({
    ...task,
    state: task['state'] ?? taskOf[messages.get(task['messageId'])?.['state'] ?? ''] ?? 'none',
  })) as Hash[];
  const names = ['members', 'pending', 'running', 'succeeded', 'failed', 'expired', 'cancelled'];
  for (const group of recounted.all('group')) {
    const members = tasks.filter(({ groupId }) => groupId === group['id']);
    const count = (is: (task: Hash) => boolean): number => members.filter(is).length;
    const counted = names.map((name) =>
      count(({ state = '' }) => name === 'members' || (counterOf[state] ?? state.toLowerCase()) === name),
    );
    const judged = ['ACCEPTED', 'REJECTED'].map((verdict) => count((task) => task['verdict'] === verdict));
    const unjudged = count((task) => task['state'] === 'SUCCEEDED' && task['verdict'] === undefined);
    const counters = [...names, 'accepted', 'rejected', 'unjudged'].map((name) => Number(group[name] ?? 0));
    expect(counters, `group ${group['id']}`).to.deep.equal([...counted, ...judged, unjudged]);
  }
}

/**
 * Checks a scope's counts of groups and declared children, the count of messages that a cancel has ended, and that the
 * cancel has reached everything.
 */
function expectScopes(recounted: Recounted): void {
  const groups = recounted.all('group');
  const scopes = new Map(recounted.all('scope').map((one) => [one['id'], one]));
  const ended = new Map<string | undefined, number>();
  for (const message of recounted.all('message')) {
    if (message['reason'] !== 'RUN_CANCELLED') continue;
    const cancelled = recounted.path(message['scopeId']).filter((id) => scopes.get(id)?.['cancelledAt']);
    const [first] = cancelled.sort(
      (a, b) => Number(scopes.get(a)?.['cancelledAt']) - Number(scopes.get(b)?.['cancelledAt']),
    );
    ended.set(first, (ended.get(first) ?? 0) + 1);
  }
  for (const [id, scope] of scopes) {
    const undecided = groups.filter((one) => one['parentScopeId'] === id && one['state'] !== 'DECIDED').length;
    const declared = [...scopes.values()].filter(
      (one) => one['isDeclared'] && recounted.path(one['id']).at(-2) === id,
    ).length;
    const counters = [scope['undecidedGroups'], scope['declaredChildren']].map((value) => Number(value ?? 0));
    expect(counters, `scope ${id}`).to.deep.equal([undecided, declared]);
    // Retention removes messages that the cancel ended.
    expect(Number(scope['cancelledMessages'] ?? 0), `cancel of ${id}`).to.be.at.least(ended.get(id) ?? 0);
    const isWalked = scope['cancelledAt'] !== undefined && scope['cancelWalk'] === undefined;
    if (isWalked) expect(scope['live'], `live in ${id}, which a cancel has passed`).to.equal('0');
  }
}

/**
 * Expects a timer no later than each due moment: deadlines, waiters, the first lease, delays, and the rest of each cancel.
 */
async function expectTimers(world: World, recounted: Recounted, found: ReadonlyMap<string, Members>): Promise<void> {
  const { store } = world.service;
  const [timers, background] = await Promise.all(
    ['timers', 'backgroundTimers'].map(async (key) => {
      const pairs = await store.zrange(`muster:{${world.org}}:${key}`, '0', '-1', 'WITHSCORES');
      return new Map(pairs.flatMap((member, i) => (i % 2 === 0 ? [[member, Number(pairs[i + 1])]] : [])));
    }),
  );
  const expectArmed = (of: Map<string, number> | undefined, kind: string, id: string | undefined, at: number): void => {
    expect(of?.get(`${kind}:${world.spaceNumber}:${id}`), `${kind} of ${id}`).to.be.at.most(at);
  };
  for (const { id, state, expiresAt } of recounted.all('waiter'))
    if (state === 'WAITING') expectArmed(timers, 'allowance:waiter', id, Number(expiresAt));
  for (const { id, state, expiresAt } of recounted.all('question'))
    if (state === 'OPEN') expectArmed(timers, 'question:expiry', id, Number(expiresAt));
  for (const { id, state, deadline } of recounted.all('message'))
    if (live.includes(state ?? '') && deadline) expectArmed(timers, 'mailbox:message', id, Number(deadline));
  const claims = found.get('claims');
  if (claims) expectArmed(timers, 'mailbox:lease', '', least(claims));
  for (const { id } of recounted.all('mailbox')) {
    const delayed = found.get(`mailbox:${id}:delayed`);
    if (delayed) expectArmed(background, 'mailbox:delays', id, least(delayed));
  }
  for (const { id, cancelWalk } of recounted.all('scope'))
    if (cancelWalk) expectArmed(background, 'scope:cancel', id, Number.MAX_SAFE_INTEGER);
}
