import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { World } from '../../support/world.ts';

describe('allowances in an atomic batch', () => {
  it('settle, wait, cancel and consume in one step: the order holds, and what waits is granted in that step', async () => {
    const world = await World.create();
    await world.at(Math.floor(Date.now() / 60_000) * 60_000 + 1_000);
    const { id: allowanceId } = await world.mustPost('/allowances', { name: 'q', unitsLimit: 10, windowSeconds: 60 });
    const use = { scopeId: randomUUID(), holder: 'h' };
    const { id: used } = await world.mustPost(`/allowances/${allowanceId}/consume`, { ...use, units: 10 });
    const wait = async (units: number): Promise<string> =>
      (await world.mustPost(`/allowances/${allowanceId}/wait`, { ...use, units })).id;
    const [first, second, third] = [await wait(4), await wait(3), await wait(2)];
    const states = () =>
      Promise.all([first, second, third].map(async (id) => (await world.get(`/allowance-waiters/${id}`)).body.state));
    const queueing = { call: 'allowance.wait', allowanceId, ...use, units: 1, ttlSeconds: 300 };
    const cancelling = (waiterId: string) => ({ call: 'waiter.cancel', waiterId });
    const settling = { call: 'allowance.settle', allowanceId, consumptionId: used, units: 3 };
    const consuming = { call: 'allowance.consume', allowanceId, ...use, units: 1 };
    const run = (...calls: object[]) => world.post('/batch', { atomic: true, calls });
    const refused = await run(settling, queueing, { ...consuming, units: 3 });
    expect(refused.body.error, 'too few are left').to.include({ code: 'ALLOWANCE_EXHAUSTED', index: 2 });
    expect(await states(), 'nothing happened').to.deep.equal(['WAITING', 'WAITING', 'WAITING']);
    const { body } = await run(queueing, cancelling(second), cancelling(first), settling, queueing);
    expect(body.results.map(({ body }: { body: { state: string } }) => body.state)).to.deep.equal([
      'WAITING',
      'CANCELLED',
      'CANCELLED',
      undefined,
      'GRANTED',
    ]);
    expect(await states()).to.deep.equal(['CANCELLED', 'CANCELLED', 'GRANTED']);
    expect((await world.get(`/allowances/${allowanceId}`)).body).to.include({ usedUnits: 7, waiting: 0 });
    await run(consuming);
    await expectAgreement(world);
  });
});
