import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { expectNeedsOperation, expectNeedsRun, limitedWorld } from '../../support/plan.ts';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { filled } from '../scope/run.ts';
import { Team } from './team.ts';

describe('the groups of a run', () => {
  it('are in its view below their gates, each with its members, without their outcomes', async () => {
    const team = await Team.create({ condition: 'ALL_TERMINAL' });
    const { world, scopeId } = team.queue;
    await team.succeeded(1);
    await team.submit('b');
    const { groups } = (await world.get(`/ops/runs/${scopeId}`)).body;
    expect(groups).to.have.length(1);
    const { members, ...rest } = groups[0];
    const view = await team.view();
    expect(rest).to.deep.include({ id: team.id, state: 'OPEN', counts: view.counts });
    expect(members.map(({ taskId, state }: Record<string, string>) => [taskId, state])).to.deep.equal(
      view.members.map(({ taskId, state }: Record<string, string>) => [taskId, state]),
    );
    expect(members[0]).to.not.have.property('outcome');
    await expectAgreement(world);
  });

  it('are decided with its cancel, and count with their members; those decided before do not count', async () => {
    const team = await Team.create({ condition: 'ALL_TERMINAL' });
    const { queue } = team;
    await team.submit('a');
    await team.submit('b');
    const before = await Team.create({ condition: 'ALL_TERMINAL' }, queue);
    await before.seal();
    const { cancelled } = await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
    expect(cancelled).to.include({ groups: 1, messages: 2 });
    expect((await team.view()).outcome).to.equal('CANCELLED');
    expect((await before.view()).outcome).to.equal('SATISFIED');
    expect(codeOf(await team.submit('c'))).to.equal('409 SCOPE_CANCELLED');
    await expectAgreement(queue.world);
  });

  it('are EXPIRED, not CANCELLED, if their deadline passed before the cancel', async () => {
    const world = await World.create();
    const start = Date.now();
    await world.at(start);
    const queue = await Queue.create({}, world);
    const fields = { condition: 'ALL_TERMINAL', deadline: new Date(start + 1000).toISOString() };
    const team = await Team.create(fields, queue);
    await world.at(start + 1000);
    await world.mustPost(`/scopes/${queue.scopeId}/cancel`);
    expect(await team.view()).to.include({ outcome: 'EXPIRED', decidedAt: fields.deadline });
  });

  it('are decided from the first step of its cancel on: no verdict, seal or submit counts before their turn', async () => {
    const { run } = await filled();
    const { world } = run;
    const queue = new Queue(world, run.mailboxId);
    const made = async () => {
      const parentScopeId = run.scopeId;
      const fields = { parentScopeId, mailboxId: run.mailboxId, condition: 'ALL_TERMINAL' };
      const { groupId, scopeId } = await world.mustPost('/task-groups', fields);
      const team = new Team(queue, groupId, scopeId);
      await team.submit('a');
      return team;
    };
    const [sealed, judged] = [await made(), await made()];
    const [member] = (await judged.view()).members;
    const { id, token } = await world.mustPost(`/mailboxes/${run.mailboxId}/recv`, {
      ...{ scopeId: judged.gate, holder: 'h', holderSession: 's' },
    });
    await world.mustPost(`/messages/${id}/complete`, { token });
    // More messages in the deepest scopes occupy the first step.
    await run.another(judged.gate).fill(260);
    await run.another(sealed.gate).fill(260);
    expect((await run.cancel()).body.done).to.equal(false);
    expect(codeOf(await sealed.submit('b'))).to.equal('409 SCOPE_CANCELLED');
    expect(codeOf(await sealed.seal())).to.equal('409 GROUP_DECIDED');
    expect((await judged.accept(member.taskId)).body).to.deep.include({ groupState: 'DECIDED', outcome: 'CANCELLED' });
    await run.worked();
    expect((await run.cancel()).body.cancelled.groups).to.equal(2);
    await expectAgreement(world);
  });
});

describe('a group', () => {
  it('frees what waits for it once it is SATISFIED, and cancels that when it comes out otherwise', async () => {
    const team = await Team.create({ condition: 'ALL_TERMINAL' });
    const other = await Team.create({ condition: 'FIRST_ACCEPTED' }, team.queue);
    const { queue } = team;
    const [after, never] = [
      await queue.sent({ after: [{ groupId: team.id }] }),
      await queue.sent({ after: [{ groupId: other.id }] }),
    ];
    const state = async (id: string) => (await queue.world.get(`/messages/${id}`)).body.state;
    expect([await state(after), await state(never)]).to.deep.equal(['BLOCKED', 'BLOCKED']);
    expect((await team.seal()).body.outcome).to.equal('SATISFIED');
    expect((await other.seal()).body.outcome).to.equal('UNSATISFIABLE');
    expect([await state(after), await state(never)]).to.deep.equal(['READY', 'CANCELLED']);
  });

  it('begins and grows only with an operation left; verdicts and its seal go on', async () => {
    const world = await limitedWorld();
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, await Queue.create({}, world));
    const { queue } = team;
    const [taskId] = await team.succeeded(1);
    const outside = await queue.sent();
    const fields = { mailboxId: queue.id, condition: 'ALL_TERMINAL' };
    const path = `/task-groups/${team.id}`;
    await expectNeedsOperation(
      world,
      [
        ['/task-groups', fields],
        [`${path}/tasks`, { taskKey: 'x' }],
        [`${path}/join-task`, { taskId: outside }],
      ],
      [[`${path}/tasks/${taskId}/accept`], [`${path}/seal`]],
    );
    await expectNeedsRun(world, [
      ['/task-groups', fields],
      ['/task-groups', { ...fields, parentScopeId: randomUUID() }],
    ]);
  });
});
