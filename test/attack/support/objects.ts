import { randomUUID } from 'node:crypto';
import type { Route } from '../../../src/engine/route/route.ts';
import { leftOut, samples } from '../../support/sample.ts';
import type { Sink } from '../../support/sink.ts';
import { untilRows } from '../../support/webhooks.ts';
import type { World } from '../../support/world.ts';

/**
 * An object of every kind that a path or a body can name, in a state in which most calls succeed; and a receiver's url.
 */
export type Objects = Readonly<Record<string, string>>;

/** Creates the objects; the space's service must deliver webhooks. */
export async function makeObjects(world: World, sink: Sink): Promise<Objects> {
  const records = await makeRecords(world);
  const eventTypes = ['barrier.created'];
  const { id: destinationId } = await world.mustPost('/destinations', { url: sink.url, eventTypes });
  await world.mustPost('/barriers', { scopeId: records['scopeId'], target: 3 });
  const [delivery] = await untilRows(world, 1, `&destinationId=${destinationId}`);
  return { ...records, url: sink.url, destinationId, deliveryId: delivery?.id ?? '' };
}

/** Creates all objects except those of webhooks. */
export async function makeRecords(world: World): Promise<Objects> {
  const scopeId = randomUUID();
  const name = () => `n-${randomUUID()}`;
  const { id: mailboxId } = await world.mustPost('/mailboxes', { name: name() });
  // No lease ends while the tests run, however slow the machine.
  const claiming = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 600 };
  const send = () => world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: { n: 1 } });
  const recv = () => world.mustPost(`/mailboxes/${mailboxId}/recv`, claiming);

  const group = { mailboxId, condition: 'N_ACCEPTED', threshold: 50, parentScopeId: scopeId };
  const { groupId } = await world.mustPost('/task-groups', group);
  const { taskId } = await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 'done', input: 1 });
  const member = await recv();
  await world.mustPost(`/messages/${member.id}/complete`, { token: member.token });
  await send();
  const claim = await recv();
  const outside = await send();

  // Separate objects for calls that end or empty objects that others need.
  const spare = await world.mustPost('/mailboxes', { name: name() });
  const { id: emptyMailboxId } = await world.mustPost('/mailboxes', { name: name() });
  const spared = () => world.mustPost(`/mailboxes/${spare.id}/messages`, { scopeId, payload: 1 });
  const { id: readyMessageId } = await spared();
  const { id: cancelledMessageId } = await spared();
  await world.mustPost(`/messages/${cancelledMessageId}/cancel`);
  const { id: releasableMessageId } = await world.mustPost(`/mailboxes/${spare.id}/recv`, claiming);
  const full = await world.mustPost('/mailboxes', { name: name() });
  for (const _ of [1, 2]) await world.mustPost(`/mailboxes/${full.id}/messages`, { scopeId, payload: 1 });
  const refused = await world.mustPost(`/mailboxes/${full.id}/recv`, claiming);
  await world.mustPost(`/messages/${refused.id}/nack`, { token: refused.token, retry: false });

  const bulk = await world.mustPost(`/mailboxes/${mailboxId}/bulk`, { action: 'REQUEUE', state: 'EXPIRED' });
  await world.mustPost(`/bulk/${bulk.id}/cancel`);

  const budget = { name: name(), currency: 'EUR', scale: 2, limitMinor: '1000000' };
  const { id: budgetId } = await world.mustPost('/budgets', budget);
  const reserve = { scopeId, holder: 'h', amountMinor: '1000' };
  const reservation = await world.mustPost(`/budgets/${budgetId}/reserve`, reserve);

  const { id: allowanceId } = await world.mustPost('/allowances', {
    name: name(),
    unitsLimit: 100_000,
    windowSeconds: 3600,
  });
  const narrow = await world.mustPost('/allowances', { name: name(), unitsLimit: 1, windowSeconds: 86_400 });
  const consumption = await world.mustPost(`/allowances/${allowanceId}/consume`, { scopeId, units: 1, holder: 'h' });
  await world.mustPost(`/allowances/${narrow.id}/consume`, { scopeId, units: 1, holder: 'h' });
  const waiter = await world.mustPost(`/allowances/${narrow.id}/wait`, {
    scopeId,
    units: 1,
    holder: 'h',
    ttlSeconds: 3600,
  });

  const { id: poolId } = await world.mustPost('/pools', { name: name(), units: 100_000 });
  const { id: emptyPoolId } = await world.mustPost('/pools', { name: name(), units: 1 });
  const lock = await world.mustPost('/pools', { name: name(), units: 1 });
  const acquire = (id: string, leaseSeconds = 600) =>
    world.mustPost(`/pools/${id}/acquire`, { scopeId, holder: 'h', leaseSeconds, ttlSeconds: 3600 });
  const held = await acquire(poolId);
  const released = await acquire(poolId);
  await acquire(lock.id);
  const waitingHold = await acquire(lock.id);

  const ask = () => world.mustPost('/questions', { scopeId, question: 1 });
  const [question, answered, withdrawn] = [await ask(), await ask(), await ask()];
  const asking = await world.mustPost('/mailboxes', { name: name() });
  const asker = async () => {
    await world.mustPost(`/mailboxes/${asking.id}/messages`, { scopeId, payload: 1 });
    return world.mustPost(`/mailboxes/${asking.id}/recv`, claiming);
  };
  const { id: askingMessageId, token: askingToken } = await asker();
  const { id: suspendedMessageId, token: suspendedToken } = await asker();
  const { id: blockedMessageId, token: blockedToken } = await asker();
  await world.mustPost(`/messages/${blockedMessageId}/ask`, { token: blockedToken, question: 1 });

  // A separate run to cancel, as the others must go on.
  const { id: stoppedId } = await world.mustPost('/scopes', { name: name() });
  await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: stoppedId, payload: { n: 1 } });
  await world.mustPost('/barriers', { scopeId: stoppedId, target: 3 });
  await world.mustPost(`/allowances/${narrow.id}/wait`, {
    scopeId: stoppedId,
    units: 1,
    holder: 'h',
    ttlSeconds: 3600,
  });

  // No moment comes while the tests run.
  const schedule = () =>
    world.mustPost('/schedules', { name: name(), mailboxId, scopeId, payload: 1, everySeconds: 31_536_000 });
  const { id: scheduleId } = await schedule();
  const { id: spareScheduleId } = await schedule();

  for (const key of ['plan', 'draft']) await world.call('PUT', `/scopes/${scopeId}/notes/${key}`, { value: { key } });

  const { id: barrierId } = await world.mustPost('/barriers', { scopeId, target: 3 });
  const { id: releasedBarrierId } = await world.mustPost('/barriers', { scopeId, target: 1 });
  await world.mustPost(`/barriers/${releasedBarrierId}/arrive`, { arrivalKey: 'a' });
  const more = {
    messageId: claim.id,
    token: claim.token,
    outsideTaskId: outside.id,
    reservationId: reservation.id,
    waiterId: waiter.id,
    poolId,
    ...{ emptyPoolId, holdId: held.id, releasedHoldId: released.id, waitingHoldId: waitingHold.id },
    consumptionId: consumption.id,
    ...{ questionId: question.id, answeredQuestionId: answered.id, withdrawnQuestionId: withdrawn.id },
    ...{ askingMessageId, 'message.ask token': askingToken },
    ...{ suspendedMessageId, 'message.suspend token': suspendedToken },
    ...{ key: 'plan', spareKey: 'draft', bulkId: bulk.id },
    ...{
      readyMessageId,
      cancelledMessageId,
      releasableMessageId,
      releasedBarrierId,
      emptyMailboxId,
      fullMailboxId: full.id,
      scheduleId,
      spareScheduleId,
    },
    [`scope.cancel ${scopeId}`]: stoppedId,
    // The sample's name is the one used at creation.
    'schedule.update name': name(),
    'pool.update name': name(),
    ...{ holdToken: held.token, releasedToken: released.token },
    'hold.renew token': held.token,
    'hold.release token': released.token,
    'budget.update limitMinor': '2000000',
    'allowance.update unitsLimit': '200000',
  };
  return { scopeId, mailboxId, groupId, taskId, budgetId, allowanceId, barrierId, ...more };
}

/** The separate objects that some calls have in their paths. */
const ofTheirOwn: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'message.cancel': { messageId: 'readyMessageId' },
  'message.requeue': { messageId: 'cancelledMessageId' },
  'message.release': { messageId: 'releasableMessageId' },
  'barrier.nextEpoch': { barrierId: 'releasedBarrierId' },
  'message.ask': { messageId: 'askingMessageId' },
  'message.suspend': { messageId: 'suspendedMessageId' },
  'question.answer': { questionId: 'answeredQuestionId' },
  'question.withdraw': { questionId: 'withdrawnQuestionId' },
  'mailbox.delete': { mailboxId: 'emptyMailboxId' },
  'mailbox.purge': { mailboxId: 'fullMailboxId' },
  'pool.delete': { poolId: 'emptyPoolId' },
  'hold.release': { holdId: 'releasedHoldId' },
  'hold.cancel': { holdId: 'waitingHoldId' },
  'schedule.delete': { scheduleId: 'spareScheduleId' },
  'note.delete': { key: 'spareKey' },
  'mailbox.requeue': { mailboxId: 'fullMailboxId' },
};

/** An unknown scope has no notes, and a put creates it, so matrix.test.ts tests these calls separately. */
export const isOfNotes = ({ call }: Pick<Route, 'call'>): boolean => call.startsWith('note.');

/** The name of the object for this parameter of a call's path. */
export const objectIn = (call: string, parameter: string): string => ofTheirOwn[call]?.[parameter] ?? parameter;

/** Fields that name an actor. Only a key that is bound to a holder may leave them out. */
const isName = new Set(['holder', 'answeredBy']);

/** Calls that do little without optional fields. */
const inFull = new Set([
  'message.complete',
  'message.suspend',
  'hold.renew',
  'hold.release',
  'destination.update',
  'schedule.create',
  'schedule.update',
  'budget.update',
]);

const known = new Map<Route, ReturnType<typeof samples>>();

/** The samples of a route's body, each found once. */
function samplesOf(route: Route): ReturnType<typeof samples> {
  const found = known.get(route) ?? samples(route.body, leftOut[route.call]);
  known.set(route, found);
  return found;
}

/** The queries of reads that need one. */
const queries: Readonly<Record<string, string>> = { 'message.find': '?workKey=order-4711' };

/** A request that a route accepts, with these objects in it: its path below the space, and its body. */
export function requestOf(route: Route, objects: Objects): { path: string; body: string | undefined } {
  const named = (parameter: string): string => {
    const name = objectIn(route.call, parameter);
    return objects[`${route.call} ${objects[name]}`] ?? objects[name] ?? parameter;
  };
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => named(name)) + (queries[route.call] ?? '');
  const [full, least] = samplesOf(route);
  const names = Object.keys(route.body?.describe()['keys'] ?? {}).filter((name) => isName.has(name));
  const body: Record<string, unknown> = {
    ...structuredClone(inFull.has(route.call) ? full : least),
    ...Object.fromEntries(names.map((name) => [name, 'worker-7'])),
  };
  const put = (into: Record<string, unknown>): void => {
    for (const [name, value] of Object.entries(into)) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) put(value as Record<string, unknown>);
      else {
        const real = objects[`${route.call} ${name}`] ?? objects[name === 'taskId' ? 'outsideTaskId' : name] ?? value;
        into[name] = typeof value === 'number' ? Number(real) : real;
      }
    }
  };
  put(body);
  return { path, body: route.body && JSON.stringify(body) };
}

/** The same request as one object, as batches and tools take it: path parameters and fields of the body. */
export function fieldsOf(route: Route, objects: Objects): Record<string, unknown> {
  const { path, body } = requestOf(route, objects);
  const parts = route.path.split('/');
  const ids = path.split('/').flatMap((value, i) => (parts[i]?.startsWith(':') ? [[parts[i].slice(1), value]] : []));
  const query = new URLSearchParams(queries[route.call]);
  return { ...Object.fromEntries(ids), ...Object.fromEntries(query), ...JSON.parse(body ?? '{}') };
}
