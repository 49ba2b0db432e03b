import { expect } from 'chai';
import { expectIndexes } from './indexes.ts';
import { recount, reported } from './recount.ts';
import type { World } from './world.ts';

const sorted = (rows: Record<string, string>[], name: string): string[] => rows.map((row) => row[name] ?? '').sort();

/**
 * Fails if the service's counters differ from its records, in spaces with up to 200 waits of each kind. isClockSteady: the
 * clock was never set back; hasFigures: every call was counted in the figures and the
 * `ended` of scopes.
 */
export async function expectAgreement(world: World, { isClockSteady = true, hasFigures = true } = {}): Promise<void> {
  const stored = await recount(world);
  const { counts, backlog, waits, retainedBytes, org, timers, schedules } = await reported(world);
  const { census } = stored;
  const { trimmedThrough } = await world.service.store.hgetall(`muster:{${world.org}}:${world.spaceId}`);
  // Counts of events include events that retention has removed.
  const events = trimmedThrough === undefined ? census.events : counts.events;
  expect(counts).to.deep.equal({ ...census, events });
  for (const [type, kept] of Object.entries(census.events)) expect(counts.events[type], type).to.be.at.least(kept);
  if (trimmedThrough === undefined && isClockSteady && hasFigures)
    expect(stored.figures.kept, 'figures').to.deep.equal(stored.figures.counted);
  expect(stored.scopes.reported).to.deep.equal(stored.scopes.stored);
  if (stored.hasAllMessages && hasFigures)
    expect(stored.scopes.ended, 'ended').to.deep.equal(stored.scopes.endedRecords);
  for (const { stored: balances, counted } of stored.budgets) {
    // Spending remains spent after retention has removed its reservation.
    expect(balances.spent >= counted.spent, 'spent').to.equal(true);
    expect(balances).to.deep.equal(trimmedThrough === undefined ? counted : { ...counted, spent: balances.spent });
  }
  expect(backlog).to.include({
    readyMessages: census.messages['READY'],
    delayedMessages: census.messages['DELAYED'],
    blockedMessages: census.messages['BLOCKED'],
    claimedMessages: census.messages['CLAIMED'],
    waitingWaiters: census.waiters['WAITING'],
    waitingHolds: census.holds['WAITING'],
    openQuestions: census.questions['OPEN'],
    armedTimers: census.timers.ARMED,
  });
  expect(retainedBytes).to.equal(stored.retainedBytes);
  expect(stored.notes.stored, 'notes').to.deep.equal(stored.notes.counted);
  expect(stored.notes.isSound, 'versions of notes').to.equal(true);
  expect(sorted(waits.heldClaims, 'messageId')).to.deep.equal(stored.claimIds);
  expect(sorted(waits.waiters, 'waiterId')).to.deep.equal(stored.waiterIds);
  expect(sorted(waits.heldGrants, 'waiterId')).to.deep.equal(stored.heldGrantIds(Date.parse(waits.asOf)));
  expect(sorted(waits.waitingHolds, 'holdId')).to.deep.equal(stored.holdIds('WAITING'));
  expect(sorted(waits.heldHolds, 'holdId')).to.deep.equal(stored.holdIds('HELD'));
  expect(stored.pools.stored, 'held units').to.deep.equal(stored.pools.counted);
  expect(sorted(waits.waitingTasks, 'taskId')).to.deep.equal(stored.waitingTaskIds);
  const next = waits.schedules.map(
    (one: Record<string, string>) => `${Date.parse(one['nextAt'] ?? '')} ${one['scheduleId']}`,
  );
  expect(next.sort(), 'schedules').to.deep.equal(stored.nextSchedules);
  const due = schedules.flatMap((name, i) => (i % 2 === 0 ? [`${schedules[i + 1]} ${name}`] : []));
  expect(due.sort(), 'their timers').to.deep.equal(
    stored.nextSchedules.map((one) => one.replace(' ', ` ${world.spaceNumber}:`)).sort(),
  );
  expect(waits.truncated).to.equal(false);
  const armed = timers.flatMap((name, i) =>
    /^(mailbox:message|group:deadline):/.test(name) ? `${name} ${timers[i + 1]}` : [],
  );
  expect(armed.sort(), 'timers').to.deep.equal(stored.deadlines);
  // There is only one space, so its counters are the organization's.
  expect(Number(org['usedAgents'] ?? 0)).to.equal(census.claims.HELD + stored.heldUnits);
  expect(Number(org['usedTasks'] ?? 0)).to.equal((census.tasks['PENDING'] ?? 0) + (census.tasks['RUNNING'] ?? 0));
  expect(Number(org['usedRuns'] ?? 0)).to.equal(stored.activeRoots);
  await expectIndexes(world, stored.records, isClockSteady);
}
