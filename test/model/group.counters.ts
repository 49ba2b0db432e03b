import { expect } from 'chai';
import type { World } from '../support/world.ts';
import type { GroupModel } from './group.model.ts';

/** Expects the counters of the space and the plan to equal the model's. */
export async function expectCounters(world: World, model: GroupModel, now: number): Promise<void> {
  const { tasks, state, deadline } = model;
  const is = (...states: string[]): number => tasks.filter(({ state }) => states.includes(state)).length;
  const org = `muster:{${world.org}}`;
  const stored = await world.service.store.hgetall(`${org}:${world.spaceId}`);
  const plan = await world.service.store.hmget(org, 'usedTasks', 'usedAgents');
  const delayed = Number(stored['messages:DELAYED'] ?? 0);
  // Due messages become ready with the next receive.
  expect(delayed).to.be.at.least(tasks.filter(({ state, since }) => state === 'PENDING' && since > now).length);
  const live = tasks.filter((task) => task.deadline !== null && ['PENDING', 'RUNNING'].includes(task.state)).length;
  const expected: Record<string, number> = {
    ...{
      'messages:READY': is('PENDING') - delayed,
      'messages:CLAIMED': is('RUNNING'),
      'messages:ACKED': is('SUCCEEDED'),
    },
    ...{ 'messages:EXPIRED': is('EXPIRED'), 'messages:CANCELLED': is('CANCELLED'), [`groups:${state}`]: 1 },
    'timers:ARMED': delayed + live + (deadline !== null && state !== 'DECIDED' ? 1 : 0),
  };
  for (const [name, value] of Object.entries(expected)) expect(Number(stored[name] ?? 0), name).to.equal(value);
  expect(plan.map(Number)).to.deep.equal([is('PENDING', 'RUNNING'), is('RUNNING')]);
}
