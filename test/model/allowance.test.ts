import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { Reply } from '../support/world.ts';
import { AllowanceModel, type Waiter } from './allowance.model.ts';
import type { Curl } from './curl.ts';
import { trySequences } from './sequences.ts';

const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const units = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.constant(6));
const index = fc.nat(9);
const holder = fc.constantFrom('a', 'b');
const workKey = fc.option(fc.constantFrom('w1', 'w2'), { nil: undefined });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('consume' as const), units, holder, workKey }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('wait' as const), units, ttl: fc.integer({ min: 5, max: 40 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('renew' as const),
      index,
      ttl: fc.option(fc.integer({ min: 5, max: 40 }), { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cooldown' as const), seconds: fc.integer({ min: 1, max: 15 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      index,
      isGrant: fc.boolean(),
      units: fc.integer({ min: 0, max: 8 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('observe' as const),
      remaining: fc.integer({ min: 0, max: 5 }),
      seconds: fc.integer({ min: -5, max: 15 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), to: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const consume = (units: number, workKey?: 'w1' | 'w2'): Step => ({ do: 'consume', units, holder: 'a', workKey });
/** Produces every outcome, so that none depends on chance. */
const everything: Step[] = [
  ...[consume(1, 'w1'), consume(1, 'w1'), consume(2, 'w1'), consume(6)],
  ...[{ do: 'wait' as const, units: 5, ttl: 5 }, consume(1), { do: 'wait' as const, units: 3, ttl: 5 }],
  ...[
    { do: 'cancel' as const, index: 0 },
    { do: 'cancel' as const, index: 1 },
  ],
  ...[
    { do: 'wait' as const, units: 5, ttl: 5 },
    { do: 'pass' as const, seconds: 6 },
  ],
  ...[{ do: 'cooldown' as const, seconds: 3 }, consume(1)],
  ...[{ do: 'pass' as const, seconds: 20 }, consume(5), { do: 'wait' as const, units: 5, ttl: 40 }],
  ...[4, 10, 5].map((to) => ({ do: 'limit' as const, to })),
  // One that is there only because it was renewed, one that its renewal has shortened.
  ...[
    { do: 'pass' as const, seconds: 14 },
    ...[consume(5), { do: 'wait' as const, units: 5, ttl: 6 }, { do: 'wait' as const, units: 5, ttl: 40 }],
    ...[
      { do: 'pass' as const, seconds: 4 },
      { do: 'renew' as const, index: 4, ttl: undefined },
    ],
    ...[
      { do: 'renew' as const, index: 5, ttl: 5 },
      { do: 'pass' as const, seconds: 5 },
    ],
    ...[
      { do: 'pass' as const, seconds: 5 },
      { do: 'renew' as const, index: 4, ttl: undefined },
    ],
  ],
  // Every kind of call, the creation included.
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
];

const settle = (index: number, units: number, isGrant = false): Step => ({ do: 'settle', index, isGrant, units });
const pass = (seconds: number): Step => ({ do: 'pass', seconds });
const wait = (units: number): Step => ({ do: 'wait', units, ttl: 40 });
/** One takes more and one gives back what a waiter gets; some are settled after their window. */
const settlements: Step[] = [
  ...[consume(3), consume(2), wait(2), settle(1, 3), settle(0, 0), pass(20), settle(1, 3), settle(1, 1)],
  ...[consume(5), pass(10), settle(2, 8), wait(5), settle(1, 3, true), settle(1, 3, true), settle(1, 4, true)],
  ...[wait(5), settle(2, 1, true), ...[1, 0].map((remaining) => ({ do: 'observe' as const, remaining, seconds: 3 }))],
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
];

/** The outcomes that all sequences together must produce, and those produced so far. */
const outcomes = ['200', '201', 'replay', 'WORK_KEY_CONFLICT', 'UNITS_EXCEED_LIMIT', 'WAITER_NOT_WAITING'].concat(
  ['LIMIT_BELOW_USE', 'granted by a higher limit', 'used more than the limit'],
  ['outlived its first time', 'CONSUMPTION_SETTLED', 'CONSUMPTION_NOT_FOUND', 'granted by a settlement'],
  ['ALLOWANCE_COOLING_DOWN', 'ALLOWANCE_EXHAUSTED', 'GRANTED', 'EXPIRED', 'CANCELLED', 'WAITING'],
  ['refused behind a waiter though there are units', 'moved up by a cancel'],
);
const met = new Set<string>();

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
const outcomeOf = (reply: Reply): string =>
  reply.body.error?.code ?? (reply.body.replay === true ? 'replay' : `${reply.status}`);

/** An allowance of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model: AllowanceModel;
  readonly #path: string;
  readonly #waiterIds: string[] = [];
  readonly #consumptionIds: string[] = [];
  /** Waiters that were compared once they had ended. */
  readonly #ended = new Set<Waiter>();

  constructor(curl: Curl, model: AllowanceModel, id: string) {
    this.#curl = curl;
    this.#model = model;
    this.#path = `/allowances/${id}`;
  }

  async take(one: Step): Promise<void> {
    const model = this.#model;
    if (one.do === 'pass') await this.#pass(one.seconds);
    if (one.do === 'again') await this.#curl.again(one.index);
    if (one.do === 'consume') {
      const body = { scopeId, units: one.units, holder: one.holder, workKey: one.workKey };
      const behind =
        model.queue.length > 0 && model.cooldownUntil <= model.now && model.used + one.units <= model.limit;
      if (behind) met.add('refused behind a waiter though there are units');
      const outcome = model.consume(one.units, one.holder, one.workKey);
      const reply = await this.#post(`${this.#path}/consume`, body, outcome);
      if (outcome === '201') this.#consumptionIds.push(reply.body.id);
    }
    if (one.do === 'wait') {
      const body = { scopeId, units: one.units, holder: 'w', ttlSeconds: one.ttl };
      const { body: waiter } = await this.#post(`${this.#path}/wait`, body, model.wait(one.units, one.ttl));
      if (waiter.id) this.#waiterIds.push(waiter.id);
    }
    if (one.do === 'cancel' && model.waiters.length > 0) {
      const at = one.index % model.waiters.length;
      const waiter = model.waiters[at];
      const path = `/allowance-waiters/${this.#waiterIds[at]}/cancel`;
      const waiting = model.queue.length;
      if (waiter) await this.#post(path, undefined, model.cancel(waiter));
      if (model.queue.length < waiting - 1) met.add('moved up by a cancel');
    }
    if (one.do === 'renew' && model.waiters.length > 0) {
      const at = one.index % model.waiters.length;
      const waiter = model.waiters[at];
      const path = `/allowance-waiters/${this.#waiterIds[at]}/renew`;
      if (waiter) await this.#post(path, { ttlSeconds: one.ttl }, model.renew(waiter, one.ttl));
    }
    if (one.do === 'settle') await this.#settle(one.index, one.isGrant, one.units);
    if (one.do === 'observe') {
      const resetAt = iso(model.now + one.seconds);
      const outcome = model.observe(one.remaining, model.now + one.seconds);
      await this.#post(`${this.#path}/observe`, { remainingUnits: one.remaining, resetAt }, outcome);
    }
    if (one.do === 'cooldown') {
      model.cooldownUntil = Math.max(model.cooldownUntil, model.now + one.seconds);
      const { body } = await this.#post(`${this.#path}/cooldown`, { seconds: one.seconds }, '200');
      expect(body.cooldownUntil).to.equal(iso(model.cooldownUntil));
    }
    if (one.do === 'limit') {
      const waiting = model.queue.length;
      const outcome = model.change(one.to);
      met.add(outcome);
      expect(outcomeOf(await this.#curl.call('PATCH', this.#path, { unitsLimit: one.to }))).to.equal(outcome);
      if (model.queue.length < waiting) met.add('granted by a higher limit');
      if (model.used > model.limit) met.add('used more than the limit');
    }
    await this.#compare();
  }

  async #settle(index: number, isGrant: boolean, units: number): Promise<void> {
    const model = this.#model;
    const [ids, all] = isGrant ? [this.#waiterIds, model.waiters] : [this.#consumptionIds, model.consumed];
    if (all.length === 0) return;
    const at = index % all.length;
    const waiter = model.waiters[at];
    const taken = isGrant ? waiter && model.granted.get(waiter) : model.consumed[at];
    const waiting = model.queue.length;
    const outcome = model.settle(taken, units);
    const { body } = await this.#post(`${this.#path}/consumptions/${ids[at]}/settle`, { units }, outcome);
    if (taken && body.id)
      expect(body).to.include({
        ...{ id: ids[at], units: taken.units, settledUnits: units },
        availableUnits: Math.max(0, model.limit - model.used),
      });
    if (model.queue.length < waiting) met.add('granted by a settlement');
  }

  /** Moves the clock while no worker runs; then a call makes what is due take effect. */
  async #pass(seconds: number): Promise<void> {
    this.#model.pass(seconds);
    await this.#curl.at(this.#model.now * 1000);
    await this.#post(`/allowance-waiters/${scopeId}/cancel`, undefined, 'WAITER_NOT_FOUND');
  }

  async #post(path: string, body: unknown, outcome: string): Promise<Reply> {
    const reply = await this.#curl.post(path, body);
    expect(outcomeOf(reply)).to.equal(outcome);
    met.add(outcome);
    return reply;
  }

  async #compare(): Promise<void> {
    const { now, used, queue, waiters, cooldownUntil, limit } = this.#model;
    const { body } = await this.#curl.get(this.#path);
    expect(body).to.include({
      ...{ usedUnits: used, availableUnits: Math.max(0, limit - used), unitsLimit: limit, waiting: queue.length },
      ...{ windowStartedAt: iso(now - (now % 10)), windowEndsAt: iso(now - (now % 10) + 10) },
      cooldownUntil: cooldownUntil > now ? iso(cooldownUntil) : null,
    });
    for (const waiter of waiters) if (!this.#ended.has(waiter)) await this.#compareWaiter(waiter);
  }

  async #compareWaiter(waiter: Waiter): Promise<void> {
    const { queue, waiters } = this.#model;
    const { units, state, grantedAt, expiresAt } = waiter;
    const at = waiters.indexOf(waiter);
    const { body } = await this.#curl.get(`/allowance-waiters/${this.#waiterIds[at]}`);
    const position = queue.indexOf(waiter) + 1;
    expect(body, `waiter ${at + 1}`).to.include({ state, units, position: position || null });
    expect(body.grantedAt).to.equal(grantedAt === null ? null : iso(grantedAt));
    expect(body.expiresAt).to.equal(iso(expiresAt));
    met.add(state);
    if (state === 'WAITING' && Date.parse(body.createdAt) / 1000 + waiter.ttl <= this.#model.now)
      met.add('outlived its first time');
    if (state !== 'WAITING') this.#ended.add(waiter);
  }

  /** Expects that waiters stay as they ended, and that the run has used what was said. */
  async end(): Promise<void> {
    const { status, body } = await this.#curl.get(`/ops/runs/${scopeId}`);
    if (status === 200) expect(body.consumptions).to.deep.equal(this.#model.inRun);
    for (const waiter of this.#ended) await this.#compareWaiter(waiter);
  }
}

describe('allowance model', () => {
  it('grants at most unitsLimit per window, in arrival order, after every step of any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{
        first: fc.constant(null),
        step,
        maxLength: 40,
        examples: [
          [null, everything],
          [null, settlements],
        ],
        outcomes,
        met,
      },
      run: async (curl, _, now, __, sequence) => {
        const model = new AllowanceModel();
        model.now = now / 1000;
        const { body } = await curl.post('/allowances', { name: 'a', unitsLimit: 5, windowSeconds: 10 });
        const pair = new Pair(curl, model, body.id);
        for (const one of sequence) await pair.take(one);
        await pair.end();
      },
    });
  });
});
