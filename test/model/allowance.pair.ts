import { expect } from 'chai';
import fc from 'fast-check';
import type { Reply } from '../support/world.ts';
import type { AllowanceModel, Waiter } from './allowance.model.ts';
import type { Curl } from './curl.ts';

export const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const units = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.constant(6));
const index = fc.nat(9);
const holder = fc.constantFrom('a', 'b');
const workKey = fc.option(fc.constantFrom('w1', 'w2'), { nil: undefined });
/** Calls of an allowance. */
export const allowanceSteps = [
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
];
export type AllowanceStep = (typeof allowanceSteps)[number]['arbitrary'] extends fc.Arbitrary<infer T> ? T : never;

/** The outcomes that the sequences have produced so far. */
export const met = new Set<string>();

const iso = (at: number): string => new Date(at).toISOString();
const outcomeOf = (reply: Reply): string =>
  reply.body.error?.code ?? (reply.body.replay === true ? 'replay' : `${reply.status}`);

/** An allowance of the service, compared with the model. */
export class AllowancePair {
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

  /** A consumption that a claim has made. */
  add(consumptionId: string, units: number): void {
    this.#model.use(units);
    this.#consumptionIds.push(consumptionId);
  }

  async take(one: AllowanceStep): Promise<void> {
    const model = this.#model;
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
      const resetAt = model.now + 1000 * one.seconds;
      const body = { remainingUnits: one.remaining, resetAt: iso(resetAt) };
      await this.#post(`${this.#path}/observe`, body, model.observe(one.remaining, resetAt));
    }
    if (one.do === 'cooldown') {
      model.cooldownUntil = Math.max(model.cooldownUntil, model.now + 1000 * one.seconds);
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

  async #post(path: string, body: unknown, outcome: string): Promise<Reply> {
    const reply = await this.#curl.post(path, body);
    expect(outcomeOf(reply)).to.equal(outcome);
    met.add(outcome);
    return reply;
  }

  async compare(): Promise<void> {
    const { windowStartedAt: start, now, used, queue, waiters, cooldownUntil, limit } = this.#model;
    const { body } = await this.#curl.get(this.#path);
    expect(body).to.include({
      ...{ usedUnits: used, availableUnits: Math.max(0, limit - used), unitsLimit: limit, waiting: queue.length },
      ...{ windowStartedAt: iso(start), windowEndsAt: iso(start + 10_000) },
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
    if (state === 'WAITING' && Date.parse(body.createdAt) + 1000 * waiter.ttl <= this.#model.now)
      met.add('outlived its first time');
    if (state !== 'WAITING') this.#ended.add(waiter);
  }

  /** Expects that waiters stay as they ended, and that the run has the model's totals. */
  async end(): Promise<void> {
    const { status, body } = await this.#curl.get(`/ops/runs/${scopeId}`);
    if (status === 200) expect(body.consumptions).to.deep.equal(this.#model.inRun);
    for (const waiter of this.#ended) await this.#compareWaiter(waiter);
  }
}
