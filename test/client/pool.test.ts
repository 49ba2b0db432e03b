import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMuster, type Hold, HoldLost, type Muster, MusterError } from '../../src/clients/typescript/index.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

describe('muster.pool(name).hold', () => {
  let world: World;
  let muster: Muster;
  beforeEach(async () => {
    world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    await muster.pool.create({ name: 'deploys', units: 1 });
  });
  const pool = async () => (await muster.pool.list({ name: 'deploys' })).pools[0];
  const failure = (work: Promise<unknown>) => work.then(() => undefined).catch((thrown) => thrown);

  it('holds units while the body runs, hands out the fence, and releases whatever the body does', async () => {
    const answer = await muster.pool('deploys').hold(async ({ fence, record, signal }) => {
      expect([record.state, record.fence, signal.aborted]).to.deep.equal(['HELD', fence, false]);
      expect((await pool())?.heldUnits).to.equal(1);
      return fence;
    });
    expect(answer).to.be.above(0);
    expect((await pool())?.heldUnits).to.equal(0);
    const broken = muster.pool('deploys').hold(() => {
      throw new RangeError('broken');
    });
    expect(await failure(broken)).to.be.instanceOf(RangeError);
    expect((await pool())?.heldUnits).to.equal(0);
  });

  it('lets one in after the other, with growing fences', async () => {
    const fences: number[] = [];
    let inside = 0;
    const body = async ({ fence }: Hold): Promise<void> => {
      inside++;
      expect(inside).to.equal(1);
      await sleep(5);
      fences.push(fence);
      inside--;
    };
    // Sessions of their own: the same one would wait for itself.
    const holders = Array.from({ length: 10 }, (_, i) =>
      muster.pool('deploys').hold(body, { holderSession: `${i}`, leaseSeconds: 5 }),
    );
    await Promise.all(holders);
    expect(fences).to.deep.equal([...new Set(fences)].sort((a, b) => a - b));
    expect(fences).to.have.length(10);
  });

  it('refuses where the wait is in vain, or would never end', async () => {
    await muster.pool('deploys').hold(async () => {
      const none = await failure(muster.pool('deploys').hold(() => 1, { ttlSeconds: 0 }));
      expect(none).to.be.instanceOf(MusterError).with.property('code', 'POOL_EXHAUSTED');
    });
    const scopeId = world.spaceId;
    const twice = muster
      .pool('deploys')
      .hold(() => muster.pool('deploys').hold(() => 1, { scopeId }), { scopeId, leaseSeconds: 5 });
    expect(await failure(twice))
      .to.be.instanceOf(MusterError)
      .with.property('code', 'DEADLOCK');
    expect((await pool())?.heldUnits).to.equal(0);
    expect(await failure(muster.pool('nothing').hold(() => 1))).to.have.property(
      'message',
      'there is no pool named nothing',
    );
  });

  it('aborts the body’s signal when the hold is lost, and rejects with HoldLost', async () => {
    const lost = muster.pool('deploys').hold(
      async ({ record, signal }) => {
        await muster.hold.release({ holdId: record.id, force: true });
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        expect(signal.reason).to.be.instanceOf(HoldLost);
        return 'ended in spite of it';
      },
      { leaseSeconds: 5 },
    );
    expect(await failure(lost)).to.be.instanceOf(HoldLost);
  }).timeout(10_000);

  for (const [how, fails] of [
    ['fails', () => Promise.reject(new TypeError('cut off'))],
    [
      'hangs',
      (signal) =>
        new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(new TypeError('cut off')))),
    ],
  ] as [string, (signal: AbortSignal | null | undefined) => Promise<never>][])
    it(`loses the hold by its own clock when no renewal is answered: each ${how}`, async () => {
      let isCut = false;
      const cut: typeof fetch = (url, init) => (isCut ? fails(init?.signal) : fetch(url, init));
      const far = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, fetch: cut });
      const begun = performance.now();
      const lost = far.pool('deploys').hold(
        async ({ signal }) => {
          isCut = true;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
        { leaseSeconds: 5 },
      );
      expect(await failure(lost)).to.be.instanceOf(HoldLost);
      expect(performance.now() - begun, 'not before it must').to.be.at.least(3_000);
    });

  it('waits with a place of 30 s that it renews', async () => {
    const renewals: string[] = [];
    // Views that do not wait, so that it renews all the time.
    const hasty: typeof fetch = (url, init) => {
      if (String(url).endsWith('/renew')) renewals.push(String(init?.body));
      return fetch(String(url).replace(/waitSeconds=\d+/, 'waitSeconds=0'), init);
    };
    const far = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, fetch: hasty });
    const waiting = async () => (await muster.hold.list({ state: 'WAITING' })).holds[0];
    let inside: Promise<unknown> = Promise.resolve();
    const begun = Date.now();
    await muster.pool('deploys').hold(async () => {
      const options = { holderSession: 'other', ttlSeconds: Number.POSITIVE_INFINITY };
      inside = failure(far.pool('deploys').hold(({ record }) => record.id, options));
      while (renewals.length < 2) await sleep(10);
      expect(renewals[1]).to.equal('{"ttlSeconds":30}');
      const first = await waiting();
      expect(Date.parse(first?.expiresAt ?? '')).to.be.within(begun, Date.now() + 30_000);
      await muster.hold.cancel({ holdId: first?.id ?? '' });
    });
    expect(await inside).to.be.instanceOf(HoldLost);
  });

  it('asks for another place when its own has expired before its time', async () => {
    await muster.pool('deploys').hold(
      async () => {
        const controller = new AbortController();
        const options = { holderSession: 'other', ttlSeconds: 100_000, signal: controller.signal };
        const waits = failure(muster.pool('deploys').hold(() => 1, options));
        await until(async () => (await pool())?.waiting === 1);
        const [first] = (await muster.hold.list({ state: 'WAITING' })).holds;
        await world.at(Date.now() + 31_000);
        await world.service.due.drain(world.org);
        expect((await muster.hold.view({ holdId: first?.id ?? '' })).state).to.equal('EXPIRED');
        await until(async () => (await pool())?.waiting === 1);
        controller.abort(new Error('enough'));
        expect(await waits).to.have.property('message', 'enough');
      },
      { leaseSeconds: 600 },
    );
  });

  it('waits no longer than its ttlSeconds', async () => {
    await muster.pool('deploys').hold(
      async () => {
        const waits = failure(muster.pool('deploys').hold(() => 1, { holderSession: 'other', ttlSeconds: 20 }));
        await until(async () => (await pool())?.waiting === 1);
        await world.at(Date.now() + 21_000);
        await world.service.due.drain(world.org);
        expect(await waits).to.have.property('code', 'POOL_EXHAUSTED');
      },
      { leaseSeconds: 600 },
    );
    for (const ttlSeconds of [-1, Number.NaN])
      expect(await failure(muster.pool('deploys').hold(() => 1, { ttlSeconds }))).to.be.instanceOf(RangeError);
  });

  it('leaves the queue when its signal aborts', async () => {
    await muster.pool('deploys').hold(async () => {
      const controller = new AbortController();
      const waiting = failure(
        muster.pool('deploys').hold(() => 1, { holderSession: 'other', signal: controller.signal }),
      );
      await until(async () => (await pool())?.waiting === 1);
      controller.abort(new Error('enough'));
      expect(await waiting).to.be.instanceOf(Error);
      await until(async () => (await pool())?.waiting === 0);
    });
  });

  it('finds a pool that was made anew under its name', async () => {
    await muster.pool('deploys').hold(() => 1);
    const { id = '' } = (await pool()) ?? {};
    await muster.pool.delete({ poolId: id });
    await muster.pool.create({ name: 'deploys', units: 2 });
    expect(await muster.pool('deploys').hold(({ record }) => record.units, { units: 2 })).to.equal(2);
  });
});
