import { expect } from 'chai';
import { expectNone, expectSame } from './differences.ts';
import { expectIndexes } from './indexes.ts';
import { recount, reported } from './recount.ts';
import type { World } from './world.ts';

type Row = Readonly<Record<string, string>>;

/** The most rows of a list of waits that the service shows. */
const maxRows = 200;

/** Fails unless the service shows all of a list, or so many of a longer one. */
function expectShown(shown: readonly string[], all: readonly string[], what: string): void {
  const known = new Set(all);
  const found = shown.filter((one) => known.has(one));
  expectSame(shown, all.length > maxRows ? found : all, what);
  expect(new Set(found).size, what).to.equal(Math.min(all.length, maxRows));
}

/**
 * Fails if the service's counters differ from its records. isClockSteady: the clock was never set back; hasFigures: every
 * call was counted in the figures and the `ended` of scopes. Returns the number of records.
 */
export async function expectAgreement(world: World, { isClockSteady = true, hasFigures = true } = {}): Promise<number> {
  const stored = await recount(world);
  const { counts, backlog, waits, retainedBytes, org, timers, schedules, grants } = await reported(world);
  const { census } = stored;
  const { trimmedThrough } = await world.service.store.hgetall(`muster:{${world.org}}:${world.spaceId}`);
  // Counts of events include events that retention has removed.
  const events = trimmedThrough === undefined ? census.events : counts.events;
  expect(counts).to.deep.equal({ ...census, events });
  for (const [type, kept] of Object.entries(census.events)) expect(counts.events[type], type).to.be.at.least(kept);
  const isWhole = trimmedThrough === undefined;
  if (isWhole && isClockSteady && hasFigures) await expectNone(stored.figures);
  await expectNone(stored.scopes);
  if (stored.hasAllMessages && hasFigures) await expectNone(stored.ended);
  await expectNone(stored.budgets(isWhole));
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
  await expectNone(stored.notes);
  await expectNone(stored.unsoundNotes);
  await expectNone(stored.pools);
  const asOf = Date.parse(waits.asOf);
  const heldGrantIds = stored.heldGrantIds(asOf);
  const idOf = (name: string) => (row: Row) => row[name] ?? '';
  const lists: readonly (readonly [name: string, of: (row: Row) => string, all: readonly string[]])[] = [
    ['heldClaims', idOf('messageId'), stored.claimIds],
    ['waiters', idOf('waiterId'), stored.waiterIds],
    ['heldGrants', idOf('waiterId'), heldGrantIds],
    ['waitingHolds', idOf('holdId'), stored.holdIds('WAITING')],
    ['heldHolds', idOf('holdId'), stored.holdIds('HELD')],
    ['waitingTasks', idOf('taskId'), stored.waitingTaskIds],
    ['schedules', ({ nextAt = '', scheduleId }) => `${Date.parse(nextAt)} ${scheduleId}`, stored.nextSchedules],
  ];
  for (const [name, of, all] of lists) expectShown(waits[name].map(of), all, name);
  expect(waits.truncated, 'truncated').to.equal(lists.some(([, , all]) => all.length > maxRows));
  const lasting = [...grants].flatMap(([id, endsAt]) => (Number(endsAt) > asOf ? [id] : []));
  expectSame(lasting, heldGrantIds, 'grants');
  const due = [...schedules].map(([name, at]) => `${at} ${name}`);
  const known = stored.nextSchedules.map((one) => one.replace(' ', ` ${world.spaceNumber}:`));
  expectSame(due, known, 'their timers');
  const armed = [...timers].flatMap(([name, at]) =>
    /^(mailbox:message|group:deadline):/.test(name) ? `${name} ${at}` : [],
  );
  expectSame(armed, stored.deadlines, 'timers');
  // There is only one space, so its counters are the organization's.
  expect(Number(org['usedAgents'] ?? 0)).to.equal(census.claims.HELD + stored.heldUnits);
  expect(Number(org['usedTasks'] ?? 0)).to.equal((census.tasks['PENDING'] ?? 0) + (census.tasks['RUNNING'] ?? 0));
  expect(Number(org['usedRuns'] ?? 0)).to.equal(stored.activeRoots);
  await expectIndexes(world, stored.records, isClockSteady);
  // Last, since it follows from the other counters of a mailbox.
  await expectNone(stored.acked);
  return stored.records.count;
}
