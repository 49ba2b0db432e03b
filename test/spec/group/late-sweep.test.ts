import { expect } from 'chai';
import { randomTail } from '../../../src/http/random.ts';
import { callArgs } from '../allowance/script.ts';
import { Queue } from '../mailbox/queue.ts';
import { Team } from './team.ts';

const start = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
const deadline = new Date(start + 1000).toISOString();

/** A deadline that comes between the sweep and the call it was for is over, though nothing has made it real yet. */
describe('a task group whose deadline is not swept yet', () => {
  const team = async (condition: string): Promise<Team> => {
    const queue = await Queue.create();
    await queue.world.at(start);
    return Team.create({ condition, deadline }, queue);
  };
  /** A call at the deadline whose sweep was done just before it. */
  const late = async ({ queue: { world } }: Team, name: string, own: Record<string, string | number>) => {
    await world.at(start + 1000);
    return world.service.scripts.run(name, world.org, { ...callArgs(world), drainedThrough: start + 999, ...own }).then(
      () => 'done',
      (error: { code: string; detail: string }) => `${error.code} ${error.detail}`,
    );
  };
  /** Once a call has had everything swept that was due. */
  const settled = async (one: Team) => {
    await one.queue.recv();
    expect(await one.told('group.decided')).to.equal(1);
    return one.view();
  };
  const expired = { state: 'DECIDED', outcome: 'EXPIRED', decidedAt: deadline };

  it('takes no members and no seal', async () => {
    const one = await team('ALL_TERMINAL');
    const groupId = one.id;
    const { id: taskId } = (await one.queue.send()).body;
    const own = { groupId, taskKey: 'a', deadline: '', tail: randomTail(), taskTail: randomTail(), input: '1' };
    expect(await late(one, 'group/submit', own)).to.equal('GROUP_NOT_OPEN DECIDED');
    expect(await late(one, 'group/join', { groupId, taskId })).to.equal('GROUP_NOT_OPEN DECIDED');
    expect(await late(one, 'group/seal', { groupId })).to.equal('GROUP_DECIDED EXPIRED');
    expect(await settled(one)).to.deep.include({ ...expired, sealedAt: null, members: [] });
  });

  it('is not satisfied by an accept any more: the verdict stands without effect', async () => {
    const one = await team('FIRST_ACCEPTED');
    const [taskId = ''] = await one.succeeded(1);
    await one.submit('pending');
    expect(await late(one, 'group/verdict', { groupId: one.id, taskId, verdict: 'ACCEPTED' })).to.equal('done');
    const view = await settled(one);
    expect(view).to.include(expired);
    expect(view.counts).to.include({ accepted: 1, cancelled: 1 });
  });

  it('is not satisfied by its last member any more', async () => {
    const one = await team('ALL_TERMINAL');
    await one.submit('a');
    const { id, token } = await one.queue.claim();
    await one.seal();
    const result = { result: '', resultMailboxId: '', resultScopeId: '', resultWorkKey: '', tail: randomTail() };
    expect(await late(one, 'mailbox/complete', { messageId: id, token, ...result })).to.equal('done');
    expect(await settled(one)).to.include(expired);
    expect(await one.states()).to.deep.equal(['SUCCEEDED']);
  });

  it('cancels a member that is given back', async () => {
    const one = await team('FIRST_ACCEPTED');
    await one.submit('a');
    const { id, token } = await one.queue.claim();
    expect(await late(one, 'mailbox/nack', { messageId: id, token, retry: '1' })).to.equal('done');
    expect((await settled(one)).members[0]).to.include({ state: 'CANCELLED', reason: 'GROUP_DECIDED' });
    expect(await one.queue.told()).to.not.include('message.retried');
  });
});
