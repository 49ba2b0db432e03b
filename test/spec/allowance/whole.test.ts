import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { randomTail } from '../../../src/call/random.ts';
import { expectAgreement } from '../../support/agree.ts';
import { World } from '../../support/world.ts';
import { callArgs } from './script.ts';

describe('allowances in an invocation of several calls, refused as a whole', () => {
  it('settle, wait, cancel and consume in one step: the order holds, and what waits is granted right after', async () => {
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
    const call = (script: string, args: Record<string, string | number>) => ({
      script: `allowance/${script}`,
      args: { ...callArgs(world), ...args },
    });
    const more = (units: number) => ({ allowanceId, ...use, units, tail: randomTail() });
    const queueing = call('wait', { ...more(1), ttlSeconds: 300 });
    const cancelling = (waiterId: string) => call('cancelWaiter', { waiterId });
    const settling = call('settle', { allowanceId, consumptionId: used, units: 3 });
    const consuming = call('consume', { ...more(1), workKey: '' });
    const run = (...calls: Parameters<typeof world.service.scripts.runMixed>[1]) =>
      world.service.scripts.runMixed(world.org, calls, { isWhole: true });
    const refused = await run(settling, queueing, consuming).catch((error: Error) => error);
    expect(refused, 'somebody waits').to.be.instanceOf(Error);
    expect(await states(), 'nothing happened').to.deep.equal(['WAITING', 'WAITING', 'WAITING']);
    await run(queueing, cancelling(second), cancelling(first), settling, queueing);
    // What the step could not read as it is stored is the workers', at once.
    await world.service.due.drain(world.org, '*');
    expect(await states()).to.deep.equal(['CANCELLED', 'CANCELLED', 'GRANTED']);
    const view = (await world.get(`/allowances/${allowanceId}`)).body;
    expect(view).to.include({ usedUnits: 7, waiting: 0 });
    await run(consuming);
    await expectAgreement(world);
  });
});
