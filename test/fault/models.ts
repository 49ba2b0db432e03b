import type { Model, Operation } from './history.ts';

/** A message, from the point of view of its claims. */
export interface Claimed {
  readonly state: string;
  readonly attempts: number;
  readonly token: string;
  /** The lease, or the delay, ends between these two moments. */
  readonly endsAfter: number;
  readonly endsBefore: number;
  readonly maxAttempts: number;
  /** The pause before it is ready again, unless a nack sets one. */
  readonly pauseMs: number;
  /** The error of the last nack that gave one; `lease` if an attempt has ended by its lease since. */
  readonly error: string;
}

/** The tolerance between two clocks of one machine: the store's and the history's. */
const clockMs = 20;

/** A message sent or given back between `from` and `to`: DELAYED by `delayMs`, or READY if that is 0. */
function waiting(claim: Claimed, delayMs: number, from: number, to: number): Claimed {
  const state = delayMs > 0 ? 'DELAYED' : 'READY';
  return { ...claim, state, token: '', endsAfter: from + delayMs - clockMs, endsBefore: to + delayMs + clockMs };
}

const isWaiting = ({ state }: Claimed): boolean => state === 'READY' || state === 'DELAYED';

/** The message after a cancel, a purge or a requeue; undefined if the call is refused or passes over it. */
function ended(claim: Claimed, { kind, input, invokedAt, respondedAt }: Operation): Claimed | undefined {
  const isOver = ['REJECTED', 'FAILED', 'CANCELLED'].includes(claim.state);
  if (kind === 'requeue') {
    if (!isOver || (input['from'] ?? claim.state) !== claim.state) return undefined;
    return waiting({ ...claim, attempts: 0 }, Number(input['delayMs'] ?? 0), invokedAt, respondedAt);
  }
  if (kind === 'purged' && !isWaiting(claim)) return undefined;
  const isLive = isWaiting(claim) || claim.state === 'CLAIMED';
  return isLive || claim.state === 'CANCELLED' ? { ...claim, state: 'CANCELLED', token: '' } : undefined;
}

/** The message after a removal of some of those that have ended, which may have met it. */
function cleared(claim: Claimed): Claimed[] {
  const isOver = ['ACKED', 'REJECTED', 'FAILED', 'CANCELLED'].includes(claim.state);
  return isOver ? [claim, { ...claim, state: 'GONE', token: '' }] : [claim];
}

/**
 * One message: READY, perhaps after a delay, CLAIMED under one token at a time, finished once, and perhaps requeued or
 * removed (GONE). A lease or a delay ends by itself: neither early nor late if the store's clock is `steady`, at any
 * time if it jumps.
 */
export function claimModel(clock: 'steady' | 'jumping' = 'steady'): Model<Claimed> {
  const initial = {
    state: 'NONE',
    attempts: 0,
    token: '',
    endsAfter: 0,
    endsBefore: 0,
    maxAttempts: 5,
    pauseMs: 0,
    error: '',
  };
  const isSteady = clock === 'steady';
  const released = (claim: Claimed, delayMs: number, from: number, to: number): Claimed =>
    claim.attempts >= claim.maxAttempts ? { ...claim, token: '', state: 'FAILED' } : waiting(claim, delayMs, from, to);
  const byItself = (claim: Claimed): Claimed =>
    claim.state === 'DELAYED'
      ? { ...claim, state: 'READY' }
      : released({ ...claim, error: 'lease' }, claim.pauseMs, claim.endsAfter + clockMs, claim.endsBefore - clockMs);
  /** If the answer with a claim was lost, the service may know, and gives the message back as if nobody had received it. */
  const unheard = (claim: Claimed): Claimed[] =>
    claim.state === 'CLAIMED' && claim.token.startsWith('of ')
      ? [{ ...claim, attempts: claim.attempts - 1, state: 'READY', token: '' }]
      : [];
  const leased = (claim: Claimed, { input, invokedAt, respondedAt }: Operation): Claimed => {
    const leaseMs = Number(input['leaseSeconds']) * 1000;
    return { ...claim, endsAfter: invokedAt + leaseMs - clockMs, endsBefore: respondedAt + leaseMs + clockMs };
  };
  /** The states that the message may have reached by itself before the operation. */
  const before = (claim: Claimed, operation: Operation): Claimed[] => {
    if (claim.state !== 'CLAIMED' && claim.state !== 'DELAYED') return [claim];
    const mayBeOver = !isSteady || operation.respondedAt >= claim.endsAfter;
    // A list may show for a second a state that has already ended.
    const isOver = isSteady && operation.invokedAt > claim.endsBefore + (operation.kind === 'look' ? 2_000 : 0);
    return [...(isOver ? [] : [claim]), ...unheard(claim), ...(mayBeOver ? before(byItself(claim), operation) : [])];
  };
  const sent = (claim: Claimed, { input, invokedAt, respondedAt }: Operation): Claimed => {
    const [attempts, pauseMs] = [input['maxAttempts'] ?? claim.maxAttempts, input['pauseMs'] ?? 0].map(Number);
    const configured = { ...claim, maxAttempts: attempts ?? 0, pauseMs: pauseMs ?? 0 };
    return waiting(configured, Number(input['delayMs'] ?? 0), invokedAt, respondedAt);
  };
  const act = (claim: Claimed, operation: Operation): Claimed | undefined => {
    const { kind, input, value, outcome } = operation;
    const isMine = claim.state === 'CLAIMED' && claim.token === input['token'];
    const isSame = claim.state === 'ACKED' && claim.token === input['token'];
    const is = (after: Claimed): Claimed | undefined =>
      outcome === 'ok' && value['state'] !== undefined && value['state'] !== after.state ? undefined : after;
    if (kind === 'gone' || value['code'] === 'MESSAGE_NOT_FOUND') return claim.state === 'GONE' ? claim : undefined;
    if (kind === 'withdraw' || kind === 'purged' || kind === 'requeue') {
      const after = ended(claim, operation);
      return outcome === 'refused' ? (after ? undefined : claim) : after && is(after);
    }
    if (kind === 'take away') {
      const { invokedAt, respondedAt } = operation;
      const after =
        claim.state === 'CLAIMED'
          ? released({ ...claim, error: 'released' }, claim.pauseMs, invokedAt, respondedAt)
          : undefined;
      return outcome === 'refused' ? (after ? undefined : claim) : after && is(after);
    }
    if (outcome === 'refused') return isMine || (kind === 'complete' && isSame) ? undefined : claim;
    switch (kind) {
      case 'send':
        return claim.state === 'NONE' ? is(sent(claim, operation)) : undefined;
      case 'claim': {
        const attempts = claim.attempts + 1;
        if (claim.state !== 'READY' || (outcome === 'ok' && value['attempt'] !== attempts)) return undefined;
        const token = outcome === 'ok' ? String(value['token']) : `of ${operation.id}`;
        return leased({ ...claim, state: 'CLAIMED', attempts, token }, operation);
      }
      case 'renew':
        return isMine ? leased(claim, operation) : undefined;
      case 'complete':
        return isMine || isSame ? { ...claim, state: 'ACKED' } : undefined;
      case 'nack': {
        if (!isMine) return undefined;
        const reported = { ...claim, error: String(input['error'] ?? claim.error) };
        const delayMs = Number(input['delayMs'] ?? claim.pauseMs);
        const { invokedAt, respondedAt } = operation;
        if (input['countsAttempt'] === 0) {
          const untried = { ...reported, attempts: reported.attempts - 1 };
          return is(waiting(untried, Number(input['delayMs'] ?? 0), invokedAt, respondedAt));
        }
        if (input['retry'] === 1) return is(released(reported, delayMs, invokedAt, respondedAt));
        return is({ ...reported, state: 'REJECTED', token: '' });
      }
      default: {
        const isSo = claim.attempts === value['attempts'] && claim.error === (value['error'] ?? claim.error);
        return isSo ? is(claim) : undefined;
      }
    }
  };
  return {
    initial,
    key: ({ state, attempts, token, endsAfter, endsBefore, maxAttempts, pauseMs, error }) =>
      [
        ...[state, attempts, token, maxAttempts, pauseMs, error],
        ...(state === 'CLAIMED' || state === 'DELAYED' ? [endsAfter, endsBefore] : []),
      ].join(),
    step: (claim, operation) =>
      before(claim, operation).flatMap((possible) =>
        operation.kind === 'clear' ? cleared(possible) : (act(possible, operation) ?? []),
      ),
  };
}

/**
 * A budget, and one below it: the settled and the overdrawn amount of each. For each reservation by its id: the
 * remaining amount, the level at which it was made, and when the rest is settled (Infinity: never).
 */
export interface Purse {
  readonly settled: readonly number[];
  readonly overdrawn: readonly number[];
  readonly remaining: Readonly<Record<string, readonly [left: number, level: number, settlesAt: number]>>;
}

/** The amount reserved at a level or below. */
const reservedIn = (purse: Purse, from: number): number =>
  Object.values(purse.remaining).reduce((sum, [left, level]) => sum + (level >= from ? left : 0), 0);

/**
 * Operations: reserve, reserve again by workKey, settle (also with overrun), void and look (also with an expected
 * reserved amount). Each answer carries the balances of its level. A reservation may settle its rest by itself. limits: of
 * each level, from the root down.
 */
export function budgetModel(limits: readonly number[], clock: 'steady' | 'jumping' = 'steady'): Model<Purse> {
  const isSteady = clock === 'steady';
  const settledRest = (purse: Purse, reservation: string): Purse => {
    const [left = 0, level = 0, settlesAt = 0] = purse.remaining[reservation] ?? [];
    return {
      ...purse,
      settled: purse.settled.map((settled, at) => settled + (at <= level ? left : 0)),
      remaining: { ...purse.remaining, [reservation]: [0, level, settlesAt] },
    };
  };
  /** The states that the purse may have reached by itself before the operation: overdue reservations are settled in order. */
  const before = (purse: Purse, { kind, invokedAt, respondedAt }: Operation): Purse[] => {
    const due = Object.entries(purse.remaining)
      .filter(
        ([, [left, , at]]) => left > 0 && at < Number.POSITIVE_INFINITY && (!isSteady || respondedAt >= at - clockMs),
      )
      .sort(([, [, , one]], [, [, , other]]) => one - other);
    // A list may show for a second what is already over.
    const isOver = (at: number): boolean => isSteady && invokedAt > at + clockMs + (kind === 'look' ? 2_000 : 0);
    const states: Purse[] = [];
    let state = purse;
    for (const [reservation, [, , at]] of due) {
      if (!isOver(at)) states.push(state);
      state = settledRest(state, reservation);
    }
    return [...states, state];
  };
  const availableAt = (purse: Purse, level: number): number =>
    (limits[level] ?? 0) - (purse.settled[level] ?? 0) - reservedIn(purse, level);
  const act = (purse: Purse, { id, kind, input, value, outcome, respondedAt }: Operation): Purse | undefined => {
    const amount = Number(input['amount']);
    if (kind === 'look') {
      const expected = input['expected'];
      const isMet = expected === undefined || expected === reservedIn(purse, Number(input['level'] ?? 0));
      return isMet === (outcome !== 'refused') ? purse : undefined;
    }
    if (kind === 'reserve') {
      const level = Number(input['level'] ?? 0);
      const isShort = limits.some(
        (_, at) => at <= level && (amount > availableAt(purse, at) || (purse.overdrawn[at] ?? 0) > 0),
      );
      const settlesAt = Number(input['settlesAt'] ?? Number.POSITIVE_INFINITY);
      // Its settleBy may have passed while it was repeated.
      const isLate = !isSteady ? 'settlesAt' in input : respondedAt >= settlesAt - clockMs;
      if (outcome === 'refused') return isShort || isLate ? purse : undefined;
      const reservation = outcome === 'ok' ? String(value['id']) : `of ${id}`;
      const made = { ...purse.remaining, [reservation]: [amount, level, settlesAt] as const };
      return isShort ? undefined : { ...purse, remaining: made };
    }
    const reservation = String(input['reservation']);
    const [left, level = 0, settlesAt = Number.POSITIVE_INFINITY] = purse.remaining[reservation] ?? [];
    if (kind === 'reserve again') {
      const isFound = left !== undefined && (outcome !== 'ok' || value['found'] === reservation);
      return isFound && outcome !== 'refused' ? purse : undefined;
    }
    const isClosed = left === undefined || left === 0;
    const exceeds = kind === 'settle' && input['overrun'] !== 1;
    if (outcome === 'refused') return isClosed || (exceeds && amount > left) ? purse : undefined;
    if (isClosed || (exceeds && amount > left)) return undefined;
    const after = kind === 'settle' ? Math.max(0, left - amount) : 0;
    const remaining = { ...purse.remaining, [reservation]: [after, level, settlesAt] as const };
    if (kind === 'void') return { ...purse, remaining };
    const above = Math.max(0, amount - left);
    const beyond = limits.map((_, at) => (at <= level ? Math.max(0, above - availableAt(purse, at)) : 0));
    const spent = (at: number): number => (at <= level ? amount - (beyond[at] ?? 0) : 0);
    return {
      settled: purse.settled.map((settled, at) => settled + spent(at)),
      overdrawn: purse.overdrawn.map((overdrawn, at) => overdrawn + (beyond[at] ?? 0)),
      remaining,
    };
  };
  return {
    initial: { settled: limits.map(() => 0), overdrawn: limits.map(() => 0), remaining: {} },
    key: ({ settled, overdrawn, remaining }) => `${settled} ${overdrawn} ${Object.entries(remaining).sort().join(' ')}`,
    step: (purse, operation) => {
      const { outcome, value, input } = operation;
      const level = Number(input['level'] ?? 0);
      return before(purse, operation).flatMap((possible) => {
        const after = act(possible, operation);
        if (!after) return [];
        const isSo =
          value['reserved'] === reservedIn(after, level) &&
          value['settled'] === after.settled[level] &&
          value['overdrawn'] === after.overdrawn[level];
        return outcome === 'ok' && !isSo ? [] : [after];
      });
    },
  };
}

/** An allowance: the used units, and for each consumption by its id the units taken and the units settled. */
interface Gauge {
  readonly used: number;
  readonly taken: Readonly<Record<string, number>>;
  readonly settled: Readonly<Record<string, number>>;
}

/** Consume, settle, observe and look, with the available units that each answer carries. */
export function gaugeModel(limit: number): Model<Gauge> {
  const act = (gauge: Gauge, { id, kind, input, value, outcome }: Operation): Gauge | undefined => {
    const isRefused = outcome === 'refused';
    const units = Number(input['units']);
    if (kind === 'take') {
      const isShort = gauge.used + units > limit;
      if (isShort || isRefused) return isShort && outcome !== 'ok' ? gauge : undefined;
      const taken = { ...gauge.taken, [String(value['id'] ?? `of ${id}`)]: units };
      return { ...gauge, used: gauge.used + units, taken };
    }
    if (kind === 'correct') {
      const consumption = String(input['consumption']);
      const before = gauge.settled[consumption];
      if (before !== undefined) return isRefused === (before !== units) ? gauge : undefined;
      const taken = gauge.taken[consumption];
      if (taken === undefined || isRefused) return undefined;
      const settled = { ...gauge.settled, [consumption]: units };
      return { ...gauge, used: gauge.used + units - taken, settled };
    }
    if (kind === 'observe') return { ...gauge, used: Math.max(gauge.used, limit - Number(input['remaining'])) };
    return gauge;
  };
  return {
    initial: { used: 0, taken: {}, settled: {} },
    key: ({ used, taken, settled }) =>
      [used, ...[taken, settled].map((all) => Object.entries(all).sort().join(' '))].join('; '),
    step: (gauge, operation) => {
      const after = act(gauge, operation);
      const isSo =
        after && (operation.outcome !== 'ok' || operation.value['available'] === Math.max(0, limit - after.used));
      return isSo ? [after] : [];
    },
  };
}

/** The notes of a scope: its count of puts, and the version and value of each note by its key. */
interface Notes {
  readonly puts: number;
  readonly notes: Readonly<Record<string, readonly [version: number, value: number]>>;
}

/** Registers with compare-and-set: put, delete, read, and a look at all of them; the count of puts gives the versions. */
export function notesModel(): Model<Notes> {
  const put = ({ puts, notes }: Notes, key: string, value: number): Notes => ({
    puts: puts + 1,
    notes: { ...notes, [key]: [puts + 1, value] },
  });
  const without = ({ puts, notes }: Notes, key: string): Notes => {
    const { [key]: _, ...others } = notes;
    return { puts, notes: others };
  };
  const act = (all: Notes, { kind, input, value, outcome }: Operation): Notes | undefined => {
    const key = String(input['key']);
    const [version, stored] = all.notes[key] ?? [0, 0];
    const isMet = input['ifVersion'] === undefined || input['ifVersion'] === version;
    if (kind === 'read note') {
      if (outcome === 'refused') return version === 0 ? all : undefined;
      return outcome === 'unknown' || (value['version'] === version && value['value'] === stored) ? all : undefined;
    }
    if (kind === 'look') {
      const isSo = Object.entries(all.notes).every(([one, [v, s]]) => value[one] === `${v} ${s}`);
      return isSo && Object.keys(value).length === Object.keys(all.notes).length ? all : undefined;
    }
    if (kind === 'delete note') {
      if (outcome === 'refused')
        return value['code'] === (version === 0 ? 'NOTE_NOT_FOUND' : isMet ? '' : 'VERSION_CONFLICT') ? all : undefined;
      return version > 0 && isMet ? without(all, key) : undefined;
    }
    if (outcome === 'refused') return isMet ? undefined : all;
    const after = put(all, key, Number(input['value']));
    return isMet && (outcome === 'unknown' || value['version'] === after.puts) ? after : undefined;
  };
  return {
    initial: { puts: 0, notes: {} },
    key: ({ puts, notes }) => `${puts} ${JSON.stringify(Object.entries(notes).sort())}`,
    step: (all, operation) => [act(all, operation) ?? []].flat(),
  };
}

/** A barrier: its epoch, and the keys that have arrived in it. */
interface Meeting {
  readonly epoch: number;
  readonly keys: readonly string[];
}

/** Arrive, nextEpoch and look, with the epoch and the arrivals that each answer carries. */
export function barrierModel(target: number): Model<Meeting> {
  const act = ({ epoch, keys }: Meeting, { kind, input, outcome }: Operation): Meeting | undefined => {
    const isReleased = keys.length === target;
    if (kind === 'look') return { epoch, keys };
    if (kind === 'nextEpoch') {
      if (outcome === 'refused') return isReleased ? undefined : { epoch, keys };
      return isReleased ? { epoch: epoch + 1, keys: [] } : undefined;
    }
    const key = String(input['key']);
    const isHere = keys.includes(key);
    if (outcome === 'refused') return isReleased && !isHere ? { epoch, keys } : undefined;
    if (isHere) return { epoch, keys };
    return isReleased ? undefined : { epoch, keys: [...keys, key].sort() };
  };
  return {
    initial: { epoch: 1, keys: [] },
    key: ({ epoch, keys }) => `${epoch} ${keys.join()}`,
    step: (meeting, operation) => {
      const after = act(meeting, operation);
      if (!after) return [];
      const { outcome, value } = operation;
      const isSo = value['epoch'] === after.epoch && value['arrivals'] === after.keys.length;
      return outcome === 'ok' && !isSo ? [] : [after];
    },
  };
}

/** A pool of one unit: its holder, and the greatest fence given so far. */
interface Lock {
  /** The id of the hold; '' if it is free. */
  readonly holder: string;
  /** The hold that was released last. */
  readonly released: string;
  readonly fence: number;
  /** Between these two moments the lease ends. */
  readonly endsAfter: number;
  readonly endsBefore: number;
}

/**
 * Acquires that do not wait, renewals, releases and looks: one holder at a time, each with a greater fence. A lease
 * ends by itself: neither early nor late if the store's clock is `steady`, at any time if it jumps.
 */
export function lockModel(clock: 'steady' | 'jumping' = 'steady'): Model<Lock> {
  const isSteady = clock === 'steady';
  const free = (lock: Lock): Lock => ({ ...lock, holder: '', endsAfter: 0, endsBefore: 0 });
  const leased = (lock: Lock, { input, invokedAt, respondedAt }: Operation): Lock => {
    const leaseMs = Number(input['leaseSeconds']) * 1000;
    return { ...lock, endsAfter: invokedAt + leaseMs - clockMs, endsBefore: respondedAt + leaseMs + clockMs };
  };
  /** The states that the lock may have reached by itself before the operation. */
  const before = (lock: Lock, operation: Operation): Lock[] => {
    if (lock.holder === '') return [lock];
    const mayBeOver = !isSteady || operation.respondedAt >= lock.endsAfter;
    // A read may show for a second what has ended already.
    const isOver = isSteady && operation.invokedAt > lock.endsBefore + (operation.kind === 'look' ? 2_000 : 0);
    return [...(isOver ? [] : [lock]), ...(mayBeOver ? [free(lock)] : [])];
  };
  const act = (lock: Lock, operation: Operation): Lock | undefined => {
    const { id, kind, input, value, outcome } = operation;
    const isMine = lock.holder !== '' && lock.holder === input['hold'];
    if (kind === 'look') return value['heldUnits'] === (lock.holder === '' ? 0 : 1) ? lock : undefined;
    if (kind === 'hold') {
      if (outcome === 'refused') return lock.holder === '' ? undefined : lock;
      if (lock.holder !== '') return undefined;
      // The journal may know the fence of an acquire whose answer was lost.
      const fence = Number(value['fence'] ?? lock.fence + 1);
      if (fence <= lock.fence) return undefined;
      return leased({ ...lock, holder: String(value['id'] ?? `of ${id}`), fence }, operation);
    }
    if (kind === 'renew')
      return outcome === 'refused' ? (isMine ? undefined : lock) : isMine ? leased(lock, operation) : undefined;
    const isAgain = lock.released === input['hold'];
    if (outcome === 'refused') return isMine || isAgain ? undefined : lock;
    if (isAgain) return lock;
    return isMine ? { ...free(lock), released: String(input['hold']) } : undefined;
  };
  return {
    initial: { holder: '', released: '', fence: 0, endsAfter: 0, endsBefore: 0 },
    key: ({ holder, released, fence, endsAfter, endsBefore }) =>
      [holder, released, fence, ...(holder === '' ? [] : [endsAfter, endsBefore])].join(),
    step: (lock, operation) =>
      before(lock, operation).flatMap((possible) => act(possible, operation) ?? ([] as Lock[])),
  };
}

interface Place {
  readonly state: string;
  /** Between these two moments it expires, unless it is granted before. */
  readonly endsAfter: number;
  readonly endsBefore: number;
}

/** A place in the queue of a pool: its units may be granted at any time; else it is left, or expires unless it is renewed. */
export function placeModel(clock: 'steady' | 'jumping' = 'steady'): Model<Place> {
  const isSteady = clock === 'steady';
  const until = (place: Place, { input, invokedAt, respondedAt }: Operation): Place => {
    const ms = Number(input['ttlSeconds']) * 1000;
    return { ...place, endsAfter: invokedAt + ms - clockMs, endsBefore: respondedAt + ms + clockMs };
  };
  /** The states that it may have reached by itself before the operation. */
  const before = (place: Place, operation: Operation): Place[] => {
    if (place.state !== 'WAITING') return [place];
    const mayBeOver = !isSteady || operation.respondedAt >= place.endsAfter;
    const isOver = isSteady && operation.invokedAt > place.endsBefore + (operation.kind === 'look' ? 2_000 : 0);
    const granted = { ...place, state: 'GRANTED' };
    return [...(isOver ? [] : [place]), granted, ...(mayBeOver ? [{ ...place, state: 'EXPIRED' }] : [])];
  };
  const act = (place: Place, operation: Operation): Place | undefined => {
    const { kind, outcome, value } = operation;
    const { state } = place;
    if (kind === 'look') return value['state'] === state ? place : undefined;
    if (kind === 'stand')
      return until({ ...place, state: value['state'] === 'HELD' ? 'GRANTED' : 'WAITING' }, operation);
    if (outcome === 'refused')
      return state === 'WAITING' || (kind === 'leave' && state === 'CANCELLED') ? undefined : place;
    if (kind === 'stay') return state === 'WAITING' ? until(place, operation) : undefined;
    return state === 'WAITING' || state === 'CANCELLED' ? { ...place, state: 'CANCELLED' } : undefined;
  };
  return {
    initial: { state: 'NONE', endsAfter: 0, endsBefore: 0 },
    key: ({ state, endsAfter, endsBefore }) => [state, endsAfter, endsBefore].join(),
    step: (place, operation) =>
      before(place, operation).flatMap((possible) => act(possible, operation) ?? ([] as Place[])),
  };
}

interface Asked {
  readonly state: string;
  readonly answer: string;
  /** Between these two moments it expires. */
  readonly endsAfter: number;
  readonly endsBefore: number;
}

/** A question: OPEN once it is asked, then answered by one caller, withdrawn, or expired by itself. */
export function questionModel(clock: 'steady' | 'jumping' = 'steady'): Model<Asked> {
  const isSteady = clock === 'steady';
  /** The states that it may have reached by itself before the operation. */
  const before = (asked: Asked, operation: Operation): Asked[] => {
    if (asked.state !== 'OPEN') return [asked];
    const mayBeOver = !isSteady || operation.respondedAt >= asked.endsAfter;
    // A read may show for a second what has ended already.
    const isOver = isSteady && operation.invokedAt > asked.endsBefore + (operation.kind === 'look' ? 2_000 : 0);
    return [...(isOver ? [] : [asked]), ...(mayBeOver ? [{ ...asked, state: 'EXPIRED' }] : [])];
  };
  const act = (asked: Asked, { kind, input, value, outcome, invokedAt, respondedAt }: Operation): Asked | undefined => {
    if (kind === 'look') return value['state'] === asked.state && value['answer'] === asked.answer ? asked : undefined;
    if (kind === 'ask') {
      const openMs = Number(input['expiresInSeconds']) * 1000;
      const ends = { endsAfter: invokedAt + openMs - clockMs, endsBefore: respondedAt + openMs + clockMs };
      return asked.state === 'NONE' ? { ...asked, state: 'OPEN', ...ends } : undefined;
    }
    if (kind === 'withdraw question') {
      const isAlone = asked.state === 'OPEN' || asked.state === 'WITHDRAWN';
      return isAlone === (outcome !== 'refused') ? { ...asked, state: isAlone ? 'WITHDRAWN' : asked.state } : undefined;
    }
    if (outcome === 'refused') return asked.state === 'OPEN' ? undefined : asked;
    if (kind === 'link') return asked.state === 'OPEN' ? asked : undefined;
    return asked.state === 'OPEN' ? { ...asked, state: 'ANSWERED', answer: String(input['answer']) } : undefined;
  };
  return {
    initial: { state: 'NONE', answer: '', endsAfter: 0, endsBefore: 0 },
    key: ({ state, answer, endsAfter, endsBefore }) => [state, answer, endsAfter, endsBefore].join(),
    step: (asked, operation) =>
      before(asked, operation).flatMap((possible) => act(possible, operation) ?? ([] as Asked[])),
  };
}
