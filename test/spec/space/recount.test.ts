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
  await traffic.questions();
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
  for (const key of ['plan', 'state']) await world.call('PUT', `/scopes/${scopeId}/notes/${key}`, { value: key });
  const schedule = { name: 's', mailboxId: traffic.work, scopeId, payload: 1, everySeconds: 3600 };
  await world.mustPost('/schedules', schedule);
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
    /** named: what the failure must name. */
    const check = async (name: string, named = '', how: Parameters<typeof expectAgreement>[1] = {}): Promise<void> => {
      const failure = await rejectionOf(expectAgreement(world, how)).catch(() => '');
      checked.add(kindOf(name));
      if (failure === '' || !failure.includes(named)) missed.push(`${name}: ${failure}`);
    };
    const prefix = `${world.prefix}:`;
    // No indexes of records: the journal, replays, usage of days, names, arrivals.
    const noIndex =
      /:(events|idempotency:\d+|usage.*|arrivalKeys|allowances|allowanceNames|budgets|budgetNames|taskKeys|queue|workKeys:(SETTLE|VOID)|outbox.*|schedules|scheduleNames|(allowance|reservation):[^:]+:workKeys)$/;
    const hasScores = /:(claims|oldestReady|delayed|heads|holdLeases|finishedHolds|waiting|held|units)$/;
    for (const name of (await store.keys(`${prefix}*`)).sort()) {
      if (checked.has(kindOf(name)) || noIndex.test(name)) continue;
      const kind = await store.type(name);
      const key = name.slice(prefix.length);
      if (kind === 'zset') {
        const [member = '', score = ''] = await store.zrange(name, '0', '0', 'WITHSCORES');
        await store.zrem(name, member);
        await check(name);
        await store.zadd(name, score, member);
        await store.zadd(name, score, 'more');
        await check(`${name} more`);
        await store.zrem(name, 'more');
        if (!hasScores.test(name)) continue;
        await store.zadd(name, Number(score) + 5_000, member);
        await check(`${name} score`);
        await store.zadd(name, score, member);
      } else if (kind === 'list') {
        await store.rpush(name, 'more');
        await check(`${name} more`, key);
        await store.rpop(name);
      } else if (kind === 'hash' && /:(workKeys.*|poolNames)$/.test(name)) {
        const [[field = '', value = ''] = []] = Object.entries(await store.hgetall(name));
        await store.hdel(name, field);
        await check(name, key);
        await store.hset(name, field, value);
        await store.hset(name, field, `${value}1`);
        await check(`${name} value`, key);
        await store.hset(name, field, value);
      } else if (kind === 'hash' && name.endsWith(':noteTexts')) {
        for (const [field, value] of Object.entries(await store.hgetall(name))) {
          await store.hset(name, field, field.startsWith('#') ? value.replace(/^\d+/, '99') : `${value} `);
          await check(`${name} ${field}`);
          await store.hset(name, field, value);
        }
      }
    }
    const unknown = `${prefix}scope:${randomUUID()}:messages`;
    await store.zadd(unknown, 0, randomUUID());
    await check(unknown, unknown.slice(prefix.length));
    await store.del(unknown);
    const recounted =
      /^(mailbox:(message|lease|delays)|group:deadline|allowance:waiter|question:expiry|scope:cancel):|^\d/;
    for (const kind of ['timers', 'backgroundTimers', 'scheduleTimers']) {
      const key = `muster:{${world.org}}:${kind}`;
      const timers = await store.zrange(key, '0', '-1', 'WITHSCORES');
      for (let i = 0; i < timers.length; i += 2) {
        const [member = '', score = ''] = [timers[i], timers[i + 1]];
        if (!recounted.test(member) || checked.has(kindOf(`${kind} ${member}`))) continue;
        await store.zrem(key, member);
        await check(`${kind} ${member}`);
        await store.zadd(key, score, member);
      }
    }
    const spaceKey = `muster:{${world.org}}:${world.spaceId}`;
    const orgKey = `muster:{${world.org}}`;
    const recordsOf = async (kind: string): Promise<string[]> =>
      (await store.keys(`${prefix}${kind}:*`)).filter((key) => /:[0-9a-f-]{36}$/.test(key)).sort();
    const counters: readonly (readonly [name: string | undefined, fields: readonly string[], isNamed: boolean])[] = [
      [(await recordsOf('budget'))[0], ['limitMinor', 'reserved', 'settled', 'available', 'overdrawn'], false],
      [
        (await recordsOf('mailbox'))[0],
        ['ready', 'delayed', 'blocked', 'claimed', 'failed', 'orderedDelayed', 'undecidedGroups'],
        true,
      ],
      [
        (await recordsOf('mailbox'))[0],
        [
          'goneTotal',
          'unackedTotal',
          'requeuedTotal',
          'rejectedTotal',
          'failedTotal',
          'cancelledTotal',
          'figuresMinute',
        ],
        false,
      ],
      [
        (await recordsOf('group'))[0],
        [
          ...['members', 'pending', 'running', 'succeeded', 'failed', 'expired', 'cancelled'],
          ...['accepted', 'rejected', 'unjudged'],
        ],
        true,
      ],
      [
        (await recordsOf('scope'))[0],
        [
          ...['live', 'liveWaiters', 'activeReservations', 'undecidedGroups', 'declaredChildren', 'notes', 'noteBytes'],
          ...['endedAcked', 'endedRejected', 'endedFailed', 'endedExpired', 'endedCancelled'],
        ],
        true,
      ],
      [(await recordsOf('pool'))[0], ['heldUnits', 'requiredBy'], true],
      [spaceKey, ['ackedRemoved', 'unackedTotal', 'requeuedTotal', 'retainedBytes', 'figuresMinute'], false],
      [spaceKey, ['messages:READY', 'scopes:ACTIVE', 'scopes:IDLE', 'groups:OPEN', 'timers:ARMED'], false],
      [orgKey, ['usedAgents', 'usedTasks', 'usedRuns'], false],
    ];
    for (const [name = '', fields, isNamed] of counters)
      for (const field of fields) {
        await store.hincrby(name, field, 1);
        // The service shows figures from counters of mailboxes, too.
        await check(`${name} ${field}`, isNamed ? field : '', { hasFigures: !isNamed || field.startsWith('ended') });
        await store.hincrby(name, field, -1);
      }
    for (const name of await store.keys(`${prefix}*figures`))
      for (const [field, value] of Object.entries(await store.hgetall(name))) {
        await store.hset(name, field, value.replace(/\d+$/, '77'));
        await check(`${name} ${field}`, 'figures');
        await store.hset(name, field, value);
      }
    await world.service.packing.packMessages(world.org, world.spaceId, undefined, { sealAfterMs: 0, isAll: true });
    await expectAgreement(world);
    const segments = await store.keys(`${prefix}mailbox:*:segments`);
    expect(segments).to.have.length.above(0);
    for (const name of [...segments, `${prefix}messageSegments`]) {
      const [member = '', score = ''] = await store.zrange(name, '0', '0', 'WITHSCORES');
      await store.zrem(name, member);
      await check(name);
      await store.zadd(name, score, member);
    }
    for (const name of await recordsOf('scope')) {
      await store.hincrby(name, 'endedAcked', 1);
      await check(`${name} of packed messages`, 'endedAcked');
      await store.hincrby(name, 'endedAcked', -1);
    }
    expect(missed).to.deep.equal([]);
    expect(checked.size).to.be.at.least(170);
    await expectAgreement(world);
  });

  it('counts lists of which the service shows the first rows only', async () => {
    const world = await World.create();
    const { store } = world.service;
    const allowance = { name: 'a', unitsLimit: 1_000, windowSeconds: 600 };
    const { id } = await world.mustPost('/allowances', allowance);
    const wait = { scopeId: randomUUID(), holder: 'h', units: 1, ttlSeconds: 60 };
    await Promise.all(Array.from({ length: 202 }, () => world.mustPost(`/allowances/${id}/wait`, wait)));
    expect((await world.get('/ops/waits')).body.truncated).to.equal(true);
    await expectAgreement(world);
    const key = `${world.prefix}:heldGrants`;
    await store.zremrangebyrank(key, -1, -1);
    expect(await rejectionOf(expectAgreement(world))).to.include('grants');
  });
});
