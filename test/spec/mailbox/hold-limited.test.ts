import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('recv with waitSeconds under a limit of concurrency', () => {
  let queue: Queue;
  const held = () => queue.world.service.wake.size;
  const hold = (fields: object = {}): Promise<Reply> => queue.recv({ waitSeconds: 20, ...fields });
  beforeEach(async () => {
    queue = await Queue.create();
  });

  it('retries CONCURRENCY_LIMITED by itself, answers 429 when the time is up, and passes the message on to the next request', async () => {
    queue = await Queue.create({}, await World.create({ figures: { agents: '1' } }));
    await queue.sent();
    const claim = await queue.claim();
    const first = hold({ waitSeconds: 1 });
    while (held() < 1) await sleep(5);
    const next = hold();
    while (held() < 2) await sleep(5);
    const id = await queue.sent();
    expect(codeOf(await first)).to.equal('429 CONCURRENCY_LIMITED');
    await queue.act('complete', claim);
    expect((await next).body.id).to.equal(id);
  });
});
