import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listAudit, setPlan } from '../../../src/primitives/org/admin.ts';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';

/** A JSON text of so many bytes. */
const text = (bytes: number): string => 'x'.repeat(bytes - 2);

const full = '409 RETAINED_BYTES_EXCEEDED';

describe('maxRetainedBytes', () => {
  const limited = async (maxRetainedBytes: number | null, plan = 'enterprise'): Promise<Queue> => {
    const queue = await Queue.create({}, await World.create({ plan }));
    expect((await queue.world.call('PUT', '/limits', { maxRetainedBytes })).status).to.equal(200);
    return queue;
  };

  it('refuses the send whose payload would exceed it, and takes one that reaches it', async () => {
    const queue = await limited(1000);
    await queue.sent({ payload: text(600) });
    const refused = await queue.send({ payload: text(401) });
    expect(codeOf(refused)).to.equal(full);
    expect(refused.body.error.message).to.contain('no more than 1000 bytes');
    await queue.sent({ payload: text(400) });
    expect(codeOf(await queue.send({ payload: 1 }))).to.equal(full);
    await queue.world.call('PUT', '/limits', { maxRetainedBytes: null });
    await queue.sent({ payload: 1 });
    await expectAgreement(queue.world);
  });

  it('refuses submits, notes, questions and moments of schedules as well', async () => {
    const queue = await limited(1000);
    const { world, id: mailboxId, scopeId } = queue;
    await queue.sent({ payload: text(900) });
    const claim = await queue.claim();
    const group = { parentScopeId: scopeId, mailboxId, condition: 'ALL_TERMINAL' };
    const { groupId } = await world.mustPost('/task-groups', group);
    const schedule = { name: 'daily', mailboxId, scopeId, everySeconds: 60, payload: text(101) };
    const { id: scheduleId } = await world.mustPost('/schedules', schedule);
    const question = { question: text(101), expiresInSeconds: 60 };
    for (const reply of [
      await world.post(`/task-groups/${groupId}/tasks`, { taskKey: 'one', input: text(101) }),
      await world.call('PUT', `/scopes/${scopeId}/notes/plan`, { value: text(101) }),
      await world.post('/questions', { scopeId, ...question }),
      await world.post(`/messages/${claim.id}/ask`, { token: claim.token, ...question }),
      await world.post(`/schedules/${scheduleId}/trigger`),
    ])
      expect(codeOf(reply)).to.equal(full);
    await expectAgreement(world);
  });

  it('refuses nothing that ends work, and no note that becomes shorter', async () => {
    const queue = await limited(1000);
    const { world, id: mailboxId, scopeId } = queue;
    await world.call('PUT', `/scopes/${scopeId}/notes/plan`, { value: text(400) });
    await queue.sent({ payload: text(300) });
    await queue.sent({ payload: text(300) });
    const [done, failed] = [await queue.claim(), await queue.claim()];
    expect((await queue.act('renew', done, { progress: text(500) })).status).to.equal(200);
    const result = { payload: text(2000), mailboxId, scopeId };
    expect((await queue.act('complete', done, { result })).status).to.equal(200);
    expect((await queue.act('nack', failed, { retry: true, error: 'x'.repeat(300) })).status).to.equal(200);
    expect((await world.call('PUT', `/scopes/${scopeId}/notes/plan`, { value: text(399) })).status).to.equal(200);
    expect(codeOf(await world.call('PUT', `/scopes/${scopeId}/notes/plan`, { value: text(400) }))).to.equal(full);
    await expectAgreement(world);
  });

  it('counts what earlier calls of the same batch have sent, and stops an atomic one whole', async () => {
    const queue = await limited(1000);
    const send = (bytes: number) => {
      const { id: mailboxId, scopeId } = queue;
      return { call: 'message.send', mailboxId, scopeId, payload: text(bytes) };
    };
    const calls = [send(600), send(300), send(300), send(100)];
    const refused = await queue.world.post('/batch', { calls, atomic: true });
    expect(codeOf(refused)).to.equal(full);
    expect(refused.body.error.index).to.equal(2);
    const { results } = (
      await queue.world.post('/batch', { calls: calls.map((one) => ({ ...one, idempotencyKey: randomUUID() })) })
    ).body;
    expect(results.map(({ status }: { status: number }) => status)).to.deep.equal([201, 201, 409, 201]);
    await expectAgreement(queue.world);
  });

  it('200 sends at once keep to it exactly', async () => {
    const queue = await limited(1000);
    const replies = await Promise.all(Array.from({ length: 200 }, () => queue.send({ payload: text(30) })));
    expect(replies.filter(({ status }) => status === 201)).to.have.length(33);
    expect(replies.filter((reply) => reply.status !== 201).map(codeOf)).to.deep.equal(Array(167).fill(full));
    await expectAgreement(queue.world);
  });

  it('is null by default, 256 MiB on the plan Free, and at most what the plan grants', async () => {
    const queue = await limited(null);
    const { world } = queue;
    const limit = async () => (await world.get('/limits')).body.maxRetainedBytes;
    expect(await limit()).to.equal(null);
    await setPlan(world.service, { org: world.org, plan: 'free' });
    expect(await limit()).to.equal(256 * 1024 * 1024);
    const more = await world.call('PUT', '/limits', { maxRetainedBytes: 256 * 1024 * 1024 + 1 });
    expect(codeOf(more)).to.equal('409 ENTITLEMENT_EXCEEDED');
    await setPlan(world.service, { org: world.org, plan: 'enterprise', figures: { retainedBytes: '10' } });
    expect(await limit()).to.equal(10);
    expect(codeOf(await queue.send({ payload: text(11) }))).to.equal(full);
    await queue.sent({ payload: text(10) });
  });

  it('goes into its event and the audit trail, as null where it is lifted', async () => {
    const { world } = await limited(5000);
    await world.call('PUT', '/limits', { maxRetainedBytes: null, maxBacklog: 7 });
    const { events } = (await world.get('/events')).body;
    const { limitsId } = events[1].payload;
    expect(events.slice(1).map(({ payload }: { payload: object }) => payload)).to.deep.equal([
      { limitsId, maxRetainedBytes: 5000 },
      { limitsId, maxBacklog: 7, maxRetainedBytes: null },
    ]);
    const { entries } = await listAudit(world.service, world.org);
    const details = entries.filter(({ action }) => action === 'limits.updated').map(({ detail }) => detail);
    expect(details).to.deep.include({ maxBacklog: 7, maxRetainedBytes: null });
  });
});
