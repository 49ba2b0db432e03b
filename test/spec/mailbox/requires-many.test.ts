import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { idsOf, Site } from './site.ts';
import { inState } from './steps.ts';

describe('Many messages that require units', () => {
  it('do not hide one behind them that is not short, and are freed oldest first as far as units go', async () => {
    const site = await Site.create({ backlogLimit: 10_000 });
    const [full, free] = [await site.pool(), await site.pool(120)];
    const held = await site.acquire(full);
    const short = [];
    for (let n = 0; n < 250; n++) short.push(site.queue.sent({ requires: { pools: [{ poolId: full }] } }));
    await Promise.all(short);
    const id = await site.queue.sent({ requires: { pools: [{ poolId: free }] } });
    expect(idsOf(await site.claims())).to.deep.equal([id]);
    expect((await site.queue.record()).counts).to.include({ ready: 0, blocked: 250 });
    const oldest = await inState(site.queue, 'BLOCKED');
    await site.world.call('PATCH', `/pools/${full}`, { units: 200 });
    await workOff(site.world);
    const counts = (await site.queue.record()).counts;
    expect([counts.ready, counts.blocked], 'as many as fit together').to.deep.equal([199, 51]);
    expect(await inState(site.queue, 'READY'), 'and of these the oldest').to.deep.equal(oldest.slice(0, 199));
    await site.world.mustPost(`/pool-holds/${held.id}/release`, { token: held.token });
    expect([...(await site.claims()), ...(await site.claims()), ...(await site.claims())]).to.have.lengthOf(200);
    expect((await site.poolOf(full)).heldUnits).to.equal(200);
  });

  it('never have more than the units when 200 are received, ended and given back at once', async () => {
    const site = await Site.create({ maxAttempts: 100 });
    const [poolId, other] = [await site.pool(3), await site.pool(2)];
    await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        site.queue.sent({
          requires: { pools: [{ poolId, units: 1 + (n % 2) }, ...(n % 3 === 0 ? [{ poolId: other }] : [])] },
        }),
      ),
    );
    let [held, done] = [0, 0];
    const fences: number[] = [];
    const work = async (): Promise<void> => {
      while (done < 200) {
        const reply = await site.queue.recv();
        if (reply.status === 204) {
          await workOff(site.world);
          continue;
        }
        const claim = reply.body;
        const [{ units, fence }] = claim.holds;
        held += units;
        fences.push(fence);
        expect(held).to.be.at.most(3);
        await new Promise((resolve) => setImmediate(resolve));
        held -= units;
        const isBack = claim.attempt === 1 && claim.id.charCodeAt(35) % 4 === 0;
        await site.queue.act(isBack ? 'nack' : 'complete', claim, isBack ? { retry: true } : {});
        if (!isBack) done++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(new Set(fences).size).to.equal(fences.length);
    expect(await site.poolOf(poolId)).to.include({ heldUnits: 0 });
    await expectAgreement(site.world);
  });
});
