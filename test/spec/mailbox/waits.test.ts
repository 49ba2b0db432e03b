import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('Waiting until a message or a mailbox is done', () => {
  it('GET /messages/{id} with waitSeconds answers when the message ends, and at once if it has', async () => {
    const queue = await Queue.create();
    const id = await queue.sent();
    const { world } = queue;
    const waits = Array.from({ length: 20 }, () => world.get(`/messages/${id}?waitSeconds=20`));
    await queue.act('complete', await queue.claim(), { result: { payload: 42 } });
    for (const { body } of await Promise.all(waits)) expect(body).to.include({ state: 'ACKED', result: 42 });
    expect((await world.get(`/messages/${id}?waitSeconds=20`)).body.state).to.equal('ACKED');
  });

  it('GET /mailboxes/{id} answers when nothing in it is READY, DELAYED or CLAIMED', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    expect((await world.get(`/mailboxes/${queue.id}?waitSeconds=20`)).status).to.equal(200);
    const delayed = await queue.sent({ delaySeconds: 600 });
    await queue.sent();
    let isOver = false;
    const wait = world.get(`/mailboxes/${queue.id}?waitSeconds=20`).then((reply) => {
      isOver = true;
      return reply;
    });
    await queue.act('complete', await queue.claim());
    await world.get(`/mailboxes/${queue.id}`);
    expect(isOver).to.equal(false);
    await world.mustPost(`/messages/${delayed}/cancel`);
    expect((await wait).body.counts).to.deep.equal({
      ready: 0,
      delayed: 0,
      blocked: 0,
      claimed: 0,
      failed: 0,
      acked: 1,
    });
  });
});

describe('A cancelled run', () => {
  it('is skipped by a receive for all runs, and its DELAYED messages end like the others', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const [stopped, other] = [randomUUID(), randomUUID()];
    for (let n = 0; n < 3; n++) await queue.sent({ scopeId: stopped });
    const delayed = await queue.sent({ scopeId: stopped, delaySeconds: 600 });
    const id = await queue.sent({ scopeId: other });
    const { body } = await world.post(`/scopes/${stopped}/cancel`);
    expect(body.cancelled.messages).to.equal(4);
    expect(await queue.message(delayed)).to.include({ state: 'CANCELLED', reason: 'RUN_CANCELLED', readyAt: null });
    expect((await queue.claim({ scopeId: '*' })).id).to.equal(id);
    expect((await queue.recv({ scopeId: '*' })).status).to.equal(204);
    expect(await queue.counts()).to.deep.equal({ claimed: 1 });
    expect(codeOf(await world.post(`/messages/${delayed}/requeue`))).to.equal('409 SCOPE_CANCELLED');
  });
});
