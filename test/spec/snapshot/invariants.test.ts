import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { findEmbedded } from '../../../src/embedded/embedded.ts';
import { connect } from '../../../src/redis/connection.ts';
import type { MusterService } from '../../../src/service.ts';
import type { Snapshot } from '../../../src/snapshot/folder.ts';
import { expectAgreement } from '../../support/agree.ts';
import { record } from '../../support/cli.ts';
import { type MusterProcess, Processes, until } from '../../support/processes.ts';
import { World } from '../../support/world.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const limitMinor = '900000000000000000';

/** A client of the process that checks replies like every other test, and its store for the recount. */
async function worldOf({ url, access }: MusterProcess, dataDir: string): Promise<World> {
  const store = await connect((await findEmbedded(dataDir)) ?? '');
  return new World({ store, url } as unknown as MusterService, 'dev', access.spaceId, access.apiKey);
}

/** One round of work on every primitive; some calls may be refused (a full window, a released barrier). */
async function turn(world: World, ids: Record<'mailbox' | 'budget' | 'barrier' | 'allowance', string>): Promise<void> {
  const { id: reservationId } = await world.made(`/budgets/${ids.budget}/reserve`, {
    scopeId,
    holder: 'a',
    amountMinor: '70',
  });
  await world.made(`/budgets/${ids.budget}/settle`, { reservationId, amountMinor: '33', workKey: randomUUID() });
  if (Math.random() < 0.5) await world.made(`/budgets/${ids.budget}/void`, { reservationId, workKey: randomUUID() });
  await world.post(`/barriers/${ids.barrier}/arrive`, { arrivalKey: randomUUID() });
  await world.post(`/barriers/${ids.barrier}/nextEpoch`);
  await world.post(`/allowances/${ids.allowance}/consume`, { scopeId, units: 1, holder: 'a' });
  await world.post(`/allowances/${ids.allowance}/wait`, { scopeId, units: 2, holder: 'a' });
  const { groupId } = await world.made('/task-groups', { mailboxId: ids.mailbox, condition: 'FIRST_ACCEPTED' });
  for (const taskKey of ['x', 'y']) await world.made(`/task-groups/${groupId}/tasks`, { taskKey });
  const claim = await world.post(`/mailboxes/${ids.mailbox}/recv`, {
    scopeId: randomUUID(),
    holder: 'a',
    holderSession: 's',
  });
  expect(claim.status).to.equal(204);
  const { scopeId: gate } = (await world.get(`/task-groups/${groupId}`)).body;
  const { body } = await world.post(`/mailboxes/${ids.mailbox}/recv`, {
    scopeId: gate,
    holder: 'a',
    holderSession: 's',
  });
  await world.made(`/messages/${body.id}/complete`, { token: body.token });
  await world.made(`/task-groups/${groupId}/tasks/${body.taskId}/accept`);
}

describe('A snapshot under load on every primitive', function () {
  this.timeout(90_000);
  const processes = new Processes();
  after(() => processes.clear());

  it('keeps the invariants of every primitive when restored elsewhere', async () => {
    const dataDir = await processes.folder();
    const original = await processes.start({ DATA_DIR: dataDir }).ready();
    const world = await worldOf(original, dataDir);
    const ids = {
      mailbox: (await world.made('/mailboxes', { name: 'jobs', backlogLimit: 100_000 })).id,
      budget: (await world.made('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor })).id,
      barrier: (await world.made('/barriers', { scopeId, target: 5 })).id,
      allowance: (await world.made('/allowances', { name: 'a', unitsLimit: 50, windowSeconds: 1 })).id,
    };
    const schedule = { mailboxId: ids.mailbox, scopeId, payload: 1, everySeconds: 3600 };
    for (const name of ['s', 't', 'u']) await world.made('/schedules', { ...schedule, name });
    let isOver = false;
    let turns = 0;
    const load = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        await turn(world, ids);
        turns++;
      }
    });
    await until(() => turns >= 20);
    const created: Snapshot = await record(['snapshot', 'create'], { DATA_DIR: dataDir });
    isOver = true;
    await Promise.all(load);
    world.service.store.disconnect();
    await original.end('SIGTERM');

    const elsewhere = join(await processes.folder(), 'elsewhere');
    await record(['snapshot', 'restore', join(dataDir, 'snapshots', `${created.snapshot}.rdb`)], {
      DATA_DIR: elsewhere,
    });
    const restored = await processes.start({ DATA_DIR: elsewhere, ROLE: 'api' }).ready();
    const there = await worldOf(
      { ...restored, url: restored.url, access: original.access } as MusterProcess,
      elsewhere,
    );
    await expectAgreement(there);

    const { body: budget } = await there.get(`/budgets/${ids.budget}?limit=200`);
    const sum = (name: string) =>
      budget.reservations.reduce((total: bigint, one: Record<string, string>) => total + BigInt(one[name] ?? 0), 0n);
    const { limit, reserved, settled, available } = budget.balances;
    expect(BigInt(reserved) + BigInt(settled) + BigInt(available)).to.equal(BigInt(limit));
    if (budget.nextCursor === null)
      expect([sum('remainingMinor'), sum('settledMinor')]).to.deep.equal([BigInt(reserved), BigInt(settled)]);
    const { body: barrier } = await there.get(`/barriers/${ids.barrier}`);
    expect(barrier.arrivals).to.be.within(0, 5);
    expect(barrier.state === 'RELEASED').to.equal(barrier.arrivals === 5);
    const { body: allowance } = await there.get(`/allowances/${ids.allowance}`);
    expect(allowance.usedUnits + allowance.availableUnits).to.equal(50);
    for (const group of (await there.get('/task-groups?limit=200')).body.groups) {
      const states = group.members.map((member: { state: string }) => member.state);
      expect(group.counts.members).to.equal(states.length);
      if (group.state === 'DECIDED') expect(states).to.not.include('PENDING');
    }
    // And the restored service goes on working.
    await turn(there, ids);
    there.service.store.disconnect();
    await restored.end('SIGTERM');
  });
});
