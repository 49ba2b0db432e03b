import { expect } from 'chai';
import { World } from '../support/world.ts';
import { Caller } from './scale/caller.ts';
import { COST_NAMES, type Cost, perform } from './scale/cost.ts';
import { operations } from './scale/operations.ts';
import { meanCost, needsOf } from './scale/plan.ts';
import { readOptions } from './scale/settings.ts';
import { limitOf } from './scale/simulate.ts';

const costOf = (some: Partial<Cost>): Cost => ({
  ...(Object.fromEntries(COST_NAMES.map((name) => [name, 0])) as unknown as Cost),
  ...some,
});

describe('npm run bench:scale', () => {
  it('makes every call so that it succeeds, each after those it needs, twice over the same space', async () => {
    const world = await World.create();
    const caller = new Caller(
      `${world.url}/v1/spaces/${world.spaceId}`,
      { authorization: `Bearer ${world.apiKey}` },
      4,
    );
    try {
      for (let round = 0; round < 2; round++) {
        const list = operations(3, { text: 'x' });
        for (const operation of list) await perform(caller, operation, 2);
        expect(list.filter(({ kind }) => kind !== 'aside')).to.have.length.above(35);
      }
      expect(caller.traffic().in).to.be.above(10_000);
    } finally {
      caller.stop();
    }
  });

  it('works out cores, memory by how long it stays, and shards', () => {
    const mean = meanCost([costOf({ redisCpuMicros: 40, journal: 300 }), costOf({ redisCpuMicros: 80, record: 600 })]);
    expect(mean).to.include({ redisCpuMicros: 60, journal: 150, record: 300 });

    const cost = costOf({ redisCpuMicros: 60, apiMicros: 300, journal: 100, replay: 100, record: 100 });
    const footprint = { event: 0, packedEvent: 100, message: 0, packedMessage: 300 };
    const needs = needsOf(cost, footprint, { operationsPerSecond: 20_000, retentionDays: 10, shardGib: 2_000 });
    expect(needs).to.include({ perShard: 10_000, perProcess: 2_000, shardsByProcessor: 2, processes: 10 });
    // The journal stays 30 days at the least, a replay record two.
    expect(needs.journalGib / needs.replayGib).to.be.closeTo(15, 1e-9);
    expect(needs.recordGib / needs.replayGib).to.be.closeTo(5, 1e-9);
    expect(needs).to.include({ shardsByMemory: 4, shards: 4 });
  });

  it('names what was at its end', () => {
    const step = {
      processes: 1,
      offered: 1,
      done: 1,
      p50Millis: 1,
      p99Millis: 1,
      redis: 0.3,
      api: [0.97],
      drivers: 0.5,
      rest: 0.2,
    };
    expect(limitOf(step)).to.equal('the API processes, at a full core');
    expect(limitOf({ ...step, redis: 0.9, api: [0.5, 0.5] })).to.equal('Redis, at a full core');
    expect(limitOf({ ...step, api: [0.6] })).to.match(/^the machine: nobody had a full core, .* 140 % of one$/);
  });

  it('reads its loads, and says what it wants instead of a word', () => {
    expect(readOptions(['--loads', '10,2.5', '--simulate', 'none'])).to.deep.include({
      loads: [10, 2.5],
      simulate: [],
    });
    expect(() => readOptions(['--loads', 'much'])).to.throw('--loads must be a comma list of numbers, not "much"');
  });
});
