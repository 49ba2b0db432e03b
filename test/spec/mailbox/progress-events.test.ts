import { expect } from 'chai';
import { Deliveries } from '../../support/webhooks.ts';
import { Queue } from './queue.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('Events of progress', () => {
  const told = async (queue: Queue): Promise<number> =>
    (await queue.eventTypes()).filter((type) => type === 'message.progressed').length;
  const set = (queue: Queue, progressEvents: boolean) =>
    queue.world.call('PATCH', `/mailboxes/${queue.id}`, { progressEvents });
  const counted = ({ world: { service, org, spaceId } }: Queue) =>
    service.store.hget(`muster:{${org}}:${spaceId}`, 'progressMailboxes');

  it('are not emitted unless the mailbox has progressEvents', async () => {
    const queue = await Queue.create();
    await Queue.create({ progressEvents: true }, queue.world);
    await queue.sent();
    const claim = await queue.claim();
    expect((await queue.act('renew', claim, { progress: 1 })).status).to.equal(200);
    expect(await told(queue)).to.equal(0);
  });

  it('say that there is progress, and not what; a renewal without any emits none', async () => {
    const queue = await Queue.create({ progressEvents: true });
    await queue.sent({ workKey: 'w' });
    const claim = await queue.claim();
    await queue.act('renew', claim);
    expect(await told(queue)).to.equal(0);
    await queue.act('renew', claim, { progress: { page: 7 } });
    const event = (await queue.world.get('/events')).body.events.at(-1);
    expect(event).to.deep.include({ type: 'message.progressed', aggregateId: claim.id, scopeId: queue.scopeId });
    expect(event.payload).to.deep.equal({
      ...{ messageId: claim.id, mailboxId: queue.id, scopeId: queue.scopeId, taskId: claim.id },
      ...{ state: 'CLAIMED', attempts: 1 },
    });
    expect((await queue.message(claim.id)).progress).to.deep.equal({ page: 7 });
  });

  it('come at most once a second for each message, over its attempts', async () => {
    const queue = await Queue.create({ progressEvents: true });
    const now = Date.now();
    await queue.world.at(now);
    for (let i = 0; i < 2; i++) await queue.sent();
    let [one, other] = [await queue.claim(), await queue.claim()];
    const report = (claim: { id: string; token: string }) => queue.act('renew', claim, { progress: 1 });
    for (const claim of [one, one, other]) await report(claim);
    expect(await told(queue)).to.equal(2);
    await queue.act('nack', one, { retry: true });
    one = await queue.claim();
    await queue.world.at(now + 999);
    for (const claim of [one, other]) await report(claim);
    expect(await told(queue)).to.equal(2);
    await queue.world.at(now + 1_000);
    for (const claim of [one, other]) await report(claim);
    expect(await told(queue)).to.equal(4);
    expect((await queue.message(one.id)).progress).to.equal(1);
  });

  it('begin and end with a PATCH, for messages that were there before', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    let seconds = 0;
    await queue.sent();
    const claim = await queue.claim({ leaseSeconds: 600 });
    const reported = async () => {
      seconds++;
      await queue.world.at(now + seconds * 1_000);
      await queue.act('renew', claim, { progress: seconds, leaseSeconds: 600 });
      return told(queue);
    };
    expect(await reported()).to.equal(0);
    expect((await set(queue, true)).body.progressEvents).to.equal(true);
    expect(await reported()).to.equal(1);
    const before = await queue.eventTypes();
    expect((await set(queue, true)).body.progressEvents).to.equal(true);
    expect(await queue.eventTypes()).to.deep.equal(before);
    expect((await set(queue, false)).body.progressEvents).to.equal(false);
    expect(await reported()).to.equal(1);
  });

  it('are emitted in the batch that switches them on', async () => {
    const queue = await Queue.create();
    await queue.sent();
    const { id, token } = await queue.claim();
    const calls = [
      { call: 'mailbox.update', mailboxId: queue.id, progressEvents: true },
      { call: 'message.renew', messageId: id, token, progress: 1 },
    ];
    for (const atomic of [false, true]) {
      await set(queue, false);
      await queue.world.at(Date.now() + (atomic ? 5_000 : 0));
      const before = await told(queue);
      expect((await queue.world.post('/batch', { calls, atomic })).status).to.equal(200);
      expect(await told(queue)).to.equal(before + 1);
    }
  });

  it('leave the space as it was when their mailbox is deleted or wants none any more', async () => {
    const queue = await Queue.create();
    expect(await counted(queue)).to.equal(null);
    const others = [await Queue.create({ progressEvents: true }, queue.world), await Queue.create({}, queue.world)];
    await set(others[1] as Queue, true);
    expect(await counted(queue)).to.equal('2');
    await queue.world.call('DELETE', `/mailboxes/${others[0]?.id}`);
    await set(others[1] as Queue, false);
    expect(await counted(queue)).to.equal('0');
  });

  it('leave receives and sends as they are in a space that has them', async () => {
    const queue = await Queue.create({ progressEvents: true, backlogLimit: 2 });
    await queue.sent();
    await queue.world.mustPost(`/mailboxes/${queue.id}/pause`);
    expect((await queue.recv()).status).to.equal(204);
    await queue.world.mustPost(`/mailboxes/${queue.id}/resume`);
    const claim = await queue.claim();
    await queue.sent();
    expect((await queue.send()).status).to.equal(409);
    await queue.act('complete', claim);
    expect((await queue.send()).status).to.equal(201);
  });

  it('have the trace of their message', async () => {
    const queue = await Queue.create({ progressEvents: true });
    const body = { scopeId: queue.scopeId, payload: 1 };
    await queue.world.post(`/mailboxes/${queue.id}/messages`, body, { traceparent });
    await queue.act('renew', await queue.claim(), { progress: 1 });
    const event = (await queue.world.get('/events')).body.events.at(-1);
    expect([event.type, event.traceparent.slice(0, 35)]).to.deep.equal([
      'message.progressed',
      traceparent.slice(0, 35),
    ]);
  });

  describe('for a webhook', () => {
    const to = new Deliveries();

    it('are delivered to a destination that wants them', async () => {
      const world = await to.ready();
      await to.register(world, ['message.progressed']);
      const queue = await Queue.create({ progressEvents: true }, world);
      await queue.sent();
      await queue.act('renew', await queue.claim(), { progress: 1 });
      const [got] = await to.sink.got(1);
      expect(got?.body.type).to.equal('message.progressed');
    });
  });
});
