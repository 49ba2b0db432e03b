import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Run } from './run.ts';

describe('POST /scopes/{id}/cancel', () => {
  it('smoke', async () => {
    const run = await Run.create();
    const kid = await run.below();
    await run.sent(3);
    await kid.sent(2);
    const claim = (await run.recv()).body;
    const b = await run.world.made('/barriers', { scopeId: kid.scopeId, target: 2 });
    const r = await run.cancel();
    console.log(
      JSON.stringify(r.body),
      JSON.stringify(await kid.view()),
      JSON.stringify((await run.world.get('/scopes')).body),
    );
    console.log(codeOf(await run.world.post(`/messages/${claim.id}/complete`, { token: claim.token })));
    console.log((await run.world.eventTypes()).join(' '));
    console.log(codeOf(await run.send()), codeOf(await run.recv()));
    await expectAgreement(run.world);
  });
});
