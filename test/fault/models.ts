import type { Model, Operation } from './history.ts';

/** A message as the claims on it see it. */
export interface Claimed {
  readonly state: string;
  readonly attempts: number;
  readonly token: string;
  /** Between these two moments the lease ends, or the delay. */
  readonly endsAfter: number;
  readonly endsBefore: number;
  readonly maxAttempts: number;
  /** Before it is ready again, where a nack does not say it. */
  readonly pauseMs: number;
  /** Of the last nack that gave one. */
  readonly error: string;
}

/** Two clocks of one machine: the store's and that of the history. */
const clockMs = 20;

/** READY from these moments on, or at once where that is no time. */
function waiting(claim: Claimed, delayMs: number, from: number, to: number): Claimed {
  const state = delayMs > 0 ? 'DELAYED' : 'READY';
  return { ...claim, state, token: '', endsAfter: from + delayMs - clockMs, endsBefore: to + delayMs + clockMs };
}

const isWaiting = ({ state }: Claimed): boolean => state === 'READY' || state === 'DELAYED';

/** What a cancel, a purge or a requeue makes of a message that stands so; undefined: it is refused, or passes over it. */
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

/**
 * One message: READY, perhaps after a delay, CLAIMED under one token at a time, finished once, and perhaps requeued. A lease
 * or a delay ends by itself, not before its time and a lease not after it, where the store's clock is `steady`; at any time
 * where it jumps.
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
      : released(claim, claim.pauseMs, claim.endsAfter + clockMs, claim.endsBefore - clockMs);
  const leased = (claim: Claimed, { input, invokedAt, respondedAt }: Operation): Claimed => {
    const leaseMs = Number(input['leaseSeconds']) * 1000;
    return { ...claim, endsAfter: invokedAt + leaseMs - clockMs, endsBefore: respondedAt + leaseMs + clockMs };
  };
  /** What the message may have become by itself when the operation comes to it. */
  const before = (claim: Claimed, operation: Operation): Claimed[] => {
    if (claim.state !== 'CLAIMED' && claim.state !== 'DELAYED') return [claim];
    const mayBeOver = !isSteady || operation.respondedAt >= claim.endsAfter;
    // A list may show for a second what has ended already.
    const isOver = isSteady && operation.invokedAt > claim.endsBefore + (operation.kind === 'look' ? 2_000 : 0);
    return [...(isOver ? [] : [claim]), ...(mayBeOver ? before(byItself(claim), operation) : [])];
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
    if (kind === 'withdraw' || kind === 'purged' || kind === 'requeue') {
      const after = ended(claim, operation);
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
      before(claim, operation).flatMap((possible) => act(possible, operation) ?? ([] as Claimed[])),
  };
}

/**
 * A budget, and one below it: what was settled of each, and what it is overdrawn by; what is left of each reservation by its
 * id, and the level that it was made at.
 */
export interface Purse {
  readonly settled: readonly number[];
  readonly overdrawn: readonly number[];
  readonly remaining: Readonly<Record<string, readonly [left: number, level: number]>>;
}

/** What is reserved at a level or below. */
const reservedIn = (purse: Purse, from: number): number =>
  Object.values(purse.remaining).reduce((sum, [left, level]) => sum + (level >= from ? left : 0), 0);

/**
 * Reserve, the same again by its workKey, settle, also with overrun, void and look, with the balances of the level that each
 * answer carries. limits: of each level, from the root down.
 */
export function budgetModel(...limits: readonly number[]): Model<Purse> {
  const availableAt = (purse: Purse, level: number): number =>
    (limits[level] ?? 0) - (purse.settled[level] ?? 0) - reservedIn(purse, level);
  const act = (purse: Purse, { id, kind, input, value, outcome }: Operation): Purse | undefined => {
    const amount = Number(input['amount']);
    if (kind === 'look') return purse;
    if (kind === 'reserve') {
      const level = Number(input['level'] ?? 0);
      const isShort = limits.some(
        (_, at) => at <= level && (amount > availableAt(purse, at) || (purse.overdrawn[at] ?? 0) > 0),
      );
      if (outcome === 'refused') return isShort ? purse : undefined;
      const reservation = outcome === 'ok' ? String(value['id']) : `of ${id}`;
      return isShort ? undefined : { ...purse, remaining: { ...purse.remaining, [reservation]: [amount, level] } };
    }
    const reservation = String(input['reservation']);
    const [left, level = 0] = purse.remaining[reservation] ?? [];
    if (kind === 'reserve again') {
      const isFound = left !== undefined && (outcome !== 'ok' || value['found'] === reservation);
      return isFound && outcome !== 'refused' ? purse : undefined;
    }
    const isClosed = left === undefined || left === 0;
    const exceeds = kind === 'settle' && input['overrun'] !== 1;
    if (outcome === 'refused') return isClosed || (exceeds && amount > left) ? purse : undefined;
    if (isClosed || (exceeds && amount > left)) return undefined;
    const after = kind === 'settle' ? Math.max(0, left - amount) : 0;
    const remaining = { ...purse.remaining, [reservation]: [after, level] as const };
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
      const after = act(purse, operation);
      if (!after) return [];
      const { outcome, value, input } = operation;
      const level = Number(input['level'] ?? 0);
      const isSo =
        value['reserved'] === reservedIn(after, level) &&
        value['settled'] === after.settled[level] &&
        value['overdrawn'] === after.overdrawn[level];
      return outcome === 'ok' && !isSo ? [] : [after];
    },
  };
}

/** A barrier of so many arrivals. */
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
