import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('recv with waitSeconds under a limit of concurrency', () => {
  it('a held receive retries CONCURRENCY_LIMITED by itself, and answers 429 when the time is up', async () => {
    const queue = await Queue.create({}, await World.create({ figures: { agents: '1' } }));
    const held = () => queue.world.service.wake.size;
    await queue.sent();
    const claim = await queue.claim();
    const first = queue.recv({ waitSeconds: 1 });
    while (held() < 1) await sleep(5);
    const next = queue.recv({ waitSeconds: 20 });
    while (held() < 2) await sleep(5);
    const id = await queue.sent();
    expect(codeOf(await first)).to.equal('429 CONCURRENCY_LIMITED');
    await queue.act('complete', claim);
    expect((await next).body.id).to.equal(id);
  });
});
