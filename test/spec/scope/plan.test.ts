import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectNeedsOperation, expectNeedsRun, limitedWorld } from '../../support/plan.ts';
import { codeOf } from '../../support/world.ts';

describe('a scope under a plan', () => {
  it('is made only with an operation left; pausing, resuming and cancelling go on', async () => {
    const world = await limitedWorld();
    const { id } = await world.mustPost('/scopes', {});
    await expectNeedsOperation(
      world,
      [
        ['/scopes', {}],
        ['/scopes', { parentScopeId: id }],
      ],
      [['/scopes', { scopeId: id }], [`/scopes/${id}/pause`], [`/scopes/${id}/resume`], [`/scopes/${id}/cancel`]],
    );
  });

  it('begins no run beyond the plan; below one that exists it may', async () => {
    const world = await limitedWorld();
    const { id } = await world.mustPost('/scopes', {});
    await expectNeedsRun(world, [
      ['/scopes', {}],
      ['/scopes', { parentScopeId: randomUUID() }],
    ]);
    await world.service.store.hset(`muster:{${world.org}}`, { runs: '0' });
    expect(codeOf(await world.post('/scopes', { parentScopeId: id }))).to.equal('201');
  });
});
