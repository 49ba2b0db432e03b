import { expect } from 'chai';
import fc from 'fast-check';
import { check, shortest } from '../fault/checker.ts';
import { composed, type Model, type Operation, tied } from '../fault/history.ts';
import {
  barrierModel,
  budgetModel,
  claimModel,
  gaugeModel,
  lockModel,
  notesModel,
  placeModel,
  questionModel,
} from '../fault/models.ts';

type Values = Record<string, string | number>;
let operations = 0;

function operation(kind: string, [from, to]: [number, number], input: Values, value: Values | string): Operation {
  const refused = typeof value === 'string';
  const outcome = to === Number.POSITIVE_INFINITY ? 'unknown' : refused ? 'refused' : 'ok';
  const answer = refused ? { code: value } : value;
  const id = String(operations++);
  return { id, client: 1, kind, object: 'x', input, invokedAt: from, respondedAt: to, outcome, value: answer };
}

const send = operation('send', [0, 1], {}, {});
const claim = (at: [number, number], token: string, attempt: number): Operation =>
  operation('claim', at, { leaseSeconds: 5 }, { token, attempt });
const complete = (at: [number, number], token: string, value: Values | string = {}): Operation =>
  operation('complete', at, { token }, value);
const lost = Number.POSITIVE_INFINITY;

describe('The linearizability checker, on locks', () => {
  const hold = (at: [number, number], id: string, fence: number): Operation =>
    operation('hold', at, { leaseSeconds: 5 }, { id, fence });
  const refused = (at: [number, number]): Operation => operation('hold', at, { leaseSeconds: 5 }, 'POOL_EXHAUSTED');
  const release = (at: [number, number], hold: string, value: Values | string = {}): Operation =>
    operation('release', at, { hold, leaseSeconds: 5 }, value);
  const renew = (at: [number, number], hold: string, value: Values | string = {}): Operation =>
    operation('renew', at, { hold, leaseSeconds: 5 }, value);
  const verdict = (...history: Operation[]) => check(lockModel(), history);

  it('accepts one holder after the other, with greater fences', () => {
    expect(verdict(hold([0, 1], 'a', 7), refused([2, 3]), release([4, 5], 'a'), hold([6, 7], 'b', 8))).to.equal(
      'linearizable',
    );
    expect(verdict(hold([0, 9], 'a', 7), release([0, 9], 'a'), hold([0, 9], 'b', 8))).to.equal('linearizable');
    expect(verdict(hold([0, 1], 'a', 7), release([2, 3], 'a'), release([4, 5], 'a'))).to.equal('linearizable');
  });

  it('finds two holders at once, a fence that went back, and a lock that is refused though free', () => {
    expect(verdict(hold([0, 1], 'a', 7), hold([2, 3], 'b', 8))).to.equal('violation');
    expect(verdict(hold([0, 1], 'a', 7), release([2, 3], 'a'), hold([4, 5], 'b', 7))).to.equal('violation');
    expect(verdict(hold([0, 1], 'a', 7), release([2, 3], 'a'), refused([4, 5]))).to.equal('violation');
    expect(verdict(hold([0, 1], 'a', 7), release([2, 3], 'a', 'CLAIM_LOST'))).to.equal('violation');
  });

  it('allows a lease to end by itself, not too early and not too late; a renewal puts it off', () => {
    const first = hold([0, 1], 'a', 7);
    expect(verdict(first, hold([5010, 5020], 'b', 8), release([5030, 5031], 'a', 'CLAIM_LOST'))).to.equal(
      'linearizable',
    );
    expect(verdict(first, hold([4000, 4010], 'b', 8))).to.equal('violation');
    expect(verdict(first, release([5500, 5501], 'a'))).to.equal('violation');
    expect(verdict(first, renew([4000, 4001], 'a'), refused([8000, 8001]))).to.equal('linearizable');
    expect(verdict(first, renew([4000, 4001], 'a'), hold([8000, 8001], 'b', 8))).to.equal('violation');
    expect(check(lockModel('jumping'), [first, hold([4000, 4010], 'b', 8)])).to.equal('linearizable');
  });

  it('takes an acquire whose answer was lost as one that happened, or not', () => {
    const lostHold = operation('hold', [0, lost], { leaseSeconds: 5 }, {});
    expect(verdict(lostHold, refused([2, 3]))).to.equal('linearizable');
    expect(verdict(lostHold, hold([2, 3], 'b', 8))).to.equal('linearizable');
    const look = (heldUnits: number): Operation => operation('look', [99, 100], {}, { heldUnits });
    expect(verdict(hold([0, 1], 'a', 7), look(1))).to.equal('linearizable');
    expect(verdict(hold([0, 1], 'a', 7), look(0))).to.equal('violation');
  });
});

describe('The linearizability checker, on places in line', () => {
  const place = (kind: string, at: [number, number], value: Values | string = {}): Operation =>
    operation(kind, at, { ttlSeconds: 5 }, value);
  const stand = place('stand', [0, 1], { state: 'WAITING' });
  const look = (state: string, at: [number, number] = [99_000, 99_001]): Operation => place('look', at, { state });
  const verdict = (...history: Operation[]) => check(placeModel(), [stand, ...history]);

  it('accepts a place that is granted, left, or over in time, and one that is renewed before that', () => {
    expect(verdict(place('stay', [2, 3], 'HOLD_NOT_WAITING'), look('GRANTED'))).to.equal('linearizable');
    expect(verdict(place('leave', [2, 3]), place('leave', [4, 5]), look('CANCELLED'))).to.equal('linearizable');
    expect(verdict(place('stay', [4000, 4001]), place('stay', [8000, 8001]), look('EXPIRED'))).to.equal('linearizable');
  });

  it('finds a place that outlives its time, or ends before it, and one that is renewed when it was over', () => {
    expect(verdict(place('stay', [5500, 5501]))).to.equal('violation');
    expect(verdict(place('stay', [2, 3], 'HOLD_NOT_WAITING'), look('EXPIRED'))).to.equal('violation');
    expect(verdict(place('stay', [4000, 4001]), look('EXPIRED', [6000, 6001]))).to.equal('violation');
    expect(verdict(place('leave', [2, 3]), place('stay', [4, 5]))).to.equal('violation');
    expect(verdict(place('leave', [2, 3]), look('GRANTED'))).to.equal('violation');
  });
});

describe('The linearizability checker, on allowances', () => {
  const take = (at: [number, number], id: string, units: number, available: number | string): Operation =>
    operation('take', at, { units }, typeof available === 'string' ? available : { id, available });
  const correct = (at: [number, number], consumption: string, units: number, available: number | string): Operation =>
    operation('correct', at, { consumption, units }, typeof available === 'string' ? available : { available });
  const observe = (at: [number, number], remaining: number, available: number): Operation =>
    operation('observe', at, { remaining }, { available });
  const verdict = (...history: Operation[]) => check(gaugeModel(10), history);

  it('accepts what was really used, over the limit too, and what the provider says is left', () => {
    const first = take([0, 1], 'a', 4, 6);
    expect(verdict(first, correct([2, 3], 'a', 1, 9), correct([4, 5], 'a', 1, 9))).to.equal('linearizable');
    expect(verdict(first, correct([2, 3], 'a', 12, 0), take([4, 5], '', 1, 'ALLOWANCE_EXHAUSTED'))).to.equal(
      'linearizable',
    );
    expect(verdict(first, observe([2, 3], 2, 2), correct([4, 5], 'a', 3, 3))).to.equal('linearizable');
    expect(verdict(take([0, 9], 'a', 4, 3), take([0, 9], 'b', 3, 7))).to.equal('linearizable');
    expect(verdict(operation('take', [0, lost], { units: 8 }, {}), take([2, 3], 'b', 3, 7))).to.equal('linearizable');
  });

  it('finds units that are spent twice, given back twice, or refused though there', () => {
    const first = take([0, 1], 'a', 4, 6);
    expect(verdict(first, take([2, 3], 'b', 4, 6))).to.equal('violation');
    expect(verdict(first, take([2, 3], 'b', 7, 0))).to.equal('violation');
    expect(verdict(first, correct([2, 3], 'a', 1, 9), correct([4, 5], 'a', 2, 8))).to.equal('violation');
    expect(verdict(first, correct([2, 3], 'a', 1, 9), correct([4, 5], 'a', 1, 10))).to.equal('violation');
    expect(verdict(first, take([2, 3], '', 6, 'ALLOWANCE_EXHAUSTED'))).to.equal('violation');
    expect(verdict(first, observe([2, 3], 8, 8))).to.equal('violation');
    expect(verdict(first, operation('look', [9, 10], {}, { available: 10 }))).to.equal('violation');
  });
});

describe('The linearizability checker, on questions', () => {
  const asked = operation('ask', [0, 1], { expiresInSeconds: 5 }, {});
  const answer = (at: [number, number], answer: string, value: Values | string = {}): Operation =>
    operation('answer', at, { answer }, value);
  const look = (at: [number, number], state: string, answer = ''): Operation =>
    operation('look', at, {}, { state, answer });
  const verdict = (...history: Operation[]) => check(questionModel(), [asked, ...history]);

  it('accepts one answer, whoever is refused, and shows it from then on', () => {
    const refused = answer([2, 9], 'b', 'QUESTION_CLOSED');
    expect(verdict(answer([2, 9], 'a'), refused, look([10, 11], 'ANSWERED', 'a'))).to.equal('linearizable');
    expect(verdict(look([2, 3], 'OPEN'), answer([2, lost], 'a'), look([10, 11], 'ANSWERED', 'a'))).to.equal(
      'linearizable',
    );
  });

  it('finds an answer that is given twice, lost, another, or refused for nothing', () => {
    expect(verdict(answer([2, 3], 'a'), answer([4, 5], 'b'))).to.equal('violation');
    expect(verdict(answer([2, 3], 'a'), look([4, 5], 'OPEN'))).to.equal('violation');
    expect(verdict(answer([2, 3], 'a'), look([4, 5], 'ANSWERED', 'b'))).to.equal('violation');
    expect(verdict(answer([2, 3], 'a', 'QUESTION_CLOSED'))).to.equal('violation');
    expect(verdict(answer([2, 3], 'a'), look([9000, 9001], 'EXPIRED'))).to.equal('violation');
  });

  it('accepts that it is withdrawn, and no answer afterwards; a link only while it is open', () => {
    const withdraw = (at: [number, number], value: Values | string = {}): Operation =>
      operation('withdraw question', at, {}, value);
    const link = (at: [number, number], value: Values | string = {}): Operation => operation('link', at, {}, value);
    const refused = answer([4, 5], 'a', 'QUESTION_CLOSED');
    expect(verdict(link([2, 3]), withdraw([2, 3]), refused, withdraw([6, 7]))).to.equal('linearizable');
    expect(verdict(withdraw([2, 3]), answer([4, 5], 'a'))).to.equal('violation');
    expect(verdict(withdraw([2, 3], 'QUESTION_CLOSED'))).to.equal('violation');
    expect(verdict(withdraw([2, 3]), link([4, 5]))).to.equal('violation');
    expect(verdict(link([2, 3], 'QUESTION_CLOSED'))).to.equal('violation');
  });

  it('allows it to expire by itself, not too early and not too late', () => {
    expect(verdict(look([5010, 5020], 'EXPIRED'), answer([5030, 5031], 'a', 'QUESTION_CLOSED'))).to.equal(
      'linearizable',
    );
    expect(verdict(look([4000, 4010], 'EXPIRED'))).to.equal('violation');
    expect(verdict(answer([5500, 5501], 'a'))).to.equal('violation');
    expect(check(questionModel('jumping'), [asked, look([4000, 4010], 'EXPIRED')])).to.equal('linearizable');
  });
});

describe('The linearizability checker, on claims', () => {
  const verdict = (...history: Operation[]) => check(claimModel(), [send, ...history]);

  it('accepts a claim that is acknowledged, refused to others, and repeated', () => {
    expect(verdict(claim([2, 3], 'a', 1), complete([4, 5], 'a'), complete([6, 7], 'a'))).to.equal('linearizable');
    expect(verdict(claim([2, 3], 'a', 1), complete([4, 5], 'b', 'CLAIM_LOST'))).to.equal('linearizable');
  });

  it('finds a message given to two clients at once, and one acknowledged by two', () => {
    expect(verdict(claim([2, 9], 'a', 1), claim([2, 9], 'b', 1))).to.equal('violation');
    expect(verdict(claim([2, 3], 'a', 1), claim([4, 5], 'b', 2))).to.equal('violation');
    const second = [claim([6000, 6001], 'b', 2), complete([6002, 6003], 'b')];
    expect(verdict(claim([2, 3], 'a', 1), ...second, complete([6004, 6005], 'a'))).to.equal('violation');
  });

  it('allows a lease to end by itself, not too early and not too late', () => {
    const first = claim([2, 3], 'a', 1);
    expect(verdict(first, claim([5010, 5020], 'b', 2))).to.equal('linearizable');
    expect(verdict(first, claim([4000, 4010], 'b', 2))).to.equal('violation');
    expect(verdict(first, complete([5500, 5501], 'a'))).to.equal('violation');
    const early = [send, first, claim([4000, 4010], 'b', 2)];
    expect(check(claimModel('jumping'), early)).to.equal('linearizable');
  });

  it('finds an acknowledged change that is lost, by a final read', () => {
    const look = (state: string): Operation => operation('look', [99, 100], {}, { state, attempts: 1 });
    expect(verdict(claim([2, 3], 'a', 1), complete([4, 5], 'a'), look('ACKED'))).to.equal('linearizable');
    expect(verdict(claim([2, 3], 'a', 1), complete([4, 5], 'a'), look('CLAIMED'))).to.equal('violation');
    expect(verdict(claim([2, 3], 'a', 1), complete([4, lost], 'a'), look('CLAIMED'))).to.equal('linearizable');
    expect(verdict(claim([2, 3], 'a', 1), complete([4, lost], 'a'), look('ACKED'))).to.equal('linearizable');
  });

  it('allows cancel, which takes the claim, and requeue, which restores all attempts', () => {
    const cancel = (at: [number, number], value: Values | string = {}) => operation('withdraw', at, {}, value);
    const requeue = (at: [number, number], value: Values | string = {}) => operation('requeue', at, {}, value);
    const first = [claim([2, 3], 'a', 1), cancel([4, 5])];
    expect(verdict(...first, complete([6, 7], 'a', 'CLAIM_LOST'), cancel([8, 9]))).to.equal('linearizable');
    expect(verdict(...first, requeue([6, 7]), claim([8, 9], 'b', 1))).to.equal('linearizable');
    expect(verdict(...first, requeue([6, 7]), claim([8, 9], 'b', 2))).to.equal('violation');
    expect(verdict(...first, complete([6, 7], 'a'))).to.equal('violation');
    expect(verdict(...first, claim([6, 7], 'b', 2))).to.equal('violation');
    expect(verdict(...first, requeue([6, 7], 'MESSAGE_NOT_REQUEUABLE'))).to.equal('violation');
    expect(verdict(requeue([2, 3]))).to.equal('violation');
    const done = [claim([2, 3], 'a', 1), complete([4, 5], 'a')];
    expect(verdict(...done, cancel([6, 7], 'MESSAGE_FINISHED'))).to.equal('linearizable');
    expect(verdict(...done, cancel([6, 7]))).to.equal('violation');
  });

  it('expects a delayed message not before its moment, after a send, a nack, a requeue and a lapsed lease', () => {
    const sent = (input: Values, value: Values = {}) => operation('send', [0, 1], input, value);
    const of = (...history: Operation[]) => check(claimModel(), history);
    const later = sent({ delayMs: 1000 }, { state: 'DELAYED' });
    expect(of(later, claim([1010, 1020], 'a', 1))).to.equal('linearizable');
    expect(of(later, claim([500, 510], 'a', 1))).to.equal('violation');
    expect(of(sent({ delayMs: 1000 }, { state: 'READY' }))).to.equal('violation');
    expect(check(claimModel('jumping'), [later, claim([500, 510], 'a', 1)])).to.equal('linearizable');
    const nack = operation('nack', [4, 5], { token: 'a', retry: 1, delayMs: 2000 }, { state: 'DELAYED' });
    expect(verdict(claim([2, 3], 'a', 1), nack, claim([2010, 2020], 'b', 2))).to.equal('linearizable');
    expect(verdict(claim([2, 3], 'a', 1), nack, claim([1000, 1010], 'b', 2))).to.equal('violation');
    const back = operation('requeue', [6, 7], { delayMs: 1000 }, { state: 'DELAYED' });
    const cancelled = [operation('withdraw', [2, 3], {}, {}), back];
    expect(verdict(...cancelled, claim([1020, 1030], 'a', 1))).to.equal('linearizable');
    expect(verdict(...cancelled, claim([500, 510], 'a', 1))).to.equal('violation');
    const paused = [sent({ pauseMs: 1000 }), claim([2, 3], 'a', 1)];
    expect(of(...paused, claim([6010, 6020], 'b', 2))).to.equal('linearizable');
    expect(of(...paused, claim([5500, 5510], 'b', 2))).to.equal('violation');
  });

  it('expects a message to fail at its own number of attempts, and to keep the last error', () => {
    const sent = operation('send', [0, 1], { maxAttempts: 2 }, {});
    const nack = (at: [number, number], token: string, state: string, error?: string) =>
      operation('nack', at, { token, retry: 1, ...(error !== undefined && { error }) }, { state });
    const look = (state: string, error: string) => operation('look', [99, 100], {}, { state, attempts: 2, error });
    const of = (...history: Operation[]) => check(claimModel(), [sent, claim([2, 3], 'a', 1), ...history]);
    const first = [nack([4, 5], 'a', 'READY', 'one'), claim([6, 7], 'b', 2)];
    expect(of(...first, nack([8, 9], 'b', 'FAILED'), look('FAILED', 'one'))).to.equal('linearizable');
    expect(of(...first, nack([8, 9], 'b', 'FAILED'), look('FAILED', ''))).to.equal('violation');
    expect(of(...first, nack([8, 9], 'b', 'FAILED', 'two'), look('FAILED', 'one'))).to.equal('violation');
    expect(of(...first, nack([8, 9], 'b', 'READY'))).to.equal('violation');
    expect(of(nack([4, 5], 'a', 'FAILED'))).to.equal('violation');
  });

  it('expects a lapsed attempt to leave its error, and an unheard claim to count or not', () => {
    const sent = operation('send', [0, 1], {}, {});
    const look = (attempts: number, error: string) =>
      operation('look', [9_999, 10_000], {}, { state: 'READY', attempts, error });
    const heard = [sent, claim([2, 3], 'a', 1)];
    const unheard: Operation[] = [sent, { ...claim([2, 3], 'a', 1), outcome: 'unknown' }];
    const seen = operation('look', [4, 5], {}, { state: 'CLAIMED', attempts: 1, error: '' });
    const of = (...history: Operation[]) => check(claimModel(), history);
    expect(of(...heard, look(1, 'lease'))).to.equal('linearizable');
    expect(of(...heard, look(1, ''))).to.equal('violation');
    expect(of(...heard, look(0, ''))).to.equal('violation');
    expect(of(...unheard, seen, look(1, 'lease'))).to.equal('linearizable');
    expect(of(...unheard, seen, look(0, ''))).to.equal('linearizable');
    expect(of(...unheard, seen, claim([6, 7], 'b', 1))).to.equal('linearizable');
    expect(of(...unheard, seen, look(0, 'lease'))).to.equal('violation');
  });

  it('expects a message given back untried to have the same attempt again, and not to fail', () => {
    const sent = operation('send', [0, 1], { maxAttempts: 1, pauseMs: 60_000 }, {});
    const back = (value: Values, input: Values = {}) =>
      operation('nack', [4, 5], { token: 'a', retry: 1, countsAttempt: 0, ...input }, value);
    const of = (...history: Operation[]) => check(claimModel(), [sent, claim([2, 3], 'a', 1), ...history]);
    expect(of(back({ state: 'READY' }), claim([6, 7], 'b', 1))).to.equal('linearizable');
    expect(of(back({ state: 'READY' }), claim([6, 7], 'b', 2))).to.equal('violation');
    expect(of(back({ state: 'FAILED' }))).to.equal('violation');
    const later = back({ state: 'DELAYED' }, { delayMs: 1000 });
    expect(of(later, claim([1010, 1020], 'b', 1))).to.equal('linearizable');
    expect(of(later, claim([500, 510], 'b', 1))).to.equal('violation');
  });

  it('expects a purge to cancel READY messages only, and a bulk requeue to return only those of its state', () => {
    const purged = (at: [number, number]) => operation('purged', at, {}, {});
    const back = (from: string) => operation('requeue', [6, 7], { from }, {});
    expect(verdict(purged([2, 3]), back('CANCELLED'), claim([8, 9], 'a', 1))).to.equal('linearizable');
    expect(verdict(purged([2, 3]), back('FAILED'))).to.equal('violation');
    expect(verdict(claim([2, 3], 'a', 1), purged([4, 5]))).to.equal('violation');
    expect(verdict(purged([2, 3]), claim([4, 5], 'a', 1))).to.equal('violation');
  });

  it('shows the shortest invalid prefix', () => {
    const history = [send, claim([2, 3], 'a', 1), claim([4, 5], 'b', 2), complete([6, 7], 'b'), complete([8, 9], 'b')];
    expect(shortest(claimModel(), history)).to.have.length(3);
  });
});

/** An operation that takes effect at one instant, between its invocation and its response. */
interface Planned {
  readonly kind: string;
  readonly at: number;
  readonly early: number;
  readonly late: number;
  readonly pick: number;
  readonly isLost: boolean;
}

const planned = (...kinds: string[]): fc.Arbitrary<Planned[]> =>
  fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      at: fc.double({ min: 0, max: 1000, noNaN: true }),
      early: fc.double({ min: 0, max: 150, noNaN: true }),
      late: fc.double({ min: 0, max: 150, noNaN: true }),
      pick: fc.nat(9),
      isLost: fc.boolean(),
    }),
    { minLength: 5, maxLength: 25 },
  );

/** Runs the plan in order of its instants; about one response in five is lost. */
function played(plan: readonly Planned[], run: (one: Planned) => [Values, Values | string]): Operation[] {
  return [...plan]
    .sort((one, other) => one.at - other.at)
    .map((one) => {
      const [input, value] = run(one);
      const to = one.isLost && one.pick < 4 ? lost : one.at + one.late;
      const kind = one.kind === 'overrun' ? 'settle' : one.kind;
      return operation(kind, [one.at - one.early, to], input, value);
    });
}

function purse(): (one: Planned) => [Values, Values | string] {
  const left: number[] = [];
  let [settled, overdrawn] = [0, 0];
  return ({ kind, pick }) => {
    const reserved = () => left.reduce((sum, part) => sum + part, 0);
    const answer = (more: Values = {}): Values => ({ ...more, reserved: reserved(), settled, overdrawn });
    if (kind === 'look') return [{}, answer()];
    if (kind === 'reserve') {
      const amount = pick + 1;
      if (overdrawn > 0 || amount > 30 - settled - reserved()) return [{ amount }, 'INSUFFICIENT_BUDGET'];
      left.push(amount);
      return [{ amount }, answer({ id: `r${left.length - 1}` })];
    }
    const chosen = pick % Math.max(1, left.length);
    const rest = left[chosen] ?? 0;
    const input = { reservation: `r${chosen}`, amount: kind === 'overrun' ? 9 : 1 };
    if (rest === 0) return [kind === 'overrun' ? { ...input, overrun: 1 } : input, 'RESERVATION_CLOSED'];
    if (kind === 'overrun') {
      const beyond = Math.max(0, 9 - rest - (30 - settled - reserved()));
      left[chosen] = Math.max(0, rest - 9);
      [settled, overdrawn] = [settled + 9 - beyond, overdrawn + beyond];
      return [{ ...input, overrun: 1 }, answer()];
    }
    left[chosen] = kind === 'settle' ? rest - 1 : 0;
    settled += kind === 'settle' ? 1 : 0;
    return [input, answer()];
  };
}

function meeting(): (one: Planned) => [Values, Values | string] {
  let [epoch, keys] = [1, new Set<string>()];
  return ({ kind, pick }) => {
    const key = String(pick);
    const isOver = keys.size === 3;
    if (kind === 'nextEpoch') {
      if (!isOver) return [{}, 'BARRIER_NOT_RELEASED'];
      [epoch, keys] = [epoch + 1, new Set()];
    } else if (kind === 'arrive') {
      if (isOver && !keys.has(key)) return [{ key }, 'BARRIER_RELEASED'];
      keys.add(key);
    }
    return [{ key }, { epoch, arrivals: keys.size }];
  };
}

/** Notes of one key each for two digits, changed at the version that they have or at another. */
function sheet(): (one: Planned) => [Values, Values | string] {
  const notes = new Map<string, [version: number, value: number]>();
  let puts = 0;
  return ({ kind, pick }) => {
    const key = pick % 2 === 0 ? 'a' : 'b';
    const [version, value] = notes.get(key) ?? [0, 0];
    const ifVersion = pick % 3 === 0 ? version : pick % 3 === 1 ? version + 1 : undefined;
    const input = { key, ...(ifVersion !== undefined && { ifVersion }) };
    const isMet = ifVersion === undefined || ifVersion === version;
    if (kind === 'read note') return [{ key }, version === 0 ? 'NOTE_NOT_FOUND' : { version, value }];
    if (kind === 'delete note') {
      if (version === 0) return [input, 'NOTE_NOT_FOUND'];
      if (!isMet) return [input, 'VERSION_CONFLICT'];
      notes.delete(key);
      return [input, {}];
    }
    if (!isMet) return [{ ...input, value: puts }, 'VERSION_CONFLICT'];
    puts++;
    notes.set(key, [puts, 100 + puts]);
    return [{ ...input, value: 100 + puts }, { version: puts }];
  };
}

describe('The linearizability checker, on budgets, barriers and notes', () => {
  it('accepts every correct history, however operations overlap and whichever responses are lost', () => {
    const budgets = planned('reserve', 'settle', 'overrun', 'void', 'look').map((plan) => played(plan, purse()));
    // Clients only settle reservations that they have been told of.
    const known = budgets.filter((history) => {
      const ids = new Set(history.flatMap(({ outcome, value }) => (outcome === 'ok' ? [value['id']] : [])));
      return history.every(({ input }) => input['reservation'] === undefined || ids.has(input['reservation']));
    });
    fc.assert(fc.property(known, (history) => check(budgetModel([30]), history) === 'linearizable'));
    const barriers = planned('arrive', 'arrive', 'nextEpoch', 'look').map((plan) => played(plan, meeting()));
    fc.assert(fc.property(barriers, (history) => check(barrierModel(3), history) === 'linearizable'));
    const notes = planned('put note', 'put note', 'delete note', 'read note').map((plan) => played(plan, sheet()));
    fc.assert(fc.property(notes, (history) => check(notesModel(), history) === 'linearizable'));
  });

  /** Checks that any wrong response in a sequential history is found. */
  function finds<State>(model: Model<State>, arbitrary: fc.Arbitrary<Operation[]>, field: string): void {
    const spoilt = fc.tuple(arbitrary, fc.nat()).filter(([history]) => history.some(({ outcome }) => outcome === 'ok'));
    fc.assert(
      fc.property(spoilt, ([history, n]) => {
        const answered = history.filter(({ outcome }) => outcome === 'ok');
        const wrong = answered[n % answered.length] as Operation;
        const value = { ...wrong.value, [field]: Number(wrong.value[field]) + 1 };
        const changed = history.map((one) => (one === wrong ? { ...one, value } : one));
        return check(model, changed) === 'violation';
      }),
    );
  }

  it('finds any wrong balance, epoch or arrival count in a sequential history', () => {
    const inLine = (plan: readonly Planned[]): Planned[] =>
      plan.map((one, i) => ({ ...one, at: 10 * i, early: 1, late: 1, isLost: false }));
    const budgets = planned('reserve', 'settle', 'overrun', 'void', 'look').map((plan) =>
      played(inLine(plan), purse()),
    );
    finds(budgetModel([30]), budgets, 'settled');
    finds(budgetModel([30]), budgets, 'reserved');
    finds(budgetModel([30]), budgets, 'overdrawn');
    const barriers = planned('arrive', 'arrive', 'nextEpoch').map((plan) => played(inLine(plan), meeting()));
    finds(barrierModel(3), barriers, 'arrivals');
    finds(barrierModel(3), barriers, 'epoch');
    const puts = planned('put note').map((plan) => played(inLine(plan), sheet()));
    finds(notesModel(), puts, 'version');
  });

  it('finds an update that is lost, a version that comes twice and a stale read of a note', () => {
    const put = (at: [number, number], value: number, ifVersion: number, answer: Values | string) =>
      operation('put note', at, { key: 'a', value, ifVersion }, answer);
    const read = (at: [number, number], version: number, value: number) =>
      operation('read note', at, { key: 'a' }, { version, value });
    const first = put([0, 1], 7, 0, { version: 1 });
    const verdict = (...history: Operation[]) => check(notesModel(), [first, ...history]);
    expect(verdict(put([2, 9], 8, 1, { version: 2 }), put([2, 9], 9, 1, 'VERSION_CONFLICT'))).to.equal('linearizable');
    expect(verdict(put([2, 9], 8, 1, { version: 2 }), put([2, 9], 9, 1, { version: 3 }))).to.equal('violation');
    expect(verdict(put([2, 3], 8, 1, { version: 2 }), read([4, 5], 1, 7))).to.equal('violation');
    expect(verdict(put([2, 9], 8, 1, { version: 2 }), read([4, 5], 1, 7))).to.equal('linearizable');
    const gone = operation('delete note', [2, 3], { key: 'a' }, {});
    expect(verdict(gone, put([4, 5], 8, 0, { version: 2 }))).to.equal('linearizable');
    expect(verdict(gone, put([4, 5], 8, 0, { version: 1 }))).to.equal('violation');
    const look = (value: Values) => operation('look', [9, 10], {}, value);
    expect(verdict(look({ a: '1 7' }))).to.equal('linearizable');
    expect(verdict(look({}))).to.equal('violation');
    expect(verdict(gone, look({ a: '1 7' }))).to.equal('violation');
  });

  it('finds an overdue reservation that was settled too early, too late or twice', () => {
    const balances = (reserved: number, settled: number): Values => ({ reserved, settled, overdrawn: 0 });
    const reserve = operation('reserve', [0, 1], { amount: 20, settlesAt: 500 }, { id: 'a', ...balances(20, 0) });
    const look = (at: [number, number], reserved: number, settled: number): Operation =>
      operation('look', at, {}, balances(reserved, settled));
    const settle = (at: [number, number], answer: Values | string): Operation =>
      operation('settle', at, { reservation: 'a', amount: 5 }, answer);
    const verdict = (...history: Operation[]) => check(budgetModel([30]), [reserve, ...history]);
    expect(verdict(look([9, 10], 20, 0), look([3000, 3001], 0, 20))).to.equal('linearizable');
    expect(verdict(look([490, 600], 20, 0), look([490, 600], 0, 20))).to.equal('linearizable');
    expect(verdict(look([9, 10], 0, 20))).to.equal('violation');
    expect(verdict(look([3000, 3001], 20, 0))).to.equal('violation');
    expect(verdict(look([510, 511], 0, 20), look([520, 521], 20, 0))).to.equal('violation');
    expect(verdict(settle([9, 10], balances(15, 5)), look([3000, 3001], 0, 20))).to.equal('linearizable');
    expect(verdict(settle([600, 601], 'RESERVATION_CLOSED'))).to.equal('linearizable');
    expect(verdict(settle([9, 10], 'RESERVATION_CLOSED'))).to.equal('violation');
    expect(verdict(settle([600, 601], balances(15, 5)))).to.equal('violation');
    expect(verdict(settle([600, 601], balances(0, 25)))).to.equal('violation');
  });

  it('finds a lost reserve, money spent twice and a lost arrival among overlapping operations', () => {
    const both: [number, number] = [0, 9];
    const reserve = (id: string, reserved: number): Operation =>
      operation('reserve', both, { amount: 20 }, { id, reserved, settled: 0, overdrawn: 0 });
    expect(check(budgetModel([40]), [reserve('a', 20), reserve('b', 40)])).to.equal('linearizable');
    expect(check(budgetModel([40]), [reserve('a', 20), reserve('b', 20)])).to.equal('violation');
    expect(check(budgetModel([30]), [reserve('a', 20), reserve('b', 40)])).to.equal('violation');
    const again = (found: string): Operation =>
      operation('reserve again', [10, 19], { reservation: 'a' }, { found, reserved: 20, settled: 0, overdrawn: 0 });
    expect(check(budgetModel([40]), [reserve('a', 20), again('a')])).to.equal('linearizable');
    expect(check(budgetModel([40]), [reserve('a', 20), again('b')])).to.equal('violation');
    const expects = (expected: number, answer: Values | string): Operation =>
      operation('look', [10, 19], { expected }, answer);
    const seen = { reserved: 20, settled: 0, overdrawn: 0 };
    expect(check(budgetModel([40]), [reserve('a', 20), expects(20, seen)])).to.equal('linearizable');
    expect(check(budgetModel([40]), [reserve('a', 20), expects(15, 'EXPECTATION_FAILED')])).to.equal('linearizable');
    expect(check(budgetModel([40]), [reserve('a', 20), expects(15, seen)])).to.equal('violation');
    expect(check(budgetModel([40]), [reserve('a', 20), expects(20, 'EXPECTATION_FAILED')])).to.equal('violation');
    const below = (id: string, level: number, reserved: number): Operation =>
      operation('reserve', both, { amount: 20, level }, { id, reserved, settled: 0, overdrawn: 0 });
    expect(check(budgetModel([40, 30]), [below('a', 1, 20), below('b', 0, 40)])).to.equal('linearizable');
    expect(check(budgetModel([40, 30]), [below('a', 1, 20), below('b', 0, 20)])).to.equal('linearizable');
    expect(check(budgetModel([40, 30]), [below('a', 1, 20), below('b', 1, 40)])).to.equal('violation');
    expect(check(budgetModel([30, 40]), [below('a', 1, 20), below('b', 0, 40)])).to.equal('violation');
    const arrive = (key: string, arrivals: number): Operation =>
      operation('arrive', both, { key }, { epoch: 1, arrivals });
    expect(check(barrierModel(3), [arrive('a', 1), arrive('b', 2)])).to.equal('linearizable');
    expect(check(barrierModel(3), [arrive('a', 1), arrive('b', 1)])).to.equal('violation');
  });
});

describe('The linearizability checker, on atomic batches', () => {
  const about = { id: '', client: 1, respondedAt: 0, invokedAt: 0 };
  let batches = 0;
  type Part = Pick<Operation, 'kind' | 'object' | 'input' | 'value'>;
  /** A batch; refusedAt: the place of the call for which all of it was refused. */
  const batch = (
    [invokedAt, respondedAt]: [number, number],
    parts: readonly Part[],
    refusedAt?: number,
  ): Operation[] => {
    const id = `batch ${batches++}`;
    const outcome = respondedAt === lost ? 'unknown' : refusedAt === undefined ? 'ok' : 'refused';
    const refused = refusedAt !== undefined && { refusedAt };
    return parts.map((part, place) => ({ ...about, id, ...part, invokedAt, respondedAt, outcome, place, ...refused }));
  };
  const money = { settled: 0, overdrawn: 0 };
  const reserve = (id: string, amount: number, reserved: number): Part => ({
    ...{ kind: 'reserve', object: 'budget', input: { amount }, value: { id, reserved, ...money } },
  });
  const put = (value: number, version: number, ifVersion?: number): Part => ({
    ...{ kind: 'put note', object: 'notes', value: { version } },
    input: { key: 'a', value, ...(ifVersion !== undefined && { ifVersion }) },
  });
  const look = (reserved: number): Part => ({
    ...{ kind: 'look', object: 'budget', input: {}, value: { reserved, ...money } },
  });
  const read = (version: number, value: number): Part => ({
    ...{ kind: 'read note', object: 'notes', input: { key: 'a' }, value: { version, value } },
  });
  const single = (at: [number, number], part: Part): Operation => {
    const [{ place: _, ...one } = {} as Operation] = batch(at, [part]);
    return one;
  };
  const model = () => composed((object) => (object === 'budget' ? budgetModel([30]) : notesModel()));
  const verdict = (...history: (Operation | Operation[])[]) => {
    const objects = [...tied(history.flat()).values()];
    expect(objects).to.have.lengthOf(1);
    return check(model(), objects[0] ?? []);
  };
  const first = batch([0, 1], [reserve('r', 10, 10), put(7, 1)]);

  it('accepts what happens at one instant, and finds a half that somebody has read', () => {
    expect(verdict(first, batch([2, 3], [look(10), read(1, 7)]))).to.equal('linearizable');
    const next = batch([2, 9], [reserve('s', 5, 15), put(8, 2)]);
    expect(verdict(first, next, batch([3, 4], [look(10), read(1, 7)]))).to.equal('linearizable');
    expect(verdict(first, next, batch([3, 4], [read(2, 8), look(15)]))).to.equal('linearizable');
    expect(verdict(first, next, batch([3, 4], [look(15), read(1, 7)]))).to.equal('violation');
    expect(verdict(first, next, batch([3, 4], [look(10), read(2, 8)]))).to.equal('violation');
    // Each by itself could be; one after the other they show a half.
    expect(verdict(first, next, single([3, 4], look(15)), single([5, 6], read(2, 8)))).to.equal('linearizable');
    expect(verdict(first, next, single([3, 4], look(15)), single([5, 6], read(1, 7)))).to.equal('violation');
  });

  it('finds a refused batch of which something has happened, and one that nothing refuses', () => {
    const dear = [put(8, 2), reserve('s', 25, 35)];
    expect(verdict(first, batch([2, 3], dear, 1), batch([4, 5], [look(10), read(1, 7)]))).to.equal('linearizable');
    expect(verdict(first, batch([2, 3], dear, 1), batch([4, 5], [look(10), read(2, 8)]))).to.equal('violation');
    expect(verdict(first, batch([2, 3], [put(8, 2), reserve('s', 20, 30)], 1))).to.equal('violation');
    // The first call of a batch makes what refuses the second.
    expect(verdict(first, batch([2, 3], [put(8, 2, 1), put(9, 3, 1)], 1))).to.equal('linearizable');
    expect(verdict(first, batch([2, 3], [put(8, 2, 1), put(9, 3, 2)], 1))).to.equal('violation');
  });

  it('takes a batch without an answer for all or for nothing', () => {
    const gone = batch([2, lost], [reserve('s', 5, 15), put(8, 2)]);
    expect(verdict(first, gone, batch([4, 5], [look(10), read(1, 7)]))).to.equal('linearizable');
    expect(verdict(first, gone, batch([4, 5], [look(15), read(2, 8)]))).to.equal('linearizable');
    expect(verdict(first, gone, batch([4, 5], [look(15), read(1, 7)]))).to.equal('violation');
  });
});
