import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { Aging, day } from '../retention/support.ts';
import { Queue } from './queue.ts';

const patch = (queue: Queue, body: object, headers?: Record<string, string>): Promise<Reply> =>
  queue.world.call('PATCH', `/mailboxes/${queue.id}`, body, headers);
const remove = (queue: Queue): Promise<Reply> => queue.world.call('DELETE', `/mailboxes/${queue.id}`);

describe('PATCH /mailboxes/{id}', () => {
  it('changes name, backlogLimit or both; null counts as absent', async () => {
    const queue = await Queue.create();
    const before = await queue.record();
    const one = await patch(queue, { name: 'work' });
    expect([one.status, one.body]).to.deep.equal([200, { ...before, name: 'work' }]);
    const two = await patch(queue, { name: null, backlogLimit: 1 });
    expect(two.body).to.deep.equal({ ...before, name: 'work', backlogLimit: 1 });
    expect(await queue.record()).to.deep.equal(two.body);
    const both = await patch(queue, { name: 'jobs', backlogLimit: 2 });
    expect(both.body).to.include({ name: 'jobs', backlogLimit: 2 });
    const named = async (name: string) => (await queue.world.get(`/mailboxes?name=${name}`)).body.mailboxes.length;
    expect([await named('jobs'), await named('work')]).to.deep.equal([1, 0]);
    const events = (await queue.world.get('/watch?types=mailbox.updated')).body.events;
    expect(events.map(({ payload }: { payload: object }) => payload)).to.deep.equal(
      Array(3).fill({ mailboxId: queue.id, mode: 'WORK' }),
    );
  });

  it('emits and counts nothing if nothing changes, and keeps the mode', async () => {
    const queue = await Queue.create();
    for (const body of [{}, { name: 'jobs' }, { backlogLimit: 1000, name: null }])
      expect((await patch(queue, body)).status).to.equal(200);
    expect(await queue.world.eventTypes()).to.deep.equal(['mailbox.created']);
    expect((await queue.world.get('/usage')).body.days.at(-1).byCall).to.deep.equal({ 'mailbox.create': 1 });
    expect(codeOf(await patch(queue, { mode: 'INBOX' }))).to.equal('400 VALIDATION_FAILED');
  });

  it('removes nothing when backlogLimit is lowered, but refuses the next send; a higher limit accepts it', async () => {
    const queue = await Queue.create();
    await queue.sent();
    await queue.sent();
    await patch(queue, { backlogLimit: 1 });
    expect((await queue.record()).counts.ready).to.equal(2);
    expect(codeOf(await queue.send())).to.equal('409 BACKLOG_FULL');
    await patch(queue, { backlogLimit: 3 });
    await queue.sent();
  });
});

describe('DELETE /mailboxes/{id}', () => {
  it('answers 204 and emits one event; from then on the mailbox is unknown to every call', async () => {
    const queue = await Queue.create();
    const kept = await Queue.create({}, queue.world);
    const reply = await remove(queue);
    expect([reply.status, reply.text]).to.deep.equal([204, '']);
    const { world, id } = queue;
    expect(codeOf(await remove(queue))).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await world.get(`/mailboxes/${id}`))).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await queue.list())).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await queue.send())).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await queue.recv())).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await world.post(`/mailboxes/${id}/purge`))).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await world.post(`/mailboxes/${id}/requeue`, { state: 'FAILED' }))).to.equal('404 MAILBOX_NOT_FOUND');
    const group = { mailboxId: id, condition: 'ALL_TERMINAL' };
    expect(codeOf(await world.post('/task-groups', group))).to.equal('409 MAILBOX_NOT_FOUND');
    const { mailboxes } = (await world.get('/mailboxes')).body;
    expect(mailboxes.map((one: { id: string }) => one.id)).to.deep.equal([kept.id]);
    const { events } = (await world.get('/watch?types=mailbox.deleted')).body;
    const payload = { mailboxId: id, mode: 'WORK', actor: await world.keyId() };
    expect(events.map((event: { payload: object }) => event.payload)).to.deep.equal([payload]);
    expect((await world.get('/usage')).body.days.at(-1).byCall['mailbox.delete']).to.equal(1);
  });

  it('is refused with MAILBOX_NOT_EMPTY while it has READY or CLAIMED messages or undecided groups', async () => {
    const queue = await Queue.create();
    const id = await queue.sent();
    expect(codeOf(await remove(queue))).to.equal('409 MAILBOX_NOT_EMPTY');
    const claim = await queue.claim();
    expect((await remove(queue)).body.error.message).to.include('1 queued or in-progress');
    await queue.act('complete', claim);
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, queue);
    expect((await remove(queue)).body.error.message).to.include('1 undecided groups');
    await team.seal();
    expect((await remove(queue)).status).to.equal(204);
    expect((await queue.world.get(`/messages/${id}`)).body.state).to.equal('ACKED');
    expect((await team.view()).outcome).to.equal('SATISFIED');
    await expectAgreement(queue.world);
  });

  it('goes by deadlines: a message past its own does not count as live, swept or not', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const queue = await Queue.create({}, world);
    await queue.sent({ deadline: new Date(now + 1000).toISOString() });
    await Team.create({ deadline: new Date(now + 1000).toISOString() }, queue);
    expect(codeOf(await remove(queue))).to.equal('409 MAILBOX_NOT_EMPTY');
    await world.at(now + 1000);
    expect((await remove(queue)).status).to.equal(204);
    await expectAgreement(world);
  });

  it('keeps finished messages readable until retention; a requeue of one is MAILBOX_NOT_FOUND', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    const queue = new Queue(world, traffic.work);
    const ids = [await queue.sent({ workKey: 'w' }), await queue.sent()];
    for (let attempt = 0; attempt < 5; attempt++)
      for (const _ of ids) await queue.act('nack', await queue.claim(), { retry: true });
    expect((await queue.record()).counts.failed).to.equal(2);
    expect((await remove(queue)).status).to.equal(204);
    for (const id of ids) {
      expect((await world.get(`/messages/${id}`)).body).to.include({ mailboxId: queue.id, state: 'FAILED' });
      expect(codeOf(await world.post(`/messages/${id}/requeue`))).to.equal('409 MAILBOX_NOT_FOUND');
    }
    await aging.sweepAt(7 * day - 1);
    expect((await aging.body(`/ops/runs/${queue.scopeId}`)).messages).to.have.length(2);
    await aging.sweepAt(8 * day);
    expect(codeOf(await world.get(`/messages/${ids[0]}`))).to.equal('404 MESSAGE_NOT_FOUND');
    await expectAgreement(world);
    const left = await world.service.store.keys(`${world.prefix}:mailbox:${queue.id}*`);
    expect(left, 'nothing of the mailbox is left').to.deep.equal([]);
  });
});
