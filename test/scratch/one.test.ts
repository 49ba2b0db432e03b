import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { Queue } from '../spec/mailbox/queue.ts';
describe('one', () => {
  it('x', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    const { world } = queue;
    await world.at(now);
    const r2 = randomUUID();
    const p = await queue.sent();
    const c = await queue.sent({ scopeId: r2, after: [{ messageId: p }], onFailure: 'RUN' });
    await world.mustPost(`/mailboxes/${queue.id}/purge`, { scopeId: r2 });
    await world.at(now + 1);
    console.log((await world.mustPost(`/messages/${c}/requeue`, { delaySeconds: 3 })).state, await world.service.store.hgetall(`${world.prefix}:message:${c}`));
    await world.at(now + 2);
    await world.mustPost(`/scopes/${queue.scopeId}/cancel`);
    console.log((await world.get(`/messages/${c}`)).body);
    await world.service.due.drain(world.org, '*');
    console.log((await world.get(`/messages/${c}`)).body);
  });
});
