import { expect } from 'chai';
import { randomTail, randomToken } from '../../../src/call/random.ts';
import { expectAgreement } from '../../support/agree.ts';
import { World } from '../../support/world.ts';
import { callArgs } from '../allowance/script.ts';
import { type Acquired, TestPool } from './holds.ts';

describe('pools in an invocation of several calls, refused as a whole', () => {
  it('release, acquire and cancel in one step: the order holds, and what waits is granted right after', async () => {
    const world = await World.create();
    const pool = await TestPool.create(world, 1);
    const first = await pool.acquire({ holderSession: 'a' });
    const second = await pool.acquire({ holderSession: 'b' });
    const third = await pool.acquire({ holderSession: 'c' });
    const acquire = (holderSession: string) => ({
      script: 'pool/acquire',
      args: {
        ...callArgs(world),
        ...{ poolId: pool.id, units: 1, scopeId: pool.scopeId, holder: 'agent', holderSession, leaseSeconds: '' },
        ...{ ttlSeconds: 300, token: randomToken(), tail: randomTail() },
      },
    });
    const release = ({ id, token }: Acquired) => ({
      script: 'pool/releaseHold',
      args: { ...callArgs(world), holdId: id, token, isForced: '' },
    });
    const cancel = ({ id }: Acquired) => ({ script: 'pool/cancelHold', args: { ...callArgs(world), holdId: id } });
    const run = (...calls: Parameters<typeof world.service.scripts.runMixed>[1]) =>
      world.service.scripts.runMixed(world.org, calls, { isWhole: true });
    await run(acquire('d'), release(first), cancel(third), acquire('e'));
    // What the step could not read as it is stored is the workers', at once.
    await world.service.due.drain(world.org, '*');
    expect(await pool.states(first, second, third)).to.deep.equal(['RELEASED', 'HELD', 'CANCELLED']);
    expect(await pool.view()).to.include({ heldUnits: 1, waiting: 2 });
    await expectAgreement(world);
    const refused = await run(release(second), release({ ...second, token: 'x' })).catch((error: Error) => error);
    expect(refused).to.be.instanceOf(Error);
    expect(await pool.states(second), 'nothing happened').to.deep.equal(['HELD']);
  });
});
