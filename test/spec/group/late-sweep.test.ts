import { expect } from 'chai';
import { randomTail } from '../../../src/engine/route/args.ts';
import { expectAgreement } from '../../support/agree.ts';
import { callArgs } from '../allowance/script.ts';
import { Queue } from '../mailbox/queue.ts';
import { Team } from './team.ts';

// At least an hour ahead, however long the tests before take.
const start = (Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000;
const deadline = new Date(start + 1000).toISOString();

/** A deadline that passes between a call's sweep and the call is in effect, though nothing has swept it yet. */
describe('a task group whose deadline has passed but is not swept', () => {
  const team = async (condition: string): Promise<Team> => {
    const queue = await Queue.create();
    await queue.world.at(start);
    return Team.create({ condition, deadline }, queue);
  };
  /** Runs a call after the deadline whose sweep was done just before it. */
  const late = async ({ queue: { world } }: Team, name: string, args: Record<string, string | number>) => {
    await world.at(start + 1500);
    return world.service.scripts
      .execute(name, world.org, { ...callArgs(world), sweptThrough: start + 999, ...args })
      .then(
        () => 'done',
        (error: { code: string; detail: string }) => `${error.code} ${error.detail}`,
      );
  };
  /** Makes a call, which first sweeps everything that is due. */
  const settled = async (one: Team) => {
    await one.queue.recv();
    expect(await one.eventCount('group.decided')).to.equal(1);
    return one.view();
  };
  const expired = { state: 'DECIDED', outcome: 'EXPIRED', decidedAt: deadline };

  it('accepts no members and no seal', async () => {
    const one = await team('ALL_TERMINAL');
    const groupId = one.id;
    const { id: taskId } = (await one.queue.send()).body;
    expect(await late(one, 'group/submit', one.submission('a'))).to.equal('GROUP_NOT_OPEN DECIDED');
    expect(await late(one, 'group/join', { groupId, taskId })).to.equal('GROUP_NOT_OPEN DECIDED');
    expect(await late(one, 'group/seal', { groupId })).to.equal('GROUP_DECIDED EXPIRED');
    expect(await settled(one)).to.deep.include({ ...expired, sealedAt: null, members: [] });
    const { service, org, spaceNumber } = one.queue.world;
    const finished = await service.store.zscore(`muster:{${org}}:finished`, `group:group:${spaceNumber}:${groupId}`);
    expect(finished, 'and is kept from then on').to.equal(String(start + 1000));
  });

  it('hands out none of its members, and takes no answer to their questions', async () => {
    const one = await team('ALL_TERMINAL');
    const { queue } = one;
    await one.submitted(2);
    const claim = await queue.claim({ scopeId: one.gate });
    const asking = { token: claim.token, question: 'x' };
    const { question } = await queue.world.mustPost(`/messages/${claim.id}/ask`, asking);
    const session = { holder: 'h', holderSession: 's', leaseSeconds: '', max: 1, tokens: 'a'.repeat(32) };
    const recv = { ...session, mailboxId: queue.id, scopeId: one.gate, isHeld: '', bytesLimit: 1e6 };
    expect(await late(one, 'mailbox/recv', recv)).to.equal('DUE ');
    const answer = { questionId: question.id, choice: '', answeredBy: 'x', answer: '1' };
    expect(await late(one, 'question/answer', answer)).to.equal('DUE ');
    expect(await settled(one)).to.deep.include(expired);
  });

  it('is decided with all its members by one sweep: the next one if this one has too little room left', async () => {
    const one = await team('ALL_TERMINAL');
    const { world } = one.queue;
    await one.queue.sent({ deadline: new Date(start + 999).toISOString() });
    await one.submitted(3);
    await world.at(start + 1500);
    const sweep = async (maxChanges: number) => {
      const args = { spaceId: '', requestId: '', maxChanges };
      return (await world.service.scripts.execute('timer/sweep', world.org, args)).slice(1);
    };
    expect(await sweep(4), 'the next moment, whether it has come, and what was done').to.deep.equal([
      `${start + 1000}`,
      1,
      4,
    ]);
    expect((await one.view()).counts).to.include({ pending: 3, cancelled: 0 });
    expect(await sweep(2), 'however much it may do').to.deep.equal(['', 0, 4]);
    expect((await one.view()).counts).to.include({ pending: 0, cancelled: 3 });
    await expectAgreement(world);
  });

  it('is no longer satisfied by an accept: the verdict is recorded without effect', async () => {
    const one = await team('FIRST_ACCEPTED');
    const [taskId = ''] = await one.succeeded(1);
    await one.submit('pending');
    expect(await late(one, 'group/verdict', { groupId: one.id, taskId, verdict: 'ACCEPTED' })).to.equal('done');
    const view = await settled(one);
    expect(view).to.include(expired);
    expect(view.counts).to.include({ accepted: 1, cancelled: 1 });
  });

  it('is no longer satisfied by its last member', async () => {
    const one = await team('ALL_TERMINAL');
    await one.submit('a');
    const { id, token } = await one.queue.claim();
    await one.seal();
    const result = { result: '', resultMailboxId: '', resultScopeId: '', resultWorkKey: '', tail: randomTail() };
    expect(await late(one, 'mailbox/complete', { messageId: id, token, ...result })).to.equal('done');
    expect(await settled(one)).to.include(expired);
    expect(await one.states()).to.deep.equal(['SUCCEEDED']);
  });

  it('cancels a member that is nacked with retry', async () => {
    const one = await team('FIRST_ACCEPTED');
    await one.submit('a');
    const { id, token } = await one.queue.claim();
    const nack = { messageId: id, token, retry: '1', countsAttempt: '1', delaySeconds: '', reported: '' };
    expect(await late(one, 'mailbox/nack', nack)).to.equal('done');
    expect((await settled(one)).members[0]).to.include({ state: 'CANCELLED', reason: 'GROUP_DECIDED' });
    expect(await one.queue.eventTypes()).to.not.include('message.retried');
  });
});
