import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { expectAgreement } from '../support/agree.ts';
import type { World } from '../support/world.ts';
import { checkAll, type Findings } from './checker.ts';
import { byObject, composed, type Operation, tied } from './history.ts';
import { byRequest, disagreements, type Event, journal } from './journal.ts';
import type { Lab } from './lab.ts';
import { Looks } from './looks.ts';
import {
  barrierModel,
  budgetModel,
  claimModel,
  gaugeModel,
  lockModel,
  notesModel,
  placeModel,
  questionModel,
} from './models.ts';
import { outOfLine, outOfTurn, overtaken, tooEarly } from './order.ts';
import { gaugeUnits } from './scenes/allowance.ts';
import { gateTarget } from './scenes/gate.ts';
import { purseLimits } from './scenes/purse.ts';
import { settledTokens, tokens } from './scenes/requires.ts';
import { untraced } from './traces.ts';
import type { Workload } from './workload.ts';

/** The conditions of a run: whether its clock is to be trusted, and when timers could not be swept. */
export interface Circumstances {
  readonly clock?: 'steady' | 'jumping';
  /** A build took part that keeps neither traces nor figures. */
  readonly isEarlier?: boolean;
  /** Wall-clock moments between which a worker or its store was away. */
  readonly outages?: readonly (readonly [from: number, to: number])[];
}

/** Once all has settled, checks everything. */
export async function expectSound(lab: Lab, load: Workload, circumstances: Circumstances = {}): Promise<void> {
  await onceSettled(lab, load, async (worlds) => {
    const looks = await new Looks(load, circumstances.clock ?? 'steady').all();
    expect(load.unexpected).to.deep.equal([]);
    const events = (await Promise.all(worlds.map(journal))).flat();
    expect(new Set(events.map(({ eventId }) => eventId)).size, 'event ids').to.equal(events.length);
    expect(disagreements(load.history, events).slice(0, 3)).to.deep.equal([]);
    if (circumstances.clock !== 'jumping') {
      expectPast(events);
      expect(outOfTurn(load, events).slice(0, 3)).to.deep.equal([]);
      expect(overtaken(load, events).slice(0, 3)).to.deep.equal([]);
    }
    expect(tooEarly(load, events)).to.deep.equal([]);
    if (!circumstances.isEarlier) expect(untraced(events).slice(0, 3)).to.deep.equal([]);
    expect(closedTwice(events)).to.deep.equal([]);
    expect(outOfLine(events).slice(0, 3)).to.deep.equal([]);
    expect(toldTwice(events)).to.deep.equal([]);
    expect(miscounted(load, looks, events)).to.deep.equal([]);
    const cleared = clearedIn(load.history, looks, events);
    expect(cleared.flatMap(misremoved)).to.deep.equal([]);
    for (const world of worlds) expect(await miscountedBulks(world, events)).to.deep.equal([]);
    expect(changedMemos([...load.history, ...looks])).to.deep.equal([]);
    expectUniqueIds(load.history);
    const history = [...resolved([...load.history, ...looks], events), ...cleared.flatMap(removals)];
    const findings = linearizability(history, circumstances);
    expect(findings.violations.slice(0, 1).join(''), 'linearizable').to.equal('');
    expect(findings.undecided).to.equal(0);
    for (const world of worlds)
      await expectAgreement(world, { hasFigures: !circumstances.isEarlier && circumstances.clock !== 'jumping' });
    report(load, findings, lateness(load, events, circumstances.outages ?? []), circumstances.clock === 'jumping');
  });
}

/**
 * Lets the clients end, empties the queues, and waits for leases and waiters to end. Then calls `look`, with a service
 * of its own.
 */
export async function onceSettled<T>(lab: Lab, load: Workload, look: (worlds: World[]) => Promise<T>): Promise<T> {
  await load.finish();
  const service = await lab.service();
  try {
    const worlds = lab.worlds(service);
    for (const world of worlds) await untilNoBulk(world);
    await load.drain();
    for (const world of worlds) await untilQuiet(world);
    return await look(worlds);
  } finally {
    await service.stop();
  }
}

/** Waits for the end of bulk work: another worker goes on 10 seconds after the death of one. */
async function untilNoBulk(world: World): Promise<void> {
  const late = performance.now() + 30_000;
  while ((await world.get('/census')).body.bulks.RUNNING > 0) {
    expect(performance.now(), 'bulk work ends').to.be.below(late);
    await sleep(50);
  }
}

/** Waits until nothing is claimed, held or waiting any more: leases and waiters end by themselves. */
async function untilQuiet(world: World): Promise<void> {
  const isQuiet = async (): Promise<boolean> => {
    const { claims, waiters, holds, messages } = (await world.get('/census')).body;
    const held = claims.HELD + holds.HELD + holds.WAITING;
    return held + waiters.WAITING + messages.READY + messages.DELAYED + messages.BLOCKED === 0;
  };
  const late = performance.now() + 15_000;
  while (!(await isQuiet())) {
    expect(performance.now(), 'leases and waiters end').to.be.below(late);
    await sleep(50);
  }
}

/**
 * Resolves operations with the help of the journal. A receive whose answer was lost becomes a claim of each message
 * that it claimed, or is dropped if there is none; an acquire likewise. A purge or a requeue of a mailbox becomes an
 * operation on each message that it changed.
 */
function resolved(history: readonly Operation[], events: readonly Event[]): Operation[] {
  const found = byRequest(events);
  const each = (operation: Operation, event: string, more: Partial<Operation> = {}): Operation[] =>
    (found.get(operation.id) ?? [])
      .filter(({ type }) => type === event)
      .map(({ aggregateId }) => ({ ...operation, ...more, object: `message ${aggregateId}` }));
  return history.flatMap((operation) => {
    if (operation.kind === 'purge') return each(operation, 'message.cancelled', { kind: 'purged', value: {} });
    if (operation.kind === 'requeue some') return each(operation, 'message.requeued', { kind: 'requeue', value: {} });
    // Workers change these messages at some moment after the answer.
    const later = { outcome: 'unknown', respondedAt: Number.POSITIVE_INFINITY, value: {} } as const;
    if (operation.kind === 'purge all') return each(operation, 'message.cancelled', { kind: 'purged', ...later });
    if (operation.kind === 'requeue all') return each(operation, 'message.requeued', { kind: 'requeue', ...later });
    if (operation.outcome !== 'unknown') return [operation];
    if (operation.kind !== 'hold') return each(operation, 'message.claimed');
    const held = (found.get(operation.id) ?? []).filter(({ type }) => type === 'hold.held');
    return held.map(({ aggregateId: id, payload: { fence = 0 } }) => ({ ...operation, value: { id, fence } }));
  });
}

/** A mailbox from which messages were removed: the calls that did so, and its messages that are no longer listed. */
interface Cleared {
  readonly mailbox: string;
  readonly clears: readonly Operation[];
  readonly gone: readonly string[];
}

function clearedIn(
  history: readonly Operation[],
  looks: readonly Operation[],
  events: readonly Event[],
): readonly Cleared[] {
  const listed = new Set(looks.map(({ object }) => object));
  const sent = events.filter(({ type }) => type === 'message.sent');
  return [...byObject(history.filter(({ kind }) => kind === 'clear'))].map(([mailbox, clears]) => ({
    mailbox,
    clears,
    gone: sent
      .filter(({ payload }) => mailbox === `mailbox ${payload['mailboxId']}`)
      .map(({ aggregateId }) => `message ${aggregateId}`)
      .filter((message) => !listed.has(message)),
  }));
}

/** Whether a mailbox lacks another number of messages than were removed. */
function misremoved({ mailbox, clears, gone }: Cleared): string[] {
  const said = clears.reduce((sum, { value }) => sum + Number(value['removed'] ?? 0), 0);
  const unheard = clears.filter(({ outcome }) => outcome === 'unknown');
  const most = unheard.reduce((sum, { input }) => sum + Number(input['max']), said);
  const isRight = gone.length >= said && gone.length <= most;
  return isRight ? [] : [`${mailbox} lacks ${gone.length} messages, and ${said} were removed`];
}

/** As operations on each message that is gone: the removals that may have met it, and that it is gone in the end. */
function removals({ clears, gone }: Cleared): Operation[] {
  const now = performance.now();
  const end = { id: '', client: -1, kind: 'gone', input: {}, invokedAt: now, respondedAt: now };
  return gone.flatMap((object) => [
    ...clears.map((clear) => ({ ...clear, object })),
    { ...end, object, outcome: 'ok' as const, value: {} },
  ]);
}

function linearizability(history: readonly Operation[], { clock = 'steady' }: Circumstances): Findings {
  // Objects that an atomic batch ties together are one object.
  const isOnObject = ({ kind }: Operation): boolean => !kind.startsWith('create');
  const deals = tied(history.filter(isOnObject));
  const inDeals = new Set(
    [...deals.values()].flat().flatMap(({ object, parts = [] }) => [object, ...parts.map((one) => one.object)]),
  );
  const all = [...byObject(history)].filter(([object]) => !inDeals.has(object));
  // A member's message also ends with its group, and no send of the workload created it.
  const sent = new Set(history.filter(({ kind }) => kind === 'send').map(({ object }) => object));
  const of = (kind: string) => new Map(all.filter(([object]) => object.startsWith(kind)));
  const messages = new Map([...of('message ')].filter(([object]) => sent.has(object)));
  const without = (objects: Map<string, Operation[]>) =>
    new Map([...objects].map(([object, operations]) => [object, operations.filter(isOnObject)]));
  const [budgets, notes] = [budgetModel(purseLimits, clock), notesModel()];
  const findings = [
    checkAll(messages, () => claimModel(clock)),
    checkAll(without(of('budget ')), () => budgets),
    checkAll(without(of('barrier ')), () => barrierModel(gateTarget)),
    checkAll(without(of('pool ')), () => lockModel(clock)),
    checkAll(of('place '), () => placeModel(clock)),
    checkAll(of('notes '), () => notes),
    checkAll(without(of('gauge ')), () => gaugeModel(gaugeUnits)),
    checkAll(deals, () => composed((object) => (object.startsWith('budget ') ? budgets : notes))),
    checkAll(of('question '), () => questionModel(clock)),
  ];
  const sum = (of: (one: Findings) => number): number => findings.reduce((total, one) => total + of(one), 0);
  return {
    objects: sum(({ objects }) => objects),
    operations: sum(({ operations }) => operations),
    undecided: sum(({ undecided }) => undecided),
    violations: findings.flatMap(({ violations }) => violations),
  };
}

/** Questions that were not closed exactly once. */
function closedTwice(events: readonly Event[]): string[] {
  const ends = new Map<string, number>();
  for (const { type, aggregateId } of events) {
    if (type === 'question.asked') ends.set(aggregateId, ends.get(aggregateId) ?? 0);
    if (/^question\.(answered|expired|withdrawn)$/.test(type)) ends.set(aggregateId, (ends.get(aggregateId) ?? 0) + 1);
  }
  return [...ends].filter(([, count]) => count !== 1).map(([id, count]) => `question ${id} was closed ${count} times`);
}

/** Bulk work that has changed another number of messages than it says, or the same one twice. */
async function miscountedBulks(world: World, events: readonly Event[]): Promise<string[]> {
  const found = byRequest(events);
  const wrong: string[] = [];
  for (let query = ''; ; ) {
    const { bulks, nextCursor } = (await world.get(`/bulk?limit=200${query}`)).body;
    for (const { id, action, state, done } of bulks) {
      const { requestId } = events.find(({ type, aggregateId }) => type === 'bulk.started' && aggregateId === id) ?? {};
      const type = action === 'PURGE' ? 'message.cancelled' : 'message.requeued';
      const changed = (found.get(requestId ?? '') ?? []).filter((event) => event.type === type);
      const once = new Set(changed.map(({ aggregateId }) => aggregateId)).size;
      if (state !== 'DONE' || done !== changed.length || once !== done)
        wrong.push(
          `bulk ${id} is ${state} with ${done} done, and has left ${changed.length} events of ${once} messages`,
        );
    }
    if (nextCursor === null) return wrong;
    query = `&cursor=${nextCursor}`;
  }
}

/** Thresholds of a budget that were announced twice, although no limit changes and no window rolls. */
function toldTwice(events: readonly Event[]): string[] {
  const told = new Set<string>();
  return events.flatMap(({ type, aggregateId, payload }) => {
    if (type !== 'budget.threshold_reached') return [];
    const threshold = `${payload['percent']} % of budget ${aggregateId}`;
    const isAgain = told.has(threshold);
    told.add(threshold);
    return isAgain ? [threshold] : [];
  });
}

/** Allowances whose used units differ from the units that the attempts took, less the units given back. */
function miscounted({ metered, history }: Workload, looks: readonly Operation[], events: readonly Event[]): string[] {
  const used = new Map<string, number>();
  const add = (id: string | undefined, units: number) => id && used.set(id, (used.get(id) ?? 0) + units);
  for (const { type, aggregateId } of events) if (type === 'message.claimed') add(metered.get(aggregateId), tokens);
  for (const { kind, object } of history)
    if (kind === 'settle units' && object.startsWith('tokens '))
      add(object.slice('tokens '.length), settledTokens - tokens);
  return looks
    .filter(({ object, value }) => object.startsWith('tokens ') && value['used'] !== (used.get(object.slice(7)) ?? 0))
    .map(({ object, value }) => `${object} used ${value['used']} and not ${used.get(object.slice(7)) ?? 0}`);
}

/** Steps that were answered with different values: a kept value never changes. */
function changedMemos(history: readonly Operation[]): string[] {
  const memos = history.filter(({ object, outcome }) => object.startsWith('memo ') && outcome === 'ok');
  return [...byObject(memos)]
    .filter(([, operations]) => new Set(operations.map(({ value }) => value['value'])).size > 1)
    .map(([object]) => `${object} has changed`);
}

/** Expects that no event is dated in the future. */
function expectPast(events: readonly Event[]): void {
  const now = Date.now();
  expect(events.filter(({ occurredAt }) => Date.parse(occurredAt) > now).slice(0, 1)).to.deep.equal([]);
}

/** Expects that no id is issued twice: of records, entries or tokens. */
function expectUniqueIds(history: readonly Operation[]): void {
  const ok = history.filter(({ outcome }) => outcome === 'ok');
  const created = ok.filter(({ kind }) => kind === 'send' || kind.startsWith('create')).map(({ object }) => object);
  const inside = ok
    .filter(({ kind }) => kind === 'reserve' || kind === 'submit' || kind === 'wait')
    .map(({ value }) => value['id']);
  const others = ok.flatMap(({ value }) => [value['token'], value['entry']].filter((id) => id !== undefined));
  const ids = [...created, ...inside, ...others];
  expect(new Set(ids).size, 'ids').to.equal(ids.length);
}

/** How late each abandoned lease was ended, counted from its due time, or from the end of the outage it fell into. */
function lateness(load: Workload, events: readonly Event[], outages: Circumstances['outages'] & object): number[] {
  const seen = new Set<string>();
  return events.flatMap(({ type, aggregateId, payload, occurredAt }) => {
    const attempt = `${aggregateId} ${payload['attempts']}`;
    const endedAt = load.abandoned.get(attempt);
    // A requeued message counts its attempts anew.
    if (type !== 'message.lease_expired' || endedAt === undefined || seen.has(attempt)) return [];
    seen.add(attempt);
    const due = outages.reduce((at, [from, to]) => (at >= from - 1_000 && at < to ? to : at), endedAt);
    return [Math.max(0, Date.parse(occurredAt) - due)];
  });
}

function report({ caller, history }: Workload, found: Findings, late: readonly number[], isJumping: boolean): void {
  const { objects, operations } = found;
  const { attempts, unknown, unmet, retries, replayed } = caller.counts;
  const latest = late.length === 0 || isJumping ? '' : `, the latest ${Math.max(...late)} ms after its moment`;
  console.log(
    `      ${history.length} operations, ${attempts} attempts, ${unknown} of unknown outcome, ${unmet} met nobody, ${retries} retries, ` +
      `${replayed} replayed; longest without an answer ${(caller.longestMs / 1000).toFixed(1)} s`,
  );
  console.log(
    `      lost 0, doubled 0; ${operations} operations on ${objects} objects linearizable; ` +
      `${late.length} abandoned leases ended${latest}`,
  );
}
