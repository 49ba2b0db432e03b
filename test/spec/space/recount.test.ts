import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { rejectionOf } from '../../support/own-store.ts';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

/** A space with records of every kind, waiting and finished; its clock stands still. */
async function busy(): Promise<World> {
  const world = await World.create();
  await world.at(Date.now());
  const traffic = await Traffic.on(world);
  const deadline = new Date(Date.now() + 3_600_000).toISOString();
  await Promise.all([traffic.messages(deadline), traffic.group(), traffic.barrier(), traffic.units()]);
  await Promise.all([traffic.later(), traffic.stopped(), traffic.reservation(deadline), traffic.holds()]);
  const scopeId = randomUUID();
  for (const fields of [{}, { workKey: 'w' }, { delaySeconds: 60 }]) await traffic.send(scopeId, fields);
  await traffic.claim(scopeId);
  await traffic.nack(await traffic.claim(scopeId), false);
  await world.post(`/mailboxes/${traffic.work}/recv`, { scopeId: '*', holder: 'h', holderSession: 's' });
  await traffic.send(scopeId);
  const { id: budgetId } = await world.mustPost('/budgets', { name: 'c', currency: 'EUR', scale: 2, limitMinor: '99' });
  const reserve = { scopeId, holder: 'h', amountMinor: '7', workKey: 'w' };
  await world.mustPost(`/budgets/${budgetId}/reserve`, reserve);
  const { id: reservationId } = await world.mustPost(`/budgets/${budgetId}/reserve`, { ...reserve, workKey: 'x' });
  const cost = { reservationId, amountMinor: '100', workKey: 'x', overrun: true };
  await world.mustPost(`/budgets/${budgetId}/settle`, cost);
  const group = { parentScopeId: scopeId, mailboxId: traffic.work, condition: 'ALL_TERMINAL' };
  const { id: groupId } = await world.mustPost('/task-groups', group);
  await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 'a' });
  const { id: stopped } = await world.mustPost('/scopes', { parentScopeId: scopeId, name: 'n' });
  await traffic.note(stopped);
  await world.mustPost(`/scopes/${stopped}/cancel`);
  // As if there were more to end than its first step may.
  await world.service.store.hset(`${world.prefix}:scope:${stopped}`, 'cancelWalk', `${stopped}  `);
  const timer = `scope:cancel:${world.spaceNumber}:${stopped}`;
  await world.service.store.zadd(`muster:{${world.org}}:backgroundTimers`, Date.now(), timer);
  return world;
}

describe('The recount used by tests', () => {
  it('notices any missing index entry, and any wrong counter or timer', async () => {
    const world = await busy();
    await expectAgreement(world);
    const { store } = world.service;
    const missed: string[] = [];
    const checked = new Set<string>();
    const kindOf = (name: string): string => name.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*');
    const check = async (name: string): Promise<void> => {
      const isFound = (await rejectionOf(expectAgreement(world)).catch(() => '')) !== '';
      checked.add(kindOf(name));
      if (!isFound) missed.push(name);
    };
    const prefix = `${world.prefix}:`;
    // No indexes of records: the journal, replays, usage of days, names, arrivals, grants.
    const noIndex =
      /:(events|idempotency:\d+|usage.*|arrivalKeys|heldGrants|allowances|allowanceNames|budgets|budgetNames|taskKeys|queue|workKeys:(SETTLE|VOID)|outbox.*)$/;
    for (const name of (await store.keys(`${prefix}*`)).sort()) {
      if (checked.has(kindOf(name)) || noIndex.test(name) || /:allowance:[^:]+:workKeys$/.test(name)) continue;
      const kind = await store.type(name);
      if (kind === 'zset') {
        const [member = '', score = ''] = await store.zrange(name, '0', '0', 'WITHSCORES');
        await store.zrem(name, member);
        await check(name);
        await store.zadd(name, score, member);
      } else if (kind === 'hash' && /:workKeys/.test(name)) {
        const [[key = '', value = ''] = []] = Object.entries(await store.hgetall(name));
        await store.hdel(name, key);
        await check(name);
        await store.hset(name, key, value);
      }
    }
    const timers = await store.zrange(`muster:{${world.org}}:timers`, '0', '-1', 'WITHSCORES');
    const recounted = /^(mailbox:(message|lease)|group:deadline|allowance:waiter):/;
    for (let i = 0; i < timers.length; i += 2) {
      const [member = '', score = ''] = [timers[i], timers[i + 1]];
      if (!recounted.test(member) || checked.has(kindOf(`timers ${member}`))) continue;
      await store.zrem(`muster:{${world.org}}:timers`, member);
      await check(`timers ${member}`);
      await store.zadd(`muster:{${world.org}}:timers`, score, member);
    }
    const background = await store.zrange(`muster:{${world.org}}:backgroundTimers`, '0', '-1', 'WITHSCORES');
    for (let i = 0; i < background.length; i += 2) {
      await store.zrem(`muster:{${world.org}}:backgroundTimers`, background[i] ?? '');
      await check(`backgroundTimers ${background[i]}`);
      await store.zadd(`muster:{${world.org}}:backgroundTimers`, background[i + 1] ?? '', background[i] ?? '');
    }
    for (const [kind, fields] of [
      ['budget', ['reserved', 'settled', 'available', 'overdrawn']],
      ['mailbox', ['ready', 'delayed', 'claimed', 'failed', 'undecidedGroups']],
      ['group', ['members', 'pending', 'running', 'succeeded', 'cancelled', 'accepted', 'unjudged']],
      ['scope', ['live', 'liveWaiters', 'activeReservations', 'undecidedGroups', 'declaredChildren']],
    ] as const) {
      const [name = ''] = (await store.keys(`${prefix}${kind}:*`)).filter((key) => /:[0-9a-f-]{36}$/.test(key)).sort();
      for (const field of fields) {
        await store.hincrby(name, field, 1);
        await check(`${name} ${field}`);
        await store.hincrby(name, field, -1);
      }
    }
    expect(missed).to.deep.equal([]);
    expect(checked.size).to.be.at.least(45);
    await expectAgreement(world);
  });
});
