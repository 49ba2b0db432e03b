import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Queue } from './queue.ts';

const messages = (...ids: string[]) => ids.map((messageId) => ({ messageId }));

describe('Messages after others', () => {
  let queue: Queue;
  beforeEach(async () => {
    queue = await Queue.create();
  });
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  const view = async (id: string): Promise<any> => (await queue.world.get(`/messages/${id}`)).body;
  const ends = async (what: object = {}): Promise<string> => {
    const claim = await queue.claim();
    expect((await queue.act('complete', claim, what)).status).to.equal(200);
    return claim.id;
  };
  const fails = async (): Promise<string> => {
    const claim = await queue.claim();
    expect((await queue.act('nack', claim, { retry: false })).status).to.equal(200);
    return claim.id;
  };

  it('are BLOCKED until all of them are ACKED, and say what they wait for', async () => {
    const [a, b] = [await queue.sent(), await queue.sent()];
    const sent = await queue.send({ after: messages(a, b) });
    expect(sent.body.state).to.equal('BLOCKED');
    const { id } = sent.body;
    expect(await view(id)).to.deep.include({
      state: 'BLOCKED',
      onFailure: 'CANCEL',
      after: [
        { messageId: a, groupId: null, scopeId: null, state: 'READY' },
        { messageId: b, groupId: null, scopeId: null, state: 'READY' },
      ],
      blockedBy: [
        { kind: 'MESSAGE', id: a },
        { kind: 'MESSAGE', id: b },
      ],
    });
    expect((await queue.record()).counts).to.include({ ready: 2, blocked: 1 });
    await ends();
    expect((await queue.message(id)).blockedBy).to.deep.equal([{ kind: 'MESSAGE', id: b }]);
    await ends({ result: { payload: 'b' } });
    const claim = await queue.claim();
    expect(claim).to.deep.include({ id, blockedBy: [], onFailure: 'CANCEL' });
    expect(claim.after.map((one: { state: string }) => one.state)).to.deep.equal(['ACKED', 'ACKED']);
    await queue.act('complete', claim);
    expect(await queue.eventTypes()).to.include.members(['message.sent', 'message.acked']);
  });

  it('are after none with an empty list', async () => {
    for (const more of [{}, { onFailure: 'RUN' }]) {
      const { body } = await queue.send({ after: [], ...more });
      expect(body.state).to.equal('READY');
      expect(await view(body.id)).to.deep.include({ after: [], onFailure: null });
    }
  });

  it('are cancelled with the first that comes out otherwise, and those after them likewise', async () => {
    const [a, b] = [await queue.sent(), await queue.sent()];
    const c = await queue.sent({ after: messages(a, b) });
    const d = await queue.sent({ after: messages(c) });
    expect(await fails()).to.equal(a);
    for (const id of [c, d]) {
      const cancelled = await view(id);
      expect(cancelled).to.deep.include({ state: 'CANCELLED', reason: 'PREREQUISITE_FAILED', blockedBy: [] });
    }
    expect(codeOf(await queue.send({ after: messages(a) }))).to.equal('409 PREREQUISITE_FAILED');
    expect(codeOf(await queue.world.post(`/messages/${c}/requeue`))).to.equal('409 PREREQUISITE_FAILED');
    await queue.world.mustPost(`/messages/${a}/requeue`);
    expect((await queue.world.mustPost(`/messages/${c}/requeue`)).state).to.equal('BLOCKED');
    expect(await ends()).to.equal(b);
    expect(await ends()).to.equal(a);
    expect(await ends()).to.equal(c);
    expect((await view(d)).state).to.equal('CANCELLED');
  });

  it('wait on with WAIT until the failed one was requeued and ACKED; with RUN any end will do', async () => {
    const a = await queue.sent();
    const waits = await queue.sent({ after: messages(a), onFailure: 'WAIT' });
    const runs = await queue.sent({ after: messages(a), onFailure: 'RUN' });
    await fails();
    expect(await view(waits)).to.deep.include({
      state: 'BLOCKED',
      onFailure: 'WAIT',
      after: [{ messageId: a, groupId: null, scopeId: null, state: 'REJECTED' }],
      blockedBy: [{ kind: 'MESSAGE', id: a }],
    });
    expect((await view(runs)).state).to.equal('READY');
    await queue.world.mustPost(`/messages/${a}/requeue`);
    expect(await ends()).to.equal(runs);
    expect(await ends()).to.equal(a);
    expect(await ends()).to.equal(waits);
  });

  it('after a task group wait for SATISFIED; a group that comes out otherwise cancels them, with WAIT, too', async () => {
    const group = async () =>
      queue.world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'ALL_TERMINAL' }) as Promise<{
        id: string;
      }>;
    const [good, bad] = [await group(), await group()];
    const [after, never] = [
      await queue.sent({ after: [{ groupId: good.id }] }),
      await queue.sent({ after: [{ groupId: bad.id }], onFailure: 'WAIT' }),
    ];
    expect((await view(after)).blockedBy).to.deep.equal([{ kind: 'GROUP', id: good.id }]);
    await queue.world.mustPost(`/task-groups/${good.id}/seal`);
    expect((await view(after)).state).to.equal('READY');
    expect((await view(after)).after).to.deep.equal([
      { messageId: null, groupId: good.id, scopeId: null, state: 'SATISFIED' },
    ]);
    expect(codeOf(await queue.world.post(`/task-groups/${bad.id}/join-task`, { taskId: never }))).to.equal(
      '409 TASK_NOT_JOINABLE',
    );
    const { scopeId } = (await queue.world.get(`/task-groups/${bad.id}`)).body;
    await queue.world.mustPost(`/scopes/${scopeId}/cancel`);
    expect(await view(never)).to.deep.include({ state: 'CANCELLED', reason: 'PREREQUISITE_FAILED' });
  });

  it('run their delay meanwhile, and arm no timer for it', async () => {
    const now = Date.now();
    await queue.world.at(now);
    const a = await queue.sent();
    const [short, long] = [
      await queue.sent({ after: messages(a), delaySeconds: 10 }),
      await queue.sent({ after: messages(a), delaySeconds: 60 }),
    ];
    expect((await queue.world.get('/census')).body.timers.ARMED).to.equal(0);
    expect((await view(long)).readyAt).to.equal(null);
    await queue.world.at(now + 20_000);
    await ends();
    expect((await view(short)).state).to.equal('READY');
    expect(await view(long)).to.include({ state: 'DELAYED', readyAt: new Date(now + 60_000).toISOString() });
    const next = await queue.sent();
    await queue.world.mustPost(`/messages/${long}/cancel`);
    const again = await queue.sent({ after: messages(next) });
    await queue.world.mustPost(`/messages/${again}/cancel`);
    const requeued = await queue.world.mustPost(`/messages/${again}/requeue`, { delaySeconds: 30 });
    expect(requeued).to.include({ state: 'BLOCKED', readyAt: null });
    await queue.world.mustPost(`/messages/${(await queue.claim()).id}/cancel`);
    await ends();
    expect(await view(again)).to.include({ state: 'DELAYED', readyAt: new Date(now + 50_000).toISOString() });
  });

  it('after a scope wait until nothing is live in it and below; a cancelled one cancels them, with WAIT, too', async () => {
    const [scopeId, other] = [randomUUID(), randomUUID()];
    const children = [
      await queue.sent({ scopeId }),
      await queue.sent({ scopeId }),
      await queue.sent({ scopeId: other }),
    ];
    const after = await queue.sent({ after: [{ scopeId }] });
    const never = await queue.sent({ after: [{ scopeId: other }], onFailure: 'WAIT' });
    const runs = await queue.sent({ after: [{ scopeId: other }, { messageId: children[0] }], onFailure: 'RUN' });
    expect((await view(after)).blockedBy).to.deep.equal([{ kind: 'SCOPE', id: scopeId }]);
    expect((await view(after)).after).to.deep.equal([{ messageId: null, groupId: null, scopeId, state: 'ACTIVE' }]);
    await expectAgreement(queue.world);
    const published = { payload: 1, mailboxId: queue.id, scopeId };
    await queue.act('complete', await queue.claim({ scopeId }), { result: published });
    await queue.act('complete', await queue.claim({ scopeId }));
    expect((await view(after)).state).to.equal('BLOCKED');
    await queue.act('complete', await queue.claim({ scopeId }));
    expect(await view(after)).to.deep.include({
      state: 'READY',
      after: [{ messageId: null, groupId: null, scopeId, state: 'IDLE' }],
    });
    await queue.world.mustPost(`/scopes/${other}/cancel`);
    expect(await view(never)).to.deep.include({ state: 'CANCELLED', reason: 'PREREQUISITE_FAILED' });
    expect((await view(runs)).state).to.equal('READY');
    await expectAgreement(queue.world);
    expect((await queue.send({ after: [{ scopeId }] })).body.state).to.equal('READY');
    expect(codeOf(await queue.send({ after: [{ scopeId: other }] }))).to.equal('409 PREREQUISITE_FAILED');
    expect(codeOf(await queue.send({ after: [{ scopeId: randomUUID() }] }))).to.equal('409 SCOPE_NOT_FOUND');
    expect(codeOf(await queue.send({ after: [{ scopeId: queue.scopeId }] }))).to.equal('400 VALIDATION_FAILED');
    const calls = [
      { call: 'message.send', mailboxId: queue.id, scopeId: queue.scopeId, payload: 1, after: [{ scopeId }] },
      { call: 'message.send', mailboxId: queue.id, scopeId, payload: 1 },
    ];
    const { results } = await queue.world.mustPost('/batch', { atomic: true, calls });
    expect((await view(results[0].body.id)).state).to.equal('BLOCKED');
    await queue.world.mustPost(`/messages/${results[0].body.id}/cancel`);
    await expectAgreement(queue.world);
  });

  it('are refused for what is unknown, named twice, neither or both', async () => {
    const a = await queue.sent();
    const unknown = '0190a1b2-0000-7000-8000-000000000000';
    expect(codeOf(await queue.send({ after: messages(unknown) }))).to.equal('409 MESSAGE_NOT_FOUND');
    expect(codeOf(await queue.send({ after: [{ groupId: unknown }] }))).to.equal('409 GROUP_NOT_FOUND');
    for (const after of [messages(a, a), [{}], [{ messageId: a, groupId: unknown }], Array(51).fill({ messageId: a })])
      expect(codeOf(await queue.send({ after })), JSON.stringify(after)).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await queue.send({ onFailure: 'RUN' }))).to.equal('400 VALIDATION_FAILED');
    const { id } = await queue.world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'ALL_TERMINAL' });
    const own = await queue.world.post(`/task-groups/${id}/tasks`, { taskKey: 'k', after: [{ groupId: id }] });
    expect(codeOf(own)).to.equal('400 VALIDATION_FAILED');
    const lost = await queue.world.post(`/task-groups/${id}/tasks`, { taskKey: 'k', after: [{ groupId: unknown }] });
    expect(codeOf(lost)).to.equal('409 GROUP_NOT_FOUND');
  });
});
