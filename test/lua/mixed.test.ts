import { hash } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import type { Reply } from '../../src/engine/declare/value.ts';
import { type MixedCall, Refusal, ScriptFailure } from '../../src/engine/redis/scripts.ts';
import { maxReceivedBytes } from '../../src/engine/route/route.ts';
import { rooms } from '../../src/primitives/primitives.ts';
import { collect } from '../../src/primitives/room.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { Gate } from '../spec/barrier/gate.ts';
import { OwnStore } from '../support/own-store.ts';
import { overrides, World } from '../support/world.ts';
import { probeRoom } from './probe.ts';

describe('A run of several scripts', () => {
  let ownStore: OwnStore;
  let service: MusterService;
  let world: World;

  before(async () => {
    ownStore = await OwnStore.start();
    const rest = { role: 'api', host: '127.0.0.1', port: 0, overrides } as const;
    const product = collect([...rooms, probeRoom]);
    service = await startService({ redisUrl: ownStore.url, log: pino({ level: 'silent' }), product, ...rest });
  });
  beforeEach(async () => {
    world = await World.create({ on: service });
  });
  after(async () => {
    await service.stop();
    await ownStore.stop();
  });

  const call = (script: string, callName: string, args: MixedCall['args'], digest = ''): MixedCall => ({
    script,
    args: {
      apiKeyDigest: hash('sha256', world.apiKey, 'base64url'),
      permission: 'coordination_write',
      rateClass: 'ordinary',
      callName,
      idempotencyDigest: digest,
      fingerprint: 'fingerprint'.slice(0, 10),
      sweptThrough: '',
      openedMessages: '',
      spaceId: world.spaceId,
      requestId: '',
      ...args,
    },
  });
  const change = (name: string, refuses = false): MixedCall =>
    call('probe/change', 'probe.change', { name, refuses: refuses ? '1' : '0' }, `digest-${name}`.padEnd(22, '.'));
  const arrive = (gate: Gate, arrivalKey: string): MixedCall =>
    call('barrier/arrive', 'barrier.arrive', { barrierId: gate.id, arrivalKey, epoch: '' });
  const list = (): MixedCall => call('barrier/list', 'barrier.list', { limit: 10, cursor: '', states: '' });
  const run = (calls: readonly MixedCall[], isWhole = false): Promise<readonly (Reply | Error)[]> =>
    isWhole
      ? service.scripts.executeWhole(world.org, calls, maxReceivedBytes)
      : service.scripts.executeMixed(world.org, calls);
  const changes = async (name: string): Promise<string | null> =>
    service.store.hget(`${world.prefix}:probe:${name}`, 'changes');
  const usedRequests = async (): Promise<number> =>
    Number(await service.store.hget(`muster:{${world.org}}:${world.spaceId}`, 'usedRequests'));

  it('carries out each call with its own arguments and reply, in order, and reads what all share once', async () => {
    const gate = await Gate.create(2, world);
    const before = await usedRequests();
    const replies = await run([change('a'), arrive(gate, 'x'), change('b'), change('a'), arrive(gate, 'y')]);
    expect(replies.map((reply) => Array.isArray(reply))).to.deep.equal(Array(5).fill(true));
    expect(await gate.view()).to.include({ state: 'RELEASED', arrivals: 2 });
    expect([await changes('a'), await changes('b')]).to.deep.equal(['1', '1']);
    expect((await usedRequests()) - before, 'the second change of a is a replay').to.equal(5 + 1);
  });

  it('refuses each by itself: the others happen, and the refused one has only been counted', async () => {
    const gate = await Gate.create(1, world);
    const before = await usedRequests();
    const replies = await run([change('a'), change('b', true), arrive(gate, 'x'), arrive(gate, 'y')]);
    expect(replies[1]).to.be.instanceOf(Refusal).with.property('code', 'PROBE_REFUSED');
    expect(replies[3]).to.be.instanceOf(Refusal).with.property('code', 'BARRIER_RELEASED');
    expect([await changes('a'), await changes('b')]).to.deep.equal(['1', null]);
    expect(await gate.view()).to.include({ state: 'RELEASED', arrivals: 1 });
    expect((await usedRequests()) - before).to.equal(4 + 1);
  });

  it('refused as a whole does none of its calls: nothing is written but that one request was counted', async () => {
    const gate = await Gate.create(2, world);
    for (const at of [0, 1, 2]) {
      const calls = [change('a'), arrive(gate, 'x'), change('c')];
      calls.splice(at, 0, change('b', true));
      const before = await usedRequests();
      const error = await run(calls, true).catch((thrown: Error) => thrown);
      expect(error).to.be.instanceOf(Refusal).with.property('code', 'PROBE_REFUSED');
      expect(error, 'its place').to.have.property('index', at);
      expect([await changes('a'), await changes('b'), await changes('c')]).to.deep.equal([null, null, null]);
      expect((await usedRequests()) - before).to.equal(1);
    }
    expect(await gate.view()).to.include({ state: 'OPEN', arrivals: 0 });
    const replies = await run([change('a'), arrive(gate, 'x'), list()], true);
    expect(replies).to.have.lengthOf(3);
    expect([await changes('a'), (await gate.view())['arrivals']]).to.deep.equal(['1', 1]);
  });

  it('a run refused as a whole is not counted if it was sent back, and keeps nothing of a call', async () => {
    const before = await usedRequests();
    const sentBack = await run([change('a'), call('probe/keep', 'probe.keep', { keeps: '0' })], true).catch(String);
    expect(sentBack).to.contain('DUE');
    expect(await usedRequests()).to.equal(before);
    const kept = await run([change('a'), call('probe/keep', 'probe.keep', { keeps: '1' })], true).catch(
      (error) => error,
    );
    expect(kept).to.be.instanceOf(ScriptFailure);
    expect(String(kept)).to.contain('an invocation that is refused as a whole keeps nothing');
    expect(await changes('a')).to.equal(null);
    const [, alone] = await run([change('a'), call('probe/keep', 'probe.keep', { keeps: '1' })]);
    expect(alone).to.be.instanceOf(Refusal).with.property('code', 'MORE');
    expect([await changes('a'), await changes('kept')]).to.deep.equal(['1', '1']);
  });

  it('200 calls at once are each counted exactly once', async () => {
    const gate = await Gate.create(200, world);
    const runs = Array.from({ length: 50 }, (_, index) =>
      run(
        Array.from({ length: 4 }, (__, n) => arrive(gate, `key-${index}-${n}`)),
        index % 2 === 0,
      ),
    );
    await Promise.all(runs);
    expect(await gate.view()).to.include({ state: 'RELEASED', arrivals: 200 });
  });
});
