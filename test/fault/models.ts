import type { Model, Operation } from './history.ts';

/** A message as the claims on it see it. */
export interface Claimed {
  readonly state: string;
  readonly attempts: number;
  readonly token: string;
  /** Between these two moments the lease ends. */
  readonly endsAfter: number;
  readonly endsBefore: number;
}

const maxAttempts = 5;
/** Two clocks of one machine: the store's and that of the history. */
const clockMs = 20;

/** What a cancel or a requeue makes of a message that stands so; undefined: it is refused. */
function ended(claim: Claimed, kind: string): Claimed | undefined {
  const isLive = claim.state === 'READY' || claim.state === 'CLAIMED';
  const isOver = ['REJECTED', 'FAILED', 'CANCELLED'].includes(claim.state);
  if (kind === 'requeue') return isOver ? { ...claim, state: 'READY', attempts: 0, token: '' } : undefined;
  return isLive || claim.state === 'CANCELLED' ? { ...claim, state: 'CANCELLED', token: '' } : undefined;
}

/**
 * One message: READY, CLAIMED under one token at a time, finished once, and perhaps requeued. A lease ends by itself, not before its time
 * and not after it, where the store's clock is `steady`; at any time where it jumps.
 */
export function claimModel(clock: 'steady' | 'jumping' = 'steady'): Model<Claimed> {
  const initial = { state: 'NONE', attempts: 0, token: '', endsAfter: 0, endsBefore: 0 };
  const isSteady = clock === 'steady';
  const lapsed = (claim: Claimed): Claimed => ({
    ...claim,
    token: '',
    state: claim.attempts >= maxAttempts ? 'FAILED' : 'READY',
  });
  const leased = (claim: Claimed, { input, invokedAt, respondedAt }: Operation): Claimed => {
    const leaseMs = Number(input['leaseSeconds']) * 1000;
    return { ...claim, endsAfter: invokedAt + leaseMs - clockMs, endsBefore: respondedAt + leaseMs + clockMs };
  };
  /** What the message may have become by itself when the operation comes to it. */
  const before = (claim: Claimed, operation: Operation): Claimed[] => {
    if (claim.state !== 'CLAIMED') return [claim];
    const mayBeOver = !isSteady || operation.respondedAt >= claim.endsAfter;
    // A list may show for a second what has ended already.
    const isOver = isSteady && operation.invokedAt > claim.endsBefore + (operation.kind === 'look' ? 2_000 : 0);
    return [...(isOver ? [] : [claim]), ...(mayBeOver ? [lapsed(claim)] : [])];
  };
  const act = (claim: Claimed, operation: Operation): Claimed | undefined => {
    const { kind, input, value, outcome } = operation;
    const isMine = claim.state === 'CLAIMED' && claim.token === input['token'];
    const isSame = claim.state === 'ACKED' && claim.token === input['token'];
    if (kind === 'withdraw' || kind === 'requeue') {
      const after = ended(claim, kind);
      return outcome === 'refused' ? (after ? undefined : claim) : after;
    }
    if (outcome === 'refused') return isMine || (kind === 'complete' && isSame) ? undefined : claim;
    switch (kind) {
      case 'send':
        return claim.state === 'NONE' ? { ...claim, state: 'READY' } : undefined;
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
        const after = input['retry'] === 1 ? lapsed(claim) : { ...claim, state: 'REJECTED', token: '' };
        return outcome === 'unknown' || value['state'] === after.state ? after : undefined;
      }
      default:
        return claim.state === value['state'] && claim.attempts === value['attempts'] ? claim : undefined;
    }
  };
  return {
    initial,
    key: ({ state, attempts, token, endsAfter, endsBefore }) =>
      state === 'CLAIMED' ? [attempts, token, endsAfter, endsBefore].join() : `${state} ${attempts} ${token}`,
    step: (claim, operation) =>
      before(claim, operation).flatMap((possible) => act(possible, operation) ?? ([] as Claimed[])),
  };
}

/** A budget: what is left of each reservation by its id, and what was settled. */
export interface Purse {
  readonly settled: number;
  readonly remaining: Readonly<Record<string, number>>;
}

const reservedIn = (purse: Purse): number => Object.values(purse.remaining).reduce((sum, part) => sum + part, 0);

/** Reserve, the same again by its workKey, settle, void and look, with the balances that each answer carries. */
export function budgetModel(limit: number): Model<Purse> {
  const act = (purse: Purse, { id, kind, input, value, outcome }: Operation): Purse | undefined => {
    const amount = Number(input['amount']);
    const available = limit - purse.settled - reservedIn(purse);
    if (kind === 'look') return purse;
    if (kind === 'reserve') {
      if (outcome === 'refused') return amount > available ? purse : undefined;
      const made = outcome === 'ok' ? String(value['id']) : `of ${id}`;
      return amount > available ? undefined : { ...purse, remaining: { ...purse.remaining, [made]: amount } };
    }
    const reservation = String(input['reservation']);
    const left = purse.remaining[reservation];
    if (kind === 'reserve again') {
      const isFound = left !== undefined && (outcome !== 'ok' || value['found'] === reservation);
      return isFound && outcome !== 'refused' ? purse : undefined;
    }
    const isClosed = left === undefined || left === 0;
    if (outcome === 'refused') return isClosed || (kind === 'settle' && amount > left) ? purse : undefined;
    if (isClosed || (kind === 'settle' && amount > left)) return undefined;
    const rest = kind === 'settle' ? left - amount : 0;
    const settled = purse.settled + (kind === 'settle' ? amount : 0);
    return { settled, remaining: { ...purse.remaining, [reservation]: rest } };
  };
  return {
    initial: { settled: 0, remaining: {} },
    key: ({ settled, remaining }) => `${settled} ${Object.entries(remaining).sort().join(' ')}`,
    step: (purse, operation) => {
      const after = act(purse, operation);
      if (!after) return [];
      const { outcome, value } = operation;
      const isSo = value['reserved'] === reservedIn(after) && value['settled'] === after.settled;
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
