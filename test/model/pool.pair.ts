import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Reply } from '../support/world.ts';
import type { Curl } from './curl.ts';
import type { ModelHold, PoolModel } from './pool.model.ts';

const pool = fc.nat(1);
const index = fc.nat(9);
const who = fc.constantFrom('ann', 'bob', 'eve', undefined);
const lease = fc.integer({ min: 5, max: 30 });
const ttl = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.constant(0));
const isToken = fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false));
const units = fc.integer({ min: 1, max: 4 });
/** Calls of pools. */
export const poolSteps = [
  { weight: 8, arbitrary: fc.record({ do: fc.constant('acquire' as const), pool, units, who, ttl, lease }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('renew' as const),
      ...{ index, isToken, lease: fc.option(lease, { nil: undefined }) },
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('waitOn' as const),
      ...{ index, ttl: fc.option(fc.integer({ min: 5, max: 40 }), { nil: undefined }) },
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), index, isToken }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), index }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('units' as const), pool, to: fc.integer({ min: 1, max: 5 }) }),
  },
];
export type PoolStep = (typeof poolSteps)[number]['arbitrary'] extends fc.Arbitrary<infer T> ? T : never;

/** The outcomes that the sequences have produced so far. */
export const met = new Set<string>();

const iso = (at: number): string => new Date(at).toISOString();
const outcomeOf = (reply: Reply): string => reply.body.error?.code ?? `${reply.status}`;

/** Pools of the service, compared with the model. */
export class PoolPair {
  readonly #curl: Curl;
  readonly #model: PoolModel;
  readonly #poolIds: readonly string[];
  #scopeId = randomUUID();
  /** The service's hold for each hold of the model. */
  readonly #made = new Map<ModelHold, { readonly id: string; readonly token: string }>();

  constructor(curl: Curl, model: PoolModel, poolIds: readonly string[]) {
    this.#curl = curl;
    this.#model = model;
    this.#poolIds = poolIds;
  }

  async take(one: PoolStep): Promise<void> {
    const model = this.#model;
    if (one.do === 'acquire') {
      const body = { scopeId: this.#scopeId, units: one.units, ttlSeconds: one.ttl, leaseSeconds: one.lease };
      const holder = one.who === undefined ? { holder: 'nobody' } : { holder: one.who, holderSession: '1' };
      const [outcome, hold] = model.acquire(one.pool, one.units, one.who, one.ttl, one.lease);
      const reply = await this.#expect(`/pools/${this.#poolIds[one.pool]}/acquire`, { ...body, ...holder }, outcome);
      if (hold) this.#made.set(hold, reply.body);
    }
    if (one.do === 'units') {
      const reply = await this.#curl.call('PATCH', `/pools/${this.#poolIds[one.pool]}`, { units: one.to });
      const outcome = model.change(one.pool, one.to);
      met.add(outcome);
      expect(outcomeOf(reply)).to.equal(outcome);
    }
    if ('index' in one && this.#made.size > 0) await this.#end(one);
  }

  async #end(one: Extract<PoolStep, { do: 'renew' | 'waitOn' | 'release' | 'cancel' }>): Promise<void> {
    const [hold, { id, token }] = [...this.#made][one.index % this.#made.size] as [ModelHold, Reply['body']];
    if (one.do === 'waitOn') {
      const isLater = hold.state === 'WAITING' && hold.expiresAt < this.#model.now + 1000 * (one.ttl ?? hold.ttl);
      if (isLater) met.add('waits longer');
      const outcome = this.#model.waitOn(hold, one.ttl);
      await this.#expect(`/pool-holds/${id}/renew`, { ttlSeconds: one.ttl }, outcome);
      return;
    }
    const path = `/pool-holds/${id}/${one.do}`;
    if (one.do === 'cancel') await this.#expect(path, undefined, this.#model.cancel(hold));
    else {
      const sent = one.isToken ? token : 'another';
      if (one.do === 'release') await this.#expect(path, { token: sent }, this.#model.release(hold, one.isToken));
      else {
        const body = { token: sent, leaseSeconds: one.lease };
        await this.#expect(path, body, this.#model.renew(hold, one.isToken, one.lease));
      }
    }
  }

  async #expect(path: string, body: unknown, outcome: string): Promise<Reply> {
    const reply = await this.#curl.post(path, body);
    expect(outcomeOf(reply), `${path} ${JSON.stringify(body)}`).to.equal(outcome);
    met.add(outcome);
    return reply;
  }

  /** Cancels the run of all holds so far; the next ones are of another run. */
  async cancelRun(): Promise<void> {
    await this.#curl.post('/scopes', { scopeId: this.#scopeId });
    await this.#expect(`/scopes/${this.#scopeId}/cancel`, undefined, '200');
    this.#model.stop([...this.#made.keys()]);
    this.#scopeId = randomUUID();
  }

  async compare(): Promise<void> {
    const model = this.#model;
    for (const [at, id] of this.#poolIds.entries()) {
      const [units = 0, heldUnits] = [model.units[at], model.heldUnits(at)];
      const { body } = await this.#curl.get(`/pools/${id}`);
      const availableUnits = Math.max(0, units - heldUnits);
      expect(body, `pool ${at}`).to.include({ units, heldUnits, availableUnits, waiting: model.waiting(at).length });
    }
    const { body } = await this.#curl.get('/pool-holds?limit=200');
    const found = new Map<string, Reply['body']>(body.holds.map((hold: { id: string }) => [hold.id, hold]));
    const recordOf = (hold: ModelHold): Reply['body'] => found.get(this.#made.get(hold)?.id ?? '');
    for (const hold of this.#made.keys()) this.#compareHold(hold, recordOf(hold));
    for (const pool of model.units.keys()) {
      const fences = model.granted
        .filter((hold) => hold.pool === pool)
        .map((hold) => hold.fence ?? recordOf(hold).fence);
      expect(fences, 'fences grow with each grant').to.deep.equal([...new Set(fences)].sort((a, b) => a - b));
    }
  }

  #compareHold(hold: ModelHold, record: Reply['body']): void {
    const { units, state, heldAt, finishedAt, leaseExpiresAt, expiresAt } = hold;
    const position = this.#model.waiting(hold.pool).indexOf(hold) + 1;
    expect(record).to.include({
      ...{ units, state, position: position || null },
      heldAt: heldAt === null ? null : iso(heldAt),
      finishedAt: finishedAt === null ? null : iso(finishedAt),
      leaseExpiresAt: state === 'HELD' ? iso(leaseExpiresAt) : null,
      expiresAt: state === 'WAITING' ? iso(expiresAt) : null,
    });
    expect(record.fence === null).to.equal(heldAt === null);
    met.add(state);
    if (heldAt !== null && iso(heldAt) > record.createdAt) met.add('granted after a wait');
  }
}
