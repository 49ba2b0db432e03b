import type { Redis } from 'ioredis';
import { figureNames } from '../../src/engine/metrics/message-figures.ts';
import { addressOf, type Store, serverOf, shardsOf } from '../../src/engine/redis/cluster.ts';
import { Segment } from '../../src/primitives/event/segment.ts';
import { fieldsOf, hashOf, placeOfEntry } from '../../src/primitives/mailbox/packed.ts';
import { product } from '../../src/primitives/primitives.ts';
import { Counters } from './differences.ts';
import { entriesOf } from './journal.ts';
import type { World } from './world.ts';

type Hash = Record<string, string>;

/** How many commands are in flight at once: a reply to more could take longer than connections wait for one. */
const commandsAtOnce = 500;
const membersAtOnce = 10_000;

async function* inChunks<T>(all: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const one of all)
    if (chunk.push(one) === commandsAtOnce) {
      yield chunk;
      chunk = [];
    }
  yield chunk;
}

/** Reads something for each of these, and yields it with the reply. */
export async function* readEach<T, R>(all: Iterable<T>, read: (one: T) => Promise<R>): AsyncGenerator<[T, R]> {
  for await (const chunk of inChunks(all)) {
    const replies = await Promise.all(chunk.map(read));
    for (const [i, one] of chunk.entries()) yield [one, replies[i] as R];
  }
}

/** The members of a sorted set with their scores. */
export async function scoresOf(store: Store, key: string): Promise<Map<string, string>> {
  const scores = new Map<string, string>();
  for (let from = 0; ; from += membersAtOnce) {
    const pairs = await store.zrange(key, String(from), String(from + membersAtOnce - 1), 'WITHSCORES');
    for (let i = 0; i < pairs.length; i += 2) scores.set(pairs[i] as string, pairs[i + 1] as string);
    if (pairs.length < 2 * membersAtOnce) return scores;
  }
}

/** The names of the keys with a prefix. On a cluster they are in one slot, so only that slot is read. */
async function* keysWith(prefix: string, store: Store): AsyncGenerator<string> {
  if (addressOf(store, prefix) !== '') {
    const shard = serverOf(store, prefix) as Redis;
    const slot = Number(await shard.cluster('KEYSLOT', prefix));
    const names = await shard.cluster('GETKEYSINSLOT', slot, await shard.cluster('COUNTKEYSINSLOT', slot));
    yield* names.filter((name) => name.startsWith(prefix));
    return;
  }
  for (const shard of shardsOf(store))
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const [next, found] = await shard.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1000);
      cursor = next;
      yield* found;
    }
}

/** A copy of a part of a text, without which the part would keep all of the text in memory. */
const copyOf = (part: string): string => Buffer.from(part).toString();

/** Texts of any length: of these only the bytes are kept. */
const longTexts = ['payload', 'result', 'lastError', 'progress', 'question', 'answer'];

function recordOf(id: string, fields: Hash): Hash {
  const record: Hash = { id };
  let textBytes = 0;
  for (const [name, value] of Object.entries(fields))
    if (longTexts.includes(name)) textBytes += Buffer.byteLength(value);
    else record[name] = value;
  return { ...record, textBytes: String(textBytes) };
}

/** Every record of a space by kind, found by the names of keys, without any counter or index of the scripts. */
export class Records {
  /** The names of all other keys, without the space's prefix. */
  readonly others = new Set<string>();
  /** The texts of notes by scope. */
  readonly notes = new Map<string, Hash>();
  /** The messages listed in segments, each with its mailbox. */
  readonly named: [mailboxId: string, id: string][] = [];
  readonly #kinds = new Map<string, Map<string, Hash>>();

  static async read(world: World): Promise<Records> {
    const records = new Records();
    const { store } = world.service;
    const prefix = `${world.prefix}:`;
    const one =
      /^(message|scope|group|task|waiter|allowance|pool|hold|barrier|budget|reservation|mailbox|schedule|question|bulk):([^:]+)$/;
    const read = async (key: string): Promise<void> => {
      const [, kind = '', id = ''] = one.exec(key.slice(prefix.length)) ?? [];
      const [, scopeId] = /^scope:([^:]+):noteTexts$/.exec(key.slice(prefix.length)) ?? [];
      if (scopeId !== undefined) records.notes.set(copyOf(scopeId), await store.hgetall(key));
      if (kind !== '') records.#add(kind, id, await store.hgetall(key));
      else records.others.add(key.slice(prefix.length));
    };
    for await (const chunk of inChunks(keysWith(prefix, store))) await Promise.all(chunk.map(read));
    await records.#addPacked(world);
    return records;
  }

  /** Adds the packed messages, read from the segments themselves; `packed` is the kind of their segment. */
  async #addPacked({ prefix, service: { store } }: World): Promise<void> {
    const isUnpacked = await scoresOf(store, `${prefix}:unpackedMessages`);
    for (const entry of (await scoresOf(store, `${prefix}:messageSegments`)).keys()) {
      const [, , number = '', , , kind = ''] = entry.split(' ');
      const key = `${prefix}:messageSegment:${number}`;
      const segment = await Segment.open(placeOfEntry(entry, key), await store.getBuffer(key));
      for (const line of segment.lines) {
        const id = copyOf(line.slice(0, 36));
        const hash = hashOf(fieldsOf(line)) as Hash;
        if (kind === 'MESSAGES') this.named.push([hash['mailboxId'] ?? '', id]);
        if (!isUnpacked.has(id)) this.#add('message', id, { ...hash, packed: kind });
      }
    }
  }

  #add(kind: string, id: string, fields: Hash): void {
    const own = copyOf(id);
    this.of(kind).set(own, recordOf(own, fields));
  }

  of(kind: string): Map<string, Hash> {
    const known = this.#kinds.get(kind) ?? new Map<string, Hash>();
    this.#kinds.set(kind, known);
    return known;
  }

  all(kind: string): Hash[] {
    return [...this.of(kind).values()];
  }

  /** The ids of a scope and those above it, the root first. */
  path(scopeId = ''): string[] {
    return this.of('scope').get(scopeId)?.['path']?.split(' ') ?? [];
  }

  get count(): number {
    return [...this.#kinds.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

const taskStates: Readonly<Record<string, string>> = {
  READY: 'PENDING',
  CLAIMED: 'RUNNING',
  DELAYED: 'PENDING',
  BLOCKED: 'PENDING',
  ACKED: 'SUCCEEDED',
  REJECTED: 'FAILED',
  FAILED: 'FAILED',
  EXPIRED: 'EXPIRED',
  CANCELLED: 'CANCELLED',
};

function tally(states: readonly string[], found: Iterable<string | undefined>): Record<string, number> {
  const counts = Object.fromEntries(states.map((state) => [state, 0]));
  for (const state of found) if (state !== undefined) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

const stateOf = (record: Hash): string | undefined => record['state'];
const isLive = (message: Hash): boolean => ['READY', 'DELAYED', 'BLOCKED', 'CLAIMED'].includes(message['state'] ?? '');

/** Waiting waiters and holds. */
const waitingIn = (records: Records): Hash[] =>
  ['waiter', 'hold'].flatMap((kind) => records.all(kind).filter(({ state }) => state === 'WAITING'));

const scopeCounters = ['live', 'liveWaiters', 'activeReservations'];
/** The states in which a message ends, each with its counter in a scope. */
const endCounters = new Map(
  ['Acked', 'Rejected', 'Failed', 'Expired', 'Cancelled'].map((name) => [name.toUpperCase(), `ended${name}`]),
);

/** Each scope's counters of its subtree, counted from the records. */
function countedScopes(records: Records, messages: readonly Hash[]): Counters {
  const counted = new Counters();
  const count = (scopeId: string | undefined, ...names: string[]): void => {
    for (const id of records.path(scopeId)) for (const name of names) counted.add(id, name);
  };
  for (const message of messages) {
    const ended = endCounters.get(message['state'] ?? '');
    if (isLive(message)) count(message['scopeId'], 'live');
    else if (ended !== undefined) count(message['scopeId'], ended);
  }
  for (const { scopeId } of waitingIn(records)) count(scopeId, 'live', 'liveWaiters');
  for (const { scopeId, state } of records.all('reservation'))
    if (state === 'ACTIVE') count(scopeId, 'activeReservations');
  return counted;
}

/** Where a budget's balances differ from the sum of its reservations and those of the budgets below it. */
function* budgetDifferences(records: Records, hasAllReservations: boolean): Generator<string> {
  const budgets = records.of('budget');
  const counted = new Map<string, { reserved: bigint; spent: bigint }>();
  for (const { id, state, onOverdue, overdue } of records.all('reservation'))
    if (state === 'ACTIVE' && onOverdue === 'SETTLE' && overdue) yield `reservation ${id} is overdue, and not settled`;
  for (const { budgetId = '', remainingMinor = 0, settledMinor = 0 } of records.all('reservation'))
    for (const id of [budgetId, ...(budgets.get(budgetId)?.['line']?.split(' ') ?? [])]) {
      const { reserved, spent } = counted.get(id) ?? { reserved: 0n, spent: 0n };
      counted.set(id, { reserved: reserved + BigInt(remainingMinor), spent: spent + BigInt(settledMinor) });
    }
  for (const [id, { limitMinor = '', overdrawn = '0', settledBefore = '0', ...stored }] of budgets) {
    const [reserved = 0n, settled = 0n, available = 0n] = ['reserved', 'settled', 'available'].map((name) =>
      BigInt(stored[name] ?? 0),
    );
    const total = reserved + settled + available;
    const spent = settled + BigInt(settledBefore) + BigInt(overdrawn);
    const own = counted.get(id) ?? { reserved: 0n, spent: 0n };
    if (limitMinor !== `${total}`) yield `limitMinor of ${id} is ${limitMinor}, but its balances make ${total}`;
    if (reserved !== own.reserved) yield `reserved of ${id} is ${reserved}, but ${own.reserved} was counted`;
    // Spending remains spent after retention has removed its reservation.
    if (hasAllReservations ? spent !== own.spent : spent < own.spent)
      yield `spent of ${id} is ${spent}, but ${own.spent} was counted`;
  }
}

const unitsOf = (holds: readonly Hash[]): number => holds.reduce((sum, { units }) => sum + Number(units), 0);

const poolCounters = ['heldUnits', 'requiredBy'];

/** Each pool's held units and requiring messages, counted from holds and messages. */
function countedPools(records: Records): Counters {
  const counted = new Counters();
  for (const { poolId = '', state, units } of records.all('hold'))
    if (state === 'HELD') counted.add(poolId, 'heldUnits', Number(units));
  for (const message of records.all('message')) {
    for (const entry of message['held']?.split(' ') ?? []) {
      const [id = '', units] = entry.split(':');
      counted.add(id, 'heldUnits', Number(units));
    }
    if (!isLive(message)) continue;
    for (const [, id = ''] of message['required']?.matchAll(/\bp([^ :]+):/g) ?? []) counted.add(id, 'requiredBy');
  }
  return counted;
}

/** The notes of a scope by key, from their texts. */
export function notesOf(texts: Hash): Record<string, { version: number; bytes: number; value: string }> {
  const heads = Object.entries(texts).filter(([name]) => name.startsWith('#'));
  return Object.fromEntries(
    heads.map(([name, head]) => {
      const [version, , , bytes] = head.split(' ').map(Number);
      return [name.slice(1), { version: version ?? 0, bytes: bytes ?? 0, value: texts[`=${name.slice(1)}`] ?? '' }];
    }),
  );
}

const noteCounters = ['notes', 'noteBytes', 'noteWaits'];

/** Each scope's counters of its notes, counted from their texts. */
function countedNotes(records: Records): Counters {
  const counted = new Counters();
  for (const [id, texts] of records.notes)
    for (const { value } of Object.values(notesOf(texts))) {
      counted.add(id, 'notes');
      counted.add(id, 'noteBytes', Buffer.byteLength(value));
    }
  for (const { state, awaited } of records.all('message'))
    for (const [, id = ''] of (state === 'BLOCKED' && awaited?.matchAll(/n(\S{36})#/g)) || [])
      counted.add(id, 'noteWaits');
  return counted;
}

/** The scopes whose notes are not sound. Versions are distinct and at most the scope's. */
function* unsoundNotes(records: Records): Generator<string> {
  for (const [id, texts] of records.notes) {
    const scope = records.of('scope').get(id);
    const notes = Object.values(notesOf(texts));
    const isSound =
      scope !== undefined &&
      Object.keys(texts).length === 2 * notes.length &&
      new Set(notes.map(({ version }) => version)).size === notes.length &&
      notes.every(({ version }) => version <= Number(scope['noteVersion'] ?? 0)) &&
      notes.every(({ bytes, value }) => bytes === Buffer.byteLength(value));
    if (!isSound) yield `the notes of scope ${id} are not sound`;
  }
}

/** The organization's timers for the deadlines of live messages and undecided groups. */
function deadlines(records: Records, messages: readonly Hash[], spaceNumber: string): string[] {
  const live = messages.filter((message) => isLive(message) && message['deadline']);
  const groups = records.all('group').filter((group) => group['state'] !== 'DECIDED' && group['deadline']);
  const timers = live.map(({ id, deadline }) => `mailbox:message:${spaceNumber}:${id} ${deadline}`);
  return [...timers, ...groups.map(({ id, deadline }) => `group:deadline:${spaceNumber}:${id} ${deadline}`)];
}

const minuteOf = (entryId: string): number => Math.floor(Number(entryId.split('-', 1)[0]) / 60_000);

const noFigures = figureNames.map(() => 0);

/** How often each figure was counted in a minute, for the minutes in which something happened, in order. */
type Minutes = Map<number, number[]>;

/** How often each type of event occurs in a journal, and the minutes of each mailbox and of the space (named ''). */
async function countedJournal(world: World) {
  const types = new Map<string, number>();
  const happened = new Map<string, Minutes>();
  for await (const [entryId, [type, text]] of entriesOf(world)) {
    types.set(type, (types.get(type) ?? 0) + 1);
    const place = figureNames.indexOf(type.replace('message.', '') as (typeof figureNames)[number]);
    if (!type.startsWith('message.') || place < 0) continue;
    const [, mailboxId = ''] = / mailboxId=(\S+)/.exec(text) ?? [];
    for (const id of new Set(['', mailboxId])) {
      const minutes: Minutes = happened.get(id) ?? new Map();
      if (minutes.size === 0) happened.set(copyOf(id), minutes);
      const counts = minutes.get(minuteOf(entryId)) ?? figureNames.map(() => 0);
      counts[place] = (counts[place] ?? 0) + 1;
      minutes.set(minuteOf(entryId), counts);
    }
  }
  return { types, happened };
}

/** The counts of all minutes of a period, by its number: a period is so many minutes long. */
function countedPeriods(minutes: Minutes, length: number): Minutes {
  const periods: Minutes = new Map();
  for (const [minute, counts] of minutes) {
    const period = Math.floor(minute / length);
    const before = periods.get(period);
    periods.set(period, before ? counts.map((count, place) => count + (before[place] ?? 0)) : counts);
  }
  return periods;
}

/** The fields of figures as they are stored, and the minute that is not among them yet. */
function countedFigures(minutes: Minutes): Hash {
  const open = [...minutes.keys()].at(-1) ?? 0;
  const closed = new Map([...minutes].filter(([minute]) => minute < open));
  const places = (prefix: string, length: number, size: number) =>
    [...countedPeriods(closed, length)].map(([period, counts]) => [
      `${prefix}${period % size}`,
      [period, ...counts].join(' '),
    ]);
  const [total = noFigures] = countedPeriods(closed, Number.POSITIVE_INFINITY).values();
  return {
    minute: String(open),
    base: total.join(' '),
    ...Object.fromEntries([...places('m', 1, 60), ...places('t', 10, 144)]),
  };
}

/** How many mailboxes' figures are asked for, besides comparing all of them in the store. */
const maxAsked = 50;

/** Where the figures of the space or of a mailbox differ: as stored, and as the service shows them. */
async function* figureDifferences(
  records: Records,
  world: World,
  happened: ReadonlyMap<string, Minutes>,
): AsyncGenerator<string> {
  const { store } = world.service;
  const space = await store.hgetall(`muster:{${world.org}}:${world.spaceId}`);
  const owners = [['', space] as const, ...records.of('mailbox')];
  const stored = readEach(owners, ([id]) =>
    store.hgetall(`${world.prefix}:${id === '' ? 'figures' : `mailbox:${id}:figures`}`),
  );
  const textOf = (fields: Hash): string => Object.entries(fields).sort().join('; ');
  let asked = 0;
  for await (const [[id, { figuresMinute = '0' }], figures] of stored) {
    const minutes: Minutes = happened.get(id) ?? new Map();
    const kept = textOf({ minute: figuresMinute, base: noFigures.join(' '), ...figures });
    const counted = textOf(countedFigures(minutes));
    if (kept !== counted) yield `figures of '${id}' are ${kept}, but ${counted} were counted`;
    if (asked++ > maxAsked) continue;
    const { body } = await world.get(`/figures${id === '' ? '' : `?mailboxId=${id}`}`);
    for (const [name, length] of [['minutes', 1] as const, ['tens', 10] as const]) {
      const periods = countedPeriods(minutes, length);
      for (const { at, ...shown } of body[name]) {
        const happenedThen = periods.get(Date.parse(at) / 60_000 / length) ?? noFigures;
        if (figureNames.some((figure, place) => shown[figure] !== happenedThen[place]))
          yield `figures of '${id}' at ${at} are ${JSON.stringify(shown)}, but ${happenedThen} were counted`;
      }
    }
  }
}

/** Where the ACKED messages that a mailbox shows are others than it keeps. */
async function* ackedDifferences(records: Records, messages: readonly Hash[], world: World): AsyncGenerator<string> {
  let asked = 0;
  for (const [id, { ackedRemoved }] of records.of('mailbox')) {
    if (asked++ > maxAsked) return;
    const { body } = await world.get(`/mailboxes/${id}`);
    // Of an earlier version, which did not count what retention removed.
    if (ackedRemoved === undefined && body.counts.acked === null) continue;
    const kept = messages.filter(({ mailboxId, state }) => mailboxId === id && state === 'ACKED').length;
    if (body.counts.acked !== kept) yield `mailbox ${id} shows ${body.counts.acked} ACKED messages, and keeps ${kept}`;
  }
}

/** A space's expected census, backlog, waits and counters, counted from its records. */
export async function recount(world: World) {
  const records = await Records.read(world);
  const all = records.all('message');
  const messages = all.filter((message) => message['mailboxId'] !== undefined);
  const withTask = all.filter((message) => message['taskId'] !== '');
  const scopes = countedScopes(records, messages);
  const notes = countedNotes(records);
  const timers = deadlines(records, messages, world.spaceNumber);
  const settling = records
    .all('reservation')
    .filter((one) => one['state'] === 'ACTIVE' && one['settleBy'] && one['overdue'] === undefined);
  const ids = (list: readonly Hash[]): string[] => list.map((one) => one['id'] ?? '');
  const inState = (state: string) => messages.filter((message) => message['state'] === state);
  const states = (kind: string) => records.all(kind).map(stateOf);
  const suspended = inState('BLOCKED').filter(({ blockedOn }) => blockedOn === 'SUSPENSION');
  const openQuestions = records.all('question').filter(({ state }) => state === 'OPEN');
  const { types, happened } = await countedJournal(world);
  const held = records.all('hold').filter(({ state }) => state === 'HELD');
  const live = [...messages.filter(isLive), ...waitingIn(records)];
  return {
    census: {
      scopes: tally(
        ['ACTIVE', 'IDLE', 'CANCELLED'],
        records
          .all('scope')
          .map(({ id = '', cancelledAt }) =>
            cancelledAt ? 'CANCELLED' : scopes.of(id, 'live') > 0 ? 'ACTIVE' : 'IDLE',
          ),
      ),
      claims: { HELD: inState('CLAIMED').length },
      timers: {
        ARMED: timers.length + settling.length + inState('DELAYED').length + openQuestions.length + suspended.length,
      },
      messages: tally(Object.keys(taskStates), messages.map(stateOf)),
      tasks: tally(
        [...new Set(Object.values(taskStates))],
        withTask.map((message) => taskStates[message['state'] ?? '']),
      ),
      groups: tally(['OPEN', 'SEALED', 'DECIDED'], states('group')),
      waiters: tally(['WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED'], states('waiter')),
      holds: tally(['WAITING', 'HELD', 'RELEASED', 'LAPSED', 'CANCELLED', 'EXPIRED'], states('hold')),
      questions: tally(['OPEN', 'ANSWERED', 'EXPIRED', 'WITHDRAWN'], states('question')),
      bulks: tally(['RUNNING', 'DONE', 'CANCELLED'], states('bulk')),
      barriers: tally(['OPEN', 'RELEASED', 'CANCELLED'], states('barrier')),
      reservations: tally(['ACTIVE', 'SETTLED', 'VOIDED'], states('reservation')),
      events: Object.fromEntries(
        product.events.flatMap(({ type, isCounted }) => (isCounted ? [[type, types.get(type) ?? 0]] : [])),
      ) as Record<string, number>,
      schedules: tally(['ACTIVE', 'PAUSED', 'ENDED'], states('schedule')),
    },
    retainedBytes:
      [...messages, ...records.all('question')].reduce((sum, { textBytes }) => sum + Number(textBytes), 0) +
      [...records.notes.keys()].reduce((sum, id) => sum + notes.of(id, 'noteBytes'), 0),
    figures: figureDifferences(records, world, happened),
    acked: ackedDifferences(records, messages, world),
    notes: notes.differences(records.of('scope'), noteCounters),
    unsoundNotes: unsoundNotes(records),
    activeRoots: new Set(live.map(({ scopeId }) => records.path(scopeId)[0])).size,
    scopes: scopes.differences(records.of('scope'), scopeCounters),
    ended: scopes.differences(records.of('scope'), [...endCounters.values()]),
    /** Retention has removed no message. */
    hasAllMessages:
      !types.has('mailbox.deleted') &&
      records.all('mailbox').reduce((sum, box) => sum + Number(box['goneTotal'] ?? 0), 0) ===
        messages.filter(({ packed }) => packed !== undefined).length,
    budgets: (hasAllReservations: boolean) => budgetDifferences(records, hasAllReservations),
    deadlines: timers,
    /** ACTIVE schedules, by their next moment. */
    nextSchedules: records
      .all('schedule')
      .flatMap(({ id, state, nextAt }) => (state === 'ACTIVE' ? [`${nextAt} ${id}`] : [])),
    pools: countedPools(records).differences(records.of('pool'), poolCounters),
    heldUnits: unitsOf(held),
    holdIds: (state: string) => ids(records.all('hold').filter((hold) => hold['state'] === state)),
    claimIds: ids(inState('CLAIMED')),
    waiterIds: ids(records.all('waiter').filter(({ state }) => state === 'WAITING')),
    /** Waiters whose grant's window has not ended. */
    heldGrantIds: (asOf: number) =>
      ids(
        records.all('waiter').filter((waiter) => {
          const windowMs = Number(records.of('allowance').get(waiter['allowanceId'] ?? '')?.['windowSeconds']) * 1000;
          const grantedAt = Number(waiter['grantedAt']);
          return waiter['state'] === 'GRANTED' && (Math.floor(grantedAt / windowMs) + 1) * windowMs > asOf;
        }),
      ),
    waitingTaskIds: ['READY', 'DELAYED', 'BLOCKED']
      .flatMap(inState)
      .filter((message) => message['taskId'] !== '')
      .map((message) => message['taskId'] ?? message['id'] ?? ''),
    records,
  };
}

/** Census, backlog, waits, usage and the organization's counters as the service reports them, in the shape of `recount`. */
export async function reported(world: World) {
  const { store } = world.service;
  const [census, backlog, waits, usage, org, timers, schedules, grants] = await Promise.all([
    world.get('/census'),
    world.get('/backlog'),
    world.get('/ops/waits'),
    world.get('/usage'),
    store.hgetall(`muster:{${world.org}}`),
    scoresOf(store, `muster:{${world.org}}:timers`),
    scoresOf(store, `muster:{${world.org}}:scheduleTimers`),
    scoresOf(store, `${world.prefix}:heldGrants`),
  ]);
  const { asOf, ...counts } = census.body;
  return {
    counts,
    backlog: backlog.body,
    waits: waits.body,
    retainedBytes: usage.body.days.at(-1).retainedBytes,
    org,
    timers,
    schedules,
    grants,
  };
}
