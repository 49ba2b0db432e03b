import { expect } from 'chai';
import { heldRead } from '../../support/held-reads.ts';
import { World } from '../../support/world.ts';
import { Run } from './run.ts';

describe('GET /scopes/{id} with waitSeconds', () => {
  const hold = ({ world, scopeId }: Run) => heldRead(world, `/scopes/${scopeId}`);

  it('holds the request until nothing live is left in the scope and below', async () => {
    const run = await Run.create();
    const { world } = run;
    const inner = await run.below();
    const [messageId] = await inner.sent(1);
    const allowance = await world.mustPost('/allowances', { name: 'api', unitsLimit: 1, windowSeconds: 3600 });
    const fields = { scopeId: run.scopeId, units: 1, holder: 'worker' };
    await world.mustPost(`/allowances/${allowance.id}/consume`, fields);
    const { waiterId } = await world.mustPost(`/allowances/${allowance.id}/wait`, fields);
    const [outer, below] = [await hold(run), await hold(inner)];
    const { token } = (await inner.recv()).body;
    await world.post(`/messages/${messageId}/complete`, { token });
    expect((await below.answer).body).to.deep.equal(await inner.view());
    expect(world.service.wake.reads, 'the waiter lives').to.equal(1);
    await world.post(`/allowance-waiters/${waiterId}/cancel`);
    const { body } = await outer.answer;
    expect(body).to.deep.equal(await run.view());
    expect(body).to.deep.include({ state: 'IDLE', live: { messages: 0, waiters: 0 } });
    expect((await world.get(`/scopes/${run.scopeId}?waitSeconds=30`)).body, 'at once').to.deep.equal(body);
  });

  it('holds the request until a cancel has ended everything, whoever runs its steps', async () => {
    const run = await Run.create(await World.create({ limits: { maxBacklog: 100_000 } }));
    await run.fill(260);
    const { answer } = await hold(run);
    expect((await run.cancel()).body.done).to.equal(false);
    expect((await run.view()).state).to.equal('CANCELLED');
    expect(run.world.service.wake.reads, 'some are live').to.equal(1);
    await run.worked();
    expect((await answer).body).to.deep.include({ state: 'CANCELLED', live: { messages: 0, waiters: 0 } });
  });
});
