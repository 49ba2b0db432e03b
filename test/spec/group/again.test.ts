import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { Aging, day } from '../retention/support.ts';

describe('POST /task-groups with a workKey', () => {
  it('answers the first group of it as it stands, whatever else differs; 200 at once make one', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const create = (more: object = {}) =>
      world.post('/task-groups', { mailboxId: queue.id, condition: 'ALL_TERMINAL', workKey: 'day 1', ...more });
    const all = await Promise.all(Array.from({ length: 200 }, () => create()));
    expect(new Set(all.map(({ body }) => body.id)).size).to.equal(1);
    expect(all.filter(({ status }) => status === 201)).to.have.length(1);
    const { id, scopeId } = all[0]?.body ?? {};
    expect((await world.get(`/task-groups/${id}`)).body.workKey).to.equal('day 1');
    await world.mustPost(`/task-groups/${id}/seal`);
    const again = await create({ condition: 'FIRST_ACCEPTED', parentScopeId: randomUUID() });
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal({ id, groupId: id, scopeId, state: 'DECIDED', replay: true });
    expect((await create({ workKey: 'day 2' })).status).to.equal(201);
    expect((await world.get('/task-groups')).body.groups).to.have.length(2);
    await expectAgreement(world);
  });

  it('knows it for as long as the group is kept', async () => {
    const aging = await Aging.begin();
    const queue = await Queue.create({}, aging.world);
    const body = { mailboxId: queue.id, condition: 'ALL_TERMINAL', workKey: 'k' };
    const { id } = await queue.world.mustPost('/task-groups', body);
    await queue.world.mustPost(`/task-groups/${id}/seal`);
    await aging.sweepAt(29 * day);
    expect((await queue.world.mustPost('/task-groups', body)).id).to.equal(id);
    await aging.sweepAt(40 * day);
    expect((await queue.world.mustPost('/task-groups', body)).id).to.not.equal(id);
    await expectAgreement(aging.world);
  });
});

describe('POST /task-groups/{id}/tasks with unique', () => {
  it('answers the member of a known taskKey as it stands, also of a group that is not OPEN', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const { id } = await world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'ALL_TERMINAL' });
    const submit = (more: object = {}) =>
      world.post(`/task-groups/${id}/tasks`, { taskKey: 'a', unique: true, ...more });
    const first = await submit({ input: 1 });
    expect([first.status, first.body.state, first.body.replay]).to.deep.equal([201, 'PENDING', false]);
    expect(codeOf(await submit({ unique: false }))).to.equal('409 TASK_KEY_CONFLICT');
    const usage = async () => (await world.get('/usage')).body.days.at(-1);
    const before = await usage();
    const again = await submit({ input: 2 });
    const after = await usage();
    expect([after.operations - before.operations, after.syscalls - before.syscalls], 'no operation').to.deep.equal([
      0, 1,
    ]);
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal({ ...first.body, replay: true });
    const claim = await queue.claim({ scopeId: '*' });
    expect((await submit()).body.state).to.equal('RUNNING');
    await queue.act('complete', claim);
    await world.mustPost(`/task-groups/${id}/seal`);
    expect((await submit()).body).to.deep.equal({ ...first.body, state: 'SUCCEEDED', replay: true });
    expect(codeOf(await submit({ taskKey: 'b' }))).to.equal('409 GROUP_NOT_OPEN');
    await expectAgreement(world);
  });
});
