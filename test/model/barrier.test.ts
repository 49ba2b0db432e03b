import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import { BarrierModel } from './barrier.model.ts';
import type { Curl } from './curl.ts';
import { trySequences } from './sequences.ts';

const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      key: fc.nat(5),
      epoch: fc.option(fc.integer({ min: -1, max: 1 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('nextEpoch' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 60_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const outcomes = [
  '200',
  'EPOCH_MISMATCH',
  'VALIDATION_FAILED',
  'BARRIER_RELEASED',
  'BARRIER_CANCELLED',
  'BARRIER_NOT_RELEASED',
];
/** The outcomes that the sequences have produced so far. */
const met = new Set<string>();

/** A barrier of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model: BarrierModel;
  readonly #id: string;
  readonly #createdAt: number;
  #now: number;

  constructor(curl: Curl, model: BarrierModel, id: string, now: number) {
    this.#curl = curl;
    this.#model = model;
    this.#id = id;
    this.#createdAt = now;
    this.#now = now;
  }

  async take(step: Step): Promise<void> {
    this.#now += step.do === 'pass' ? step.ms : 1;
    await this.#curl.at(this.#now);
    let isShown = false;
    if (step.do === 'arrive') {
      const epoch = step.epoch === null ? null : this.#model.epochs.length + step.epoch;
      const reply = await this.#post('arrive', { arrivalKey: `a${step.key}`, epoch });
      const outcome = epoch === 0 ? 'VALIDATION_FAILED' : this.#model.arrive(`a${step.key}`, epoch, this.#now);
      isShown = this.#check(reply, outcome);
    }
    if (step.do === 'nextEpoch') isShown = this.#check(await this.#post('nextEpoch'), this.#model.nextEpoch());
    if (step.do === 'cancel') isShown = this.#check(await this.#post('cancel'), this.#model.cancel());
    if (step.do === 'again') await this.#curl.again(step.index);
    if (!isShown) await this.look();
  }

  async look(): Promise<void> {
    const { body } = await this.#curl.get(`/barriers/${this.#id}`);
    expect(body).to.deep.equal(this.#record());
  }

  /** Expects one release per epoch that reached the target, and one event per arrival. */
  async events(world: World): Promise<void> {
    const types = await world.eventTypes();
    const countOf = (type: string): number => types.filter((one) => one === `barrier.${type}`).length;
    expect(countOf('released')).to.equal(this.#model.releases);
    expect(countOf('arrived')).to.equal(this.#model.epochs.reduce((sum, keys) => sum + keys.size, 0));
    expect(countOf('epoch_advanced')).to.equal(this.#model.epochs.length - 1);
    expect(countOf('cancelled')).to.equal(this.#model.cancels);
  }

  /** Whether the reply shows the barrier, as the next one reads it. */
  #check(reply: Reply, outcome: string): boolean {
    expect(reply.body.error?.code ?? `${reply.status}`).to.equal(outcome);
    met.add(outcome);
    if (outcome === '200') expect(reply.body).to.deep.equal(this.#record());
    return outcome === '200';
  }

  #post(what: string, body?: unknown): Promise<Reply> {
    return this.#curl.post(`/barriers/${this.#id}/${what}`, body);
  }

  #record(): object {
    const { state, epochs, keys, target, releasedAt } = this.#model;
    return {
      ...{ id: this.#id, scopeId, state, epoch: epochs.length, arrivals: keys.size, target },
      createdAt: new Date(this.#createdAt).toISOString(),
      releasedAt: releasedAt === null ? null : new Date(releasedAt).toISOString(),
    };
  }
}

describe('barrier model', () => {
  it('releases exactly once per epoch, and counts a key once per epoch, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{ first: fc.integer({ min: 1, max: 4 }), step, maxLength: 80, outcomes, met },
      run: async (curl, world, now, target, sequence) => {
        const { body } = await curl.post('/barriers', { scopeId, target });
        const pair = new Pair(curl, new BarrierModel(target), body.id, now);
        for (const one of sequence) await pair.take(one);
        await pair.look();
        await pair.events(world);
      },
    });
  });
});
