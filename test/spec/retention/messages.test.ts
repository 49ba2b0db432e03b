import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day } from './support.ts';

/** In segments of one, which go as early as it does. */
for (const packs of [undefined, 1])
  describe(`retention of messages${packs ? ' that are packed' : ''}`, () => {
    const begin = (choice?: Parameters<typeof Aging.begin>[0]) => Aging.begin(choice, packs);

    it('a finished message is kept for the window, to the millisecond, its tombstone for at least 30 days', async () => {
      const aging = await begin();
      const { traffic, world } = aging;
      const scopeId = traffic.scope();
      await traffic.send(scopeId, { workKey: 'once' });
      const claim = await traffic.claim(scopeId);
      await aging.at(1000);
      await traffic.complete(claim, { payload: { answer: 42 } });
      const list = async () => (await aging.body(`/mailboxes/${traffic.work}/messages`)).messages;
      const run = async () => (await aging.body(`/ops/runs/${scopeId}`)).messages;

      await aging.sweepAt(7 * day + 999);
      expect((await list())[0].result).to.deep.equal({ answer: 42 });
      expect((await aging.body('/usage')).days.at(-1).retainedBytes).to.equal('{"text":"do this"}{"answer":42}'.length);

      await aging.sweepAt(7 * day + 1000);
      expect(await list()).to.deep.equal([]);
      const [tombstone] = await run();
      expect(tombstone).to.include({ id: claim.id, taskId: claim.taskId, state: 'ACKED', reason: null, workKey: null });
      expect(tombstone).to.include({ mailboxId: traffic.work, scopeId, holder: null });
      expect((await aging.body('/usage')).days.at(-1).retainedBytes).to.equal(0);
      const census = await aging.body('/census');
      expect([census.messages.ACKED, census.tasks.SUCCEEDED]).to.deep.equal([0, 1]);
      await expectAgreement(world);

      await aging.sweepAt(37 * day + 999);
      expect(await run()).to.have.length(1);
      await aging.sweepAt(37 * day + 1000);
      expect((await world.get(`/ops/runs/${scopeId}`)).status).to.equal(404);
      await expectAgreement(world);
    });

    it('removes a message for every call: its id is unknown, its workKey free, and lists continue after it', async () => {
      const aging = await begin();
      const { traffic, world } = aging;
      const scopeId = traffic.scope();
      const sent = await traffic.send(scopeId, { workKey: 'once' });
      const claim = await traffic.claim(scopeId);
      await traffic.complete(claim);
      const { id: live } = await traffic.send(scopeId);
      const list = `/mailboxes/${traffic.work}/messages`;
      const { nextCursor } = await aging.body(`${list}?limit=1`);
      await aging.sweepAt(7 * day);
      const { messages } = await aging.body(`${list}?limit=1&cursor=${nextCursor}`);
      expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal([live]);
      for (const what of ['renew', 'complete']) {
        const reply = await world.post(`/messages/${claim.id}/${what}`, { token: claim.token });
        expect([reply.status, reply.body.error.code]).to.deep.equal([404, 'MESSAGE_NOT_FOUND']);
      }
      const again = await traffic.send(scopeId, { workKey: 'once' });
      expect(again.replay).to.equal(false);
      expect(again.id).not.to.equal(sent.id);
    });

    it('removes INBOX messages without a tombstone, and takes FAILED ones out of the counts', async () => {
      const aging = await begin();
      const { traffic, world } = aging;
      const scopeId = traffic.scope();
      await traffic.send(scopeId);
      await traffic.note(scopeId);
      const lone = traffic.scope();
      await traffic.note(lone);
      await traffic.complete(await traffic.claim(lone, traffic.inbox));
      for (let attempt = 1; attempt <= 5; attempt++) await traffic.nack(await traffic.claim(scopeId), true);
      await traffic.complete(await traffic.claim(scopeId, traffic.inbox));
      const failed = async () => {
        const { mailboxes } = await aging.body('/mailboxes');
        return mailboxes.find((mailbox: { id: string }) => mailbox.id === traffic.work).counts.failed;
      };
      expect(await failed()).to.equal(1);
      await aging.sweepAt(7 * day);
      expect(await failed()).to.equal(0);
      const { messages } = await aging.body(`/ops/runs/${scopeId}`);
      expect(
        messages.map((message: { state: string; reason: string }) => [message.state, message.reason]),
      ).to.deep.equal([['FAILED', 'ATTEMPTS_EXHAUSTED']]);
      await expectAgreement(world);
      expect((await world.get(`/ops/runs/${lone}`)).status).to.equal(200);
      await aging.sweepAt(30 * day);
      expect((await world.get(`/ops/runs/${lone}`)).status, 'a scope with nothing left').to.equal(404);
    });

    it('never removes live messages; their window starts when they finish', async () => {
      const aging = await begin();
      const { traffic, world } = aging;
      const scopeId = traffic.scope();
      await traffic.send(scopeId);
      await aging.sweepAt(500 * day);
      const list = async () => (await aging.body(`/mailboxes/${traffic.work}/messages`)).messages;
      expect(await list()).to.have.length(1);
      await traffic.complete(await traffic.claim(scopeId));
      await aging.sweepAt(507 * day - 1);
      expect(await list()).to.have.length(1);
      await aging.sweepAt(507 * day);
      expect(await list()).to.have.length(0);
      await expectAgreement(world);
    });

    it('keeps a member of an undecided group in the group view with state and reason, its outcome null', async () => {
      const aging = await begin();
      const { traffic, world } = aging;
      const group = await world.mustPost('/task-groups', {
        mailboxId: traffic.work,
        condition: 'N_ACCEPTED',
        threshold: 2,
      });
      for (const taskKey of ['a', 'b']) await world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey, input: 1 });
      const claim = await traffic.claim(group.scopeId);
      await traffic.complete(claim, { payload: 'done' });
      await traffic.nack(await traffic.claim(group.scopeId), false);
      const members = async () => (await aging.body(`/task-groups/${group.id}`)).members;
      expect((await members())[0].outcome).to.equal('done');
      await aging.sweepAt(7 * day);
      const [first, second] = await members();
      expect(first).to.include({ state: 'SUCCEEDED', reason: null, outcome: null, attempts: 1 });
      expect(second).to.include({ state: 'FAILED', reason: 'REJECTED_BY_WORKER', outcome: null });
      const verdict = await world.post(`/task-groups/${group.id}/tasks/${claim.taskId}/accept`);
      expect(verdict.status).to.equal(200);
      await aging.sweepAt(400 * day);
      expect(await members()).to.have.length(2);
      const [{ members: listed }] = (await aging.body(`/ops/runs/${group.scopeId}`)).groups;
      expect(listed.map((one: { state: string }) => one.state)).to.deep.equal(['SUCCEEDED', 'FAILED']);
      await expectAgreement(world);
    });

    it('follows the plan in force when it sweeps', async () => {
      const aging = await begin({ plan: 'enterprise', figures: { retentionDays: '100' } });
      const { traffic, world } = aging;
      const scopeId = traffic.scope();
      await traffic.send(scopeId);
      await traffic.complete(await traffic.claim(scopeId));
      await aging.sweepAt(99 * day);
      expect((await aging.body(`/mailboxes/${traffic.work}/messages`)).messages).to.have.length(1);
      await world.service.store.hset(`muster:{${world.org}}`, 'retentionDays', 'unlimited');
      await aging.sweepAt(5000 * day);
      expect((await aging.body(`/mailboxes/${traffic.work}/messages`)).messages).to.have.length(1);
      await world.service.store.hset(`muster:{${world.org}}`, 'retentionDays', '7');
      await aging.sweepAt(99 * day);
      expect((await aging.body(`/mailboxes/${traffic.work}/messages`)).messages).to.have.length(0);
      await expectAgreement(world);
    });
  });

describe('retention of a message that is unpacked after its window', () => {
  it('removes it with its segment', async () => {
    const aging = await Aging.begin(undefined, 2);
    const { traffic, world } = aging;
    const scopeId = traffic.scope();
    for (const ms of [0, day / 2]) {
      await aging.at(ms);
      await traffic.send(scopeId);
      await traffic.complete(await traffic.claim(scopeId));
    }
    const succeeded = async () => (await aging.body('/census')).messages.ACKED;
    await aging.sweepAt(7 * day);
    expect(await succeeded()).to.equal(2);
    const { messages } = await aging.body(`/mailboxes/${traffic.work}/messages`);
    const group = await world.mustPost('/task-groups', { mailboxId: traffic.work, condition: 'ALL_TERMINAL' });
    await world.mustPost(`/task-groups/${group.id}/join-task`, { taskId: messages[0].id });
    await aging.sweepAt(7.5 * day);
    expect(await succeeded()).to.equal(0);
    expect((await aging.body(`/task-groups/${group.id}`)).members[0].state).to.equal('SUCCEEDED');
    await expectAgreement(world);
    await aging.sweepAt(38 * day);
    expect((await aging.body('/census')).tasks.SUCCEEDED).to.equal(0);
    const left = await world.service.store.exists(`${world.prefix}:unpackedMessages`);
    expect(left, 'nothing is kept of what was unpacked').to.equal(0);
    await expectAgreement(world);
  });
});
