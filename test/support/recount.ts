import type { Redis } from 'ioredis';
import { type JournalEntry, Segment } from '../../src/event/segment.ts';
import { fieldsOf, hashOf, placeOfEntry } from '../../src/mailbox/packed.ts';
import { figureNames } from '../../src/metrics/message-figures.ts';
import { product } from '../../src/primitives.ts';
import { addressOf, type Store, serverOf, shardsOf } from '../../src/redis/cluster.ts';
import { journalOf } from './journal.ts';
import type { World } from './world.ts';

type Hash = Record<string, string>;

/** The names of the keys with a prefix. On a cluster they are in one slot, so only that slot is read. */
async function keysWith(prefix: string, store: Store): Promise<string[]> {
  if (addressOf(store, prefix) !== '') {
    const shard = serverOf(store, prefix) as Redis;
    const slot = Number(await shard.cluster('KEYSLOT', prefix));
    const names = await shard.cluster('GETKEYSINSLOT', slot, await shard.cluster('COUNTKEYSINSLOT', slot));
    return names.filter((name) => name.startsWith(prefix));
  }
  const names: string[] = [];
  for (const shard of shardsOf(store))
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const [next, found] = await shard.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1000);
      cursor = next;
      names.push(...found);
    }
  return names;
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
      /^(message|scope|group|task|waiter|allowance|pool|hold|barrier|budget|reservation|mailbox|schedule|question):([^:]+)$/;
    const read = async (key: string): Promise<void> => {
      const [, kind = '', id = ''] = one.exec(key.slice(prefix.length)) ?? [];
      const [, scopeId] = /^scope:([^:]+):noteTexts$/.exec(key.slice(prefix.length)) ?? [];
      if (scopeId !== undefined) records.notes.set(scopeId, await store.hgetall(key));
      if (kind !== '') records.of(kind).set(id, await store.hgetall(key));
      else records.others.add(key.slice(prefix.length));
    };
    await Promise.all((await keysWith(prefix, store)).map(read));
    await records.#addPacked(world);
    return records;
  }

  /** Adds the packed messages, read from the segments themselves; `packed` is the kind of their segment. */
  async #addPacked({ prefix, service: { store } }: World): Promise<void> {
    const messages = this.of('message');
    const isUnpacked = new Set(await store.zrange(`${prefix}:unpackedMessages`, '0', '-1'));
    for (const entry of await store.zrange(`${prefix}:messageSegments`, '0', '-1')) {
      const [, , number = '', , , kind = ''] = entry.split(' ');
      const key = `${prefix}:messageSegment:${number}`;
      const segment = await Segment.open(placeOfEntry(entry, key), await store.getBuffer(key));
      for (const line of segment.lines) {
        const id = line.slice(0, 36);
        const hash = hashOf(fieldsOf(line)) as Hash;
        if (kind === 'MESSAGES') this.named.push([hash['mailboxId'] ?? '', id]);
        if (!isUnpacked.has(id)) messages.set(id, { ...hash, packed: kind });
      }
    }
  }

  of(kind: string): Map<string, Hash> {
    const known = this.#kinds.get(kind) ?? new Map<string, Hash>();
    this.#kinds.set(kind, known);
    return known;
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
  ['waiter', 'hold'].flatMap((kind) => [...records.of(kind).values()].filter(({ state }) => state === 'WAITING'));

/** The scopes with live work in their subtrees. */
function activeScopes(records: Records, messages: readonly Hash[]): Set<string> {
  const active = new Set<string>();
  for (const live of [...messages.filter(isLive), ...waitingIn(records)]) {
    const path = records.of('scope').get(live['scopeId'] ?? '')?.['path'] ?? '';
    for (const scopeId of path.split(' ')) active.add(scopeId);
  }
  return active;
}

/** The states in which a message ends, each with its counter in a scope. */
const endStates = ['Acked', 'Rejected', 'Failed', 'Expired', 'Cancelled'].map(
  (name) => [name.toUpperCase(), `ended${name}`] as const,
);

/** Each scope's counters of its subtree: as stored, and as counted from the records. */
function countedScopes(records: Records, messages: readonly Hash[]) {
  const below = (id: string, found: Iterable<Hash>): number =>
    [...found].filter((one) =>
      records
        .of('scope')
        .get(one['scopeId'] ?? '')
        ?.['path']?.includes(id),
    ).length;
  const waiting = waitingIn(records);
  const active = [...records.of('reservation').values()].filter((one) => one['state'] === 'ACTIVE');
  const live = [...messages.filter(isLive), ...waiting];
  const scopes = [...records.of('scope')];
  return {
    reported: scopes.map(([, scope]) =>
      ['live', 'liveWaiters', 'activeReservations'].map((name) => Number(scope[name] ?? 0)),
    ),
    stored: scopes.map(([id]) => [below(id, live), below(id, waiting), below(id, active)]),
    ended: scopes.map(([, scope]) => endStates.map(([, field]) => Number(scope[field] ?? 0))),
    endedRecords: scopes.map(([id]) =>
      endStates.map(([state]) =>
        below(
          id,
          messages.filter((message) => message['state'] === state),
        ),
      ),
    ),
  };
}

/** Each budget's balances: as stored, and as the sum of its reservations and the budgets below it. */
function countedBudgets(records: Records) {
  const sum = (of: readonly Hash[], field: string): bigint =>
    of.reduce((total, one) => total + BigInt(one[field] ?? 0), 0n);
  const budgets = records.of('budget');
  return [...budgets].map(([id, { limitMinor = '', overdrawn = '0', settledBefore = '0', ...stored }]) => {
    const [reserved, settled, available] = ['reserved', 'settled', 'available'].map((name) =>
      BigInt(stored[name] ?? 0),
    );
    const own = [...records.of('reservation').values()].filter(({ budgetId = '' }) =>
      `${budgetId} ${budgets.get(budgetId)?.['line'] ?? ''}`.includes(id),
    );
    return {
      stored: { limitMinor, reserved, spent: (settled ?? 0n) + BigInt(settledBefore) + BigInt(overdrawn) },
      counted: {
        limitMinor: `${(reserved ?? 0n) + (settled ?? 0n) + (available ?? 0n)}`,
        reserved: sum(own, 'remainingMinor'),
        spent: sum(own, 'settledMinor'),
      },
    };
  });
}

const unitsOf = (holds: readonly Hash[]): number => holds.reduce((sum, { units }) => sum + Number(units), 0);

/** The units of a pool that CLAIMED messages hold. */
const claimedUnits = (records: Records, poolId: string): number =>
  [...records.of('message').values()]
    .flatMap(({ held }) => held?.split(' ') ?? [])
    .map((entry) => entry.split(':'))
    .reduce((sum, [id, units]) => sum + (id === poolId ? Number(units) : 0), 0);

/** Each pool's held units and requiring messages: as stored, and as counted from holds and messages. */
function countedPools(records: Records) {
  const held = [...records.of('hold').values()].filter(({ state }) => state === 'HELD');
  const pools = [...records.of('pool')];
  return {
    stored: pools.map(([, { heldUnits, requiredBy }]) => [Number(heldUnits ?? 0), Number(requiredBy ?? 0)]),
    counted: pools.map(([id]) => [
      unitsOf(held.filter(({ poolId }) => poolId === id)) + claimedUnits(records, id),
      [...records.of('message').values()].filter((one) => isLive(one) && one['required']?.includes(`p${id}:`)).length,
    ]),
  };
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

/** Each scope's counters of its notes: as stored, and as counted. Versions are distinct and at most the scope's. */
function countedNotes(records: Records) {
  const scopes = [...records.of('scope')].map(([id, scope]) => {
    const texts = records.notes.get(id) ?? {};
    const notes = Object.values(notesOf(texts));
    const versions = notes.map(({ version }) => version);
    const bytes = notes.map(({ value }) => Buffer.byteLength(value));
    return {
      stored: ['notes', 'noteBytes'].map((name) => Number(scope[name] ?? 0)),
      counted: [notes.length, bytes.reduce((sum, one) => sum + one, 0)],
      isSound:
        Object.keys(texts).length === 2 * notes.length &&
        new Set(versions).size === versions.length &&
        Math.max(0, ...versions) <= Number(scope['noteVersion'] ?? 0) &&
        notes.every((note, i) => note.bytes === bytes[i]),
    };
  });
  const lost = [...records.notes.keys()].filter((id) => !records.of('scope').has(id));
  return {
    stored: scopes.map(({ stored }) => stored),
    counted: scopes.map(({ counted }) => counted),
    isSound: lost.length === 0 && scopes.every(({ isSound }) => isSound),
  };
}

/** The organization's timers for the deadlines of live messages and undecided groups. */
function deadlines(records: Records, messages: readonly Hash[], spaceNumber: string): string[] {
  const live = messages.filter((message) => isLive(message) && message['deadline']);
  const groups = [...records.of('group')].filter(([, group]) => group['state'] !== 'DECIDED' && group['deadline']);
  const timers = live.map(({ id, deadline }) => `mailbox:message:${spaceNumber}:${id} ${deadline}`);
  return [...timers, ...groups.map(([id, group]) => `group:deadline:${spaceNumber}:${id} ${group['deadline']}`)].sort();
}

const minuteOf = (entryId: string): number => Math.floor(Number(entryId.split('-', 1)[0]) / 60_000);

/** The figures of each mailbox and of the space (named ''): as stored, and as counted from the journal. */
async function countedFigures(records: Records, world: World, journal: readonly JournalEntry[]) {
  const { store } = world.service;
  const happened = journal.flatMap(([entryId, [type, text]]) => {
    const place = figureNames.indexOf(type.replace('message.', '') as (typeof figureNames)[number]);
    const [, mailboxId = ''] = / mailboxId=(\S+)/.exec(text) ?? [];
    return type.startsWith('message.') && place >= 0 ? [{ minute: minuteOf(entryId), mailboxId, place }] : [];
  });
  type Happened = (typeof happened)[number];
  const tallied = (some: readonly Happened[]) =>
    figureNames.map((_, at) => some.filter(({ place }) => place === at).length);
  const kept: Record<string, object> = {};
  const counted: Record<string, object> = {};
  const space = await store.hgetall(`muster:{${world.org}}:${world.spaceId}`);
  for (const [id, record] of [['', space] as const, ...records.of('mailbox')]) {
    const key = id === '' ? 'figures' : `mailbox:${id}:figures`;
    const { base = figureNames.map(() => 0).join(' '), ...places } = await store.hgetall(`${world.prefix}:${key}`);
    const mine = happened.filter(({ mailboxId }) => id === '' || id === mailboxId);
    const open = Math.max(0, ...mine.map(({ minute }) => minute));
    const closed = mine.filter(({ minute }) => minute < open);
    const ofPeriods = (prefix: string, length: number, size: number): [string, string][] => {
      const periods = [...new Set(closed.map(({ minute }) => Math.floor(minute / length)))].sort((a, b) => a - b);
      return periods.map((period) => {
        const some = closed.filter(({ minute }) => Math.floor(minute / length) === period);
        return [`${prefix}${period % size}`, [period, ...tallied(some)].join(' ')];
      });
    };
    const { body } = await world.get(`/figures${id === '' ? '' : `?mailboxId=${id}`}`);
    const shown = (periods: readonly Record<string, number>[], length: number) =>
      periods.map((period) => [
        Date.parse(`${period['at']}`) / 60_000 / length,
        ...figureNames.map((name) => period[name]),
      ]);
    const happenedIn = (periods: readonly Record<string, number>[], length: number) =>
      shown(periods, length).map(([period]) => [
        period,
        ...tallied(mine.filter(({ minute }) => Math.floor(minute / length) === period)),
      ]);
    kept[id] = {
      minutes: shown(body.minutes, 1),
      tens: shown(body.tens, 10),
      minute: Number(record['figuresMinute'] ?? 0),
      base,
      places,
    };
    counted[id] = {
      minutes: happenedIn(body.minutes, 1),
      tens: happenedIn(body.tens, 10),
      minute: open,
      base: tallied(closed).join(' '),
      places: Object.fromEntries([...ofPeriods('m', 1, 60), ...ofPeriods('t', 10, 144)]),
    };
  }
  return { kept, counted };
}

/** How often each counted event type occurs in the journal. */
function countedEvents(journal: readonly JournalEntry[]): Record<string, number> {
  const types = product.events.flatMap(({ type, isCounted }) => (isCounted ? [type] : []));
  const counts = Object.fromEntries(types.map((type) => [type, 0]));
  for (const [, [type]] of journal) if (type in counts) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** A space's expected census, backlog, waits and counters, counted from its records. */
export async function recount(world: World) {
  const records = await Records.read(world);
  const all = [...records.of('message')].map(([id, message]): Hash => ({ id, ...message }));
  const messages = all.filter((message) => message['mailboxId'] !== undefined);
  const withTask = all.filter((message) => message['taskId'] !== '');
  const active = activeScopes(records, messages);
  const scopes = records.of('scope');
  const timers = deadlines(records, messages, world.spaceNumber);
  const settling = [...records.of('reservation').values()].filter(
    (one) => one['state'] === 'ACTIVE' && one['settleBy'] && one['overdue'] === undefined,
  );
  const ids = (list: readonly Hash[]): string[] => list.map((one) => one['id'] ?? '').sort();
  const inState = (state: string) => messages.filter((message) => message['state'] === state);
  const states = (kind: string) => [...records.of(kind).values()].map(stateOf);
  const openQuestions = [...records.of('question').values()].filter(({ state }) => state === 'OPEN');
  const journal = await journalOf(world);
  const events = countedEvents(journal);
  return {
    census: {
      scopes: tally(
        ['ACTIVE', 'IDLE', 'CANCELLED'],
        [...scopes].map(([id, scope]) => (scope['cancelledAt'] ? 'CANCELLED' : active.has(id) ? 'ACTIVE' : 'IDLE')),
      ),
      claims: { HELD: inState('CLAIMED').length },
      timers: { ARMED: timers.length + settling.length + inState('DELAYED').length + openQuestions.length },
      messages: tally(Object.keys(taskStates), messages.map(stateOf)),
      tasks: tally(
        [...new Set(Object.values(taskStates))],
        withTask.map((message) => taskStates[message['state'] ?? '']),
      ),
      groups: tally(['OPEN', 'SEALED', 'DECIDED'], states('group')),
      waiters: tally(['WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED'], states('waiter')),
      holds: tally(['WAITING', 'HELD', 'RELEASED', 'LAPSED', 'CANCELLED', 'EXPIRED'], states('hold')),
      questions: tally(['OPEN', 'ANSWERED', 'EXPIRED', 'WITHDRAWN'], states('question')),
      barriers: tally(['OPEN', 'RELEASED', 'CANCELLED'], states('barrier')),
      reservations: tally(['ACTIVE', 'SETTLED', 'VOIDED'], states('reservation')),
      events,
      schedules: tally(['ACTIVE', 'PAUSED', 'ENDED'], states('schedule')),
    },
    retainedBytes: [
      ...[...messages, ...records.of('question').values()].flatMap((one) =>
        ['payload', 'result', 'lastError', 'progress', 'question', 'answer'].map((name) => one[name] ?? ''),
      ),
      ...[...records.notes.values()].flatMap((texts) => Object.values(notesOf(texts)).map(({ value }) => value)),
    ].reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    figures: await countedFigures(records, world, journal),
    notes: countedNotes(records),
    activeRoots: [...active].filter((id) => !records.of('scope').get(id)?.['path']?.includes(' ')).length,
    scopes: countedScopes(records, messages),
    /** Retention has removed no message. */
    hasAllMessages:
      !journal.some(([, [type]]) => type === 'mailbox.deleted') &&
      [...records.of('mailbox').values()].reduce((sum, box) => sum + Number(box['goneTotal'] ?? 0), 0) ===
        messages.filter(({ packed }) => packed !== undefined).length,
    budgets: countedBudgets(records),
    deadlines: timers,
    /** ACTIVE schedules, by their next moment. */
    nextSchedules: [...records.of('schedule')]
      .flatMap(([id, { state, nextAt }]) => (state === 'ACTIVE' ? [`${nextAt} ${id}`] : []))
      .sort(),
    pools: countedPools(records),
    heldUnits: unitsOf([...records.of('hold').values()].filter(({ state }) => state === 'HELD')),
    holdIds: (state: string) =>
      [...records.of('hold')].flatMap(([id, hold]) => (hold['state'] === state ? [id] : [])).sort(),
    claimIds: ids(inState('CLAIMED')),
    waiterIds: [...records.of('waiter')].flatMap(([id, waiter]) => (waiter['state'] === 'WAITING' ? [id] : [])).sort(),
    /** Waiters whose grant's window has not ended. */
    heldGrantIds: (asOf: number) =>
      [...records.of('waiter')]
        .filter(([, waiter]) => {
          const windowMs = Number(records.of('allowance').get(waiter['allowanceId'] ?? '')?.['windowSeconds']) * 1000;
          const grantedAt = Number(waiter['grantedAt']);
          return waiter['state'] === 'GRANTED' && (Math.floor(grantedAt / windowMs) + 1) * windowMs > asOf;
        })
        .map(([id]) => id)
        .sort(),
    waitingTaskIds: ['READY', 'DELAYED', 'BLOCKED']
      .flatMap(inState)
      .filter((message) => message['taskId'] !== '')
      .map((message) => message['taskId'] ?? message['id'] ?? '')
      .sort(),
    records,
  };
}

/** Census, backlog, waits, usage and the organization's counters as the service reports them, in the shape of `recount`. */
export async function reported(world: World) {
  const [census, backlog, waits, usage, org, timers, schedules] = await Promise.all([
    world.get('/census'),
    world.get('/backlog'),
    world.get('/ops/waits'),
    world.get('/usage'),
    world.service.store.hgetall(`muster:{${world.org}}`),
    world.service.store.zrange(`muster:{${world.org}}:timers`, '0', '-1', 'WITHSCORES'),
    world.service.store.zrange(`muster:{${world.org}}:scheduleTimers`, '0', '-1', 'WITHSCORES'),
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
  };
}
