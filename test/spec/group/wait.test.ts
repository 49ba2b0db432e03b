import { expect } from 'chai';
import { heldRead } from '../../support/held-reads.ts';
import { Team } from './team.ts';

describe('GET /task-groups/{id} with waitSeconds', () => {
  let team: Team;
  beforeEach(async () => {
    team = await Team.create();
  });
  const hold = () => heldRead(team.queue.world, `/task-groups/${team.id}`);
  const reads = () => team.queue.world.service.wake.reads;

  it('holds the request until the group is DECIDED, and answers with its members as they then stand', async () => {
    const { answer } = await hold();
    const [one = '', two = ''] = await team.submitted(2);
    await team.queue.act('complete', await team.queue.claim({ scopeId: team.gate }));
    expect(reads(), 'neither members nor their ends end it').to.equal(1);
    await team.accept(one);
    const { body } = await answer;
    expect(body).to.deep.equal(await team.view());
    expect(body).to.include({ state: 'DECIDED', outcome: 'SATISFIED' });
    expect(body.members.map(({ taskId, state }: Record<string, string>) => [taskId, state])).to.deep.equal([
      [one, 'SUCCEEDED'],
      [two, 'CANCELLED'],
    ]);
  });

  it('a wait ends when nobody can decide the group any more, and when its deadline passes', async () => {
    const { answer } = await hold();
    await team.seal();
    expect((await answer).body).to.include({ state: 'DECIDED', outcome: 'UNSATISFIABLE' });
    const { world } = team.queue;
    const start = Date.now();
    await world.at(start);
    const late = await Team.create({ deadline: new Date(start + 60_000).toISOString() }, team.queue);
    const other = await heldRead(world, `/task-groups/${late.id}`);
    await world.at(start + 60_000);
    await world.service.due.drain(world.org);
    expect((await other.answer).body).to.include({ state: 'DECIDED', outcome: 'EXPIRED' });
    expect((await world.get(`/task-groups/${late.id}?waitSeconds=30`)).body.outcome).to.equal('EXPIRED');
  });
});
