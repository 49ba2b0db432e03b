import { expect } from 'chai';
import fc from 'fast-check';
import { expectAgreement } from '../support/agree.ts';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { type ModelHold, PoolModel } from './pool.model.ts';
import { trySequences } from './sequences.ts';

const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const pool = fc.nat(1);
const index = fc.nat(9);
const who = fc.constantFrom('ann', 'bob', 'eve', undefined);
const lease = fc.integer({ min: 5, max: 30 });
const ttl = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.constant(0));
const isToken = fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false));
const units = fc.integer({ min: 1, max: 4 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('acquire' as const), pool, units, who, ttl, lease }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('renew' as const),
      ...{ index, isToken, lease: fc.option(lease, { nil: undefined }) },
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), index, isToken }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), index }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('units' as const), pool, to: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 15 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const acquire = (pool: number, units: number, who?: 'ann' | 'bob', ttl = 40): Step => ({
  ...{ do: 'acquire', pool, units, who, ttl, lease: 20 },
});
/** Produces every outcome, so that none depends on chance. */
const everything: Step[] = [
  ...[acquire(0, 3, 'ann'), acquire(1, 3, 'bob'), acquire(1, 1, 'ann'), acquire(0, 1, 'bob')],
  ...[acquire(0, 4), acquire(0, 1, undefined, 0), acquire(1, 2, undefined, 5), acquire(1, 2)],
  ...[
    { do: 'units' as const, pool: 1, to: 1 },
    { do: 'cancel' as const, index: 0 },
    { do: 'cancel' as const, index: 4 },
    { do: 'cancel' as const, index: 4 },
    { do: 'renew' as const, index: 0, isToken: true, lease: 30 },
    { do: 'renew' as const, index: 0, isToken: false, lease: undefined },
    { do: 'pass' as const, seconds: 6 },
    { do: 'release' as const, index: 0, isToken: true },
    { do: 'release' as const, index: 0, isToken: true },
    { do: 'pass' as const, seconds: 15 },
    { do: 'pass' as const, seconds: 15 },
    { do: 'units' as const, pool: 0, to: 5 },
  ],
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
];

const outcomes = ['200', '201', 'UNITS_EXCEED_LIMIT', 'DEADLOCK', 'POOL_EXHAUSTED', 'CLAIM_LOST'].concat(
  ['HOLD_NOT_WAITING', 'LIMIT_BELOW_USE', 'WAITING', 'HELD', 'RELEASED', 'LAPSED', 'CANCELLED', 'EXPIRED'],
  ['granted after a wait'],
);
const met = new Set<string>();

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
const outcomeOf = (reply: Reply): string => reply.body.error?.code ?? `${reply.status}`;

/** Two pools of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model: PoolModel;
  readonly #poolIds: readonly string[];
  readonly #made: { readonly id: string; readonly token: string }[] = [];

  constructor(curl: Curl, model: PoolModel, poolIds: readonly string[]) {
    this.#curl = curl;
    this.#model = model;
    this.#poolIds = poolIds;
  }

  async take(one: Step): Promise<void> {
    const model = this.#model;
    if (one.do === 'pass') await this.#pass(one.seconds);
    if (one.do === 'again') await this.#curl.again(one.index);
    if (one.do === 'acquire') {
      const body = { scopeId, units: one.units, ttlSeconds: one.ttl, leaseSeconds: one.lease };
      const holder = one.who === undefined ? { holder: 'nobody' } : { holder: one.who, holderSession: '1' };
      const [outcome] = model.acquire(one.pool, one.units, one.who, one.ttl, one.lease);
      const reply = await this.#expect(`/pools/${this.#poolIds[one.pool]}/acquire`, { ...body, ...holder }, outcome);
      if (outcome === '201') this.#made.push(reply.body);
    }
    if (one.do === 'units') {
      const reply = await this.#curl.call('PATCH', `/pools/${this.#poolIds[one.pool]}`, { units: one.to });
      const outcome = model.change(one.pool, one.to);
      met.add(outcome);
      expect(outcomeOf(reply)).to.equal(outcome);
    }
    if ('index' in one && one.do !== 'again' && this.#made.length > 0) await this.#end(one);
    await this.#compare();
  }

  async #end(one: Extract<Step, { do: 'renew' | 'release' | 'cancel' }>): Promise<void> {
    const at = one.index % this.#made.length;
    const hold = this.#model.holds[at] as ModelHold;
    const { id = '', token = '' } = this.#made[at] ?? {};
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

  /** Moves the clock while no worker runs; then a call makes what is due take effect. */
  async #pass(seconds: number): Promise<void> {
    this.#model.pass(seconds);
    await this.#curl.at(this.#model.now * 1000);
    await this.#expect(`/pool-holds/${scopeId}/cancel`, undefined, 'HOLD_NOT_FOUND');
  }

  async #expect(path: string, body: unknown, outcome: string): Promise<Reply> {
    const reply = await this.#curl.post(path, body);
    expect(outcomeOf(reply), `${path} ${JSON.stringify(body)}`).to.equal(outcome);
    met.add(outcome);
    return reply;
  }

  async #compare(): Promise<void> {
    const model = this.#model;
    for (const [at, id] of this.#poolIds.entries()) {
      const [units = 0, heldUnits] = [model.units[at], model.heldUnits(at)];
      const { body } = await this.#curl.get(`/pools/${id}`);
      const availableUnits = Math.max(0, units - heldUnits);
      expect(body, `pool ${at}`).to.include({ units, heldUnits, availableUnits, waiting: model.waiting(at).length });
    }
    const { body } = await this.#curl.get('/pool-holds?limit=200');
    const found = new Map<string, Reply['body']>(body.holds.map((hold: { id: string }) => [hold.id, hold]));
    const recordOf = (hold: ModelHold): Reply['body'] => found.get(this.#made[model.holds.indexOf(hold)]?.id ?? '');
    for (const hold of model.holds) this.#compareHold(hold, recordOf(hold));
    for (const pool of model.units.keys()) {
      const fences = model.granted.filter((hold) => hold.pool === pool).map((hold) => recordOf(hold).fence);
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

describe('pool model', () => {
  it('holds no more than its units, in arrival order, with growing fences, after every step of any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{ first: fc.constant(null), step, maxLength: 40, examples: [[null, everything]], outcomes, met },
      run: async (curl: Curl, world: World, now: number, _, sequence: Step[]) => {
        const model = new PoolModel(3, 3);
        model.now = now / 1000;
        const make = async (name: string) => (await curl.post('/pools', { name, units: 3 })).body.id;
        const pair = new Pair(curl, model, [await make('a'), await make('b')]);
        for (const one of sequence) await pair.take(one);
        await expectAgreement(world);
      },
    });
  });
});
