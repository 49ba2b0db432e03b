import { expect } from 'chai';
import { product } from '../../../src/primitives/primitives.ts';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

const eventTypes = product.events.map(({ type }) => type);

const message = (state: string) => `mailboxId state=${state} attempts`;
const task = (state: string) => `groupId messageId state=${state} attempts`;
const verdict = (state: string, verdict: string) => `groupId messageId state=${state} verdict=${verdict}`;
const barrier = (state: string) => `state=${state} epoch arrivals target`;
const waiter = (state: string) => `allowanceId units state=${state}`;
const hold = (state: string) => `poolId units state=${state} fence`;
const question = (state: string) => `messageId mailboxId state=${state} | state=${state}`;
const schedule = 'mailboxId state=ACTIVE';
const entry = (state: string) => `reservationId entryId state=${state} amountMinor`;

/** The payload fields of each type besides the ids of its aggregate and its scope, with expected values; `|`: or. */
const payloads: Readonly<Record<string, string>> = {
  'budget.created': 'limitMinor',
  'budget.limit_changed': 'limitMinor',
  'budget.reserved': 'reservationId state=ACTIVE amountMinor',
  'budget.settled': `${entry('ACTIVE')} | ${entry('SETTLED')}`,
  'budget.voided': entry('VOIDED'),
  'budget.overdrawn': 'reservationId entryId overdrawnMinor overdrawn',
  'budget.updated': 'alertPercents',
  'budget.threshold_reached': 'percent',
  'budget.reservation_overdue': 'reservationId state=ACTIVE',
  'mailbox.created': 'mode',
  'mailbox.updated': 'mode',
  'mailbox.deleted': 'mode actor',
  'mailbox.paused': 'mode actor',
  'mailbox.resumed': 'mode actor',
  'message.sent': message('READY'),
  'message.claimed': message('CLAIMED'),
  'message.progressed': message('CLAIMED'),
  'message.suspended': message('BLOCKED'),
  'message.acked': message('ACKED'),
  'message.retried': message('READY'),
  'message.released': `${message('CLAIMED')} actor`,
  'message.rejected': message('REJECTED'),
  'message.failed': message('FAILED'),
  'message.lease_expired': message('CLAIMED'),
  'message.expired': message('EXPIRED'),
  'message.cancelled': `${message('CANCELLED')} actor | ${message('CANCELLED')}`,
  'message.requeued': `${message('READY')} actor`,
  'group.created': 'state=OPEN mailboxId condition',
  'group.sealed': 'state=SEALED',
  'group.task_joined': 'state=OPEN taskId members',
  'group.decided': 'state=DECIDED outcome=SATISFIED',
  'task.submitted': task('PENDING'),
  'task.started': task('RUNNING'),
  'task.succeeded': task('SUCCEEDED'),
  'task.failed': task('FAILED'),
  'task.expired': task('EXPIRED'),
  'task.cancelled': task('CANCELLED'),
  'task.requeued': task('PENDING'),
  'task.accepted': verdict('SUCCEEDED', 'ACCEPTED'),
  'task.rejected': verdict('FAILED', 'REJECTED'),
  'barrier.created': barrier('OPEN'),
  'barrier.arrived': barrier('OPEN'),
  'barrier.released': barrier('RELEASED'),
  'barrier.cancelled': `${barrier('CANCELLED')} actor`,
  'barrier.epoch_advanced': barrier('OPEN'),
  'allowance.created': 'unitsLimit windowSeconds',
  'allowance.limit_changed': 'unitsLimit',
  'allowance.consumed': 'consumptionId units availableUnits',
  'allowance.settled': 'consumptionId units settledUnits availableUnits',
  'allowance.observed': 'usedUnits availableUnits',
  'allowance.cooldown_started': 'seconds',
  'waiter.queued': waiter('WAITING'),
  'waiter.granted': waiter('GRANTED'),
  'waiter.cancelled': waiter('CANCELLED'),
  'waiter.expired': waiter('EXPIRED'),
  'pool.created': 'units',
  'pool.updated': 'units',
  'pool.deleted': 'units actor',
  'hold.queued': hold('WAITING'),
  'hold.held': hold('HELD'),
  'hold.released': `${hold('RELEASED')} forced`,
  'hold.lapsed': hold('LAPSED'),
  'hold.cancelled': hold('CANCELLED'),
  'hold.expired': hold('EXPIRED'),
  'question.asked': question('OPEN'),
  'question.answered': `messageId mailboxId state=ANSWERED actor | state=ANSWERED actor`,
  'question.expired': question('EXPIRED'),
  'question.withdrawn': `messageId mailboxId state=WITHDRAWN actor | state=WITHDRAWN actor`,
  'schedule.created': schedule,
  'schedule.updated': `${schedule} actor`,
  'schedule.deleted': `${schedule} actor`,
  'schedule.fired': `${schedule} messageId missed`,
  'schedule.refused': `${schedule} code missed`,
  'note.put': 'key version',
  'note.deleted': 'key version actor',
  'bulk.started': `action state=RUNNING actor | mailboxId action state=RUNNING actor`,
  'bulk.ended': `action state=DONE done actor | mailboxId action state=CANCELLED done actor`,
  'limits.updated': 'maxBacklog',
  'scope.created': 'parentScopeId',
  'scope.paused': 'actor',
  'scope.resumed': 'actor',
  'scope.cancelled': 'state=CANCELLED actor',
  'destination.created': 'state=ACTIVE',
  'destination.disabled': 'state=DISABLED disabledReason=REQUESTED',
};
/** Only in events of messages that carry a task, and of tasks that are members of a group. */
const ofSome = ['taskId', 'groupId'];
const worded = ['state', 'outcome', 'verdict', 'disabledReason'];

interface Event {
  readonly type: string;
  readonly aggregate: string;
  readonly aggregateId: string;
  readonly scopeId: string | null;
  readonly payload: Record<string, unknown>;
}

describe('the payload of an event', () => {
  it('has the ids of its aggregate and its scope, then ids, states and counts, for every type', async () => {
    const world = await World.create();
    const start = Math.ceil(Date.now() / 600_000) * 600_000;
    await world.at(start);
    const traffic = await Traffic.on(world);
    const deadline = new Date(start + 120_000).toISOString();
    await traffic.messages(deadline);
    for (const make of ['group', 'barrier', 'units', 'holds', 'questions'] as const) await traffic[make]();
    await traffic.reservation(deadline);

    const scopeId = traffic.scope();
    const { id: outside } = await traffic.send(scopeId);
    for (let i = 0; i < 4; i++) await traffic.nack(await traffic.claim(scopeId), true);
    await traffic.claim(scopeId);
    const group = await world.mustPost('/task-groups', { mailboxId: traffic.work, condition: 'ALL_TERMINAL' });
    const path = `/task-groups/${group.id}`;
    const { taskId } = await world.mustPost(`${path}/tasks`, { taskKey: 'a' });
    await traffic.nack(await traffic.claim(group.scopeId), false);
    await world.mustPost(`${path}/tasks`, { taskKey: 'b', deadline });
    const { messageId } = await world.mustPost(`${path}/tasks`, { taskKey: 'c' });
    for (const what of ['cancel', 'requeue', 'cancel']) await world.mustPost(`/messages/${messageId}/${what}`);
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'm' });
    await world.call('PATCH', `/mailboxes/${mailboxId}`, { name: 'n' });
    for (const what of ['pause', 'resume']) await world.mustPost(`/mailboxes/${mailboxId}/${what}`);
    const { id: told } = await world.mustPost('/mailboxes', { name: 'told', progressEvents: true });
    await traffic.send(scopeId, {}, told);
    const { id: renewed, token } = await traffic.claim(scopeId, told);
    await world.mustPost(`/messages/${renewed}/renew`, { token, progress: 1 });
    await world.mustPost(`/messages/${renewed}/release`);
    const paused = await traffic.claim(scopeId, told);
    await world.mustPost(`/messages/${renewed}/suspend`, { token: paused.token, delaySeconds: 3600 });
    await world.call('DELETE', `/mailboxes/${mailboxId}`);
    await world.mustPost(`${path}/tasks/${taskId}/reject`);
    await world.mustPost(`${path}/join-task`, { taskId: outside });
    await world.mustPost(`${path}/seal`);
    const { id: gate } = await world.mustPost('/barriers', { scopeId, target: 1 });
    for (const what of ['cancel', 'nextEpoch']) await world.mustPost(`/barriers/${gate}/${what}`);
    const [allowance] = (await world.get('/allowances')).body.allowances;
    const [budget] = (await world.get('/budgets')).body.budgets;
    const { id: taken } = await world.mustPost('/allowances', { name: 'taken', unitsLimit: 9, windowSeconds: 3600 });
    const units = { scopeId, holder: 'h', units: 2 };
    const { id: consumed } = await world.mustPost(`/allowances/${taken}/consume`, units);
    await world.mustPost(`/allowances/${taken}/consumptions/${consumed}/settle`, { units: 1 });
    await world.mustPost(`/allowances/${taken}/observe`, { remainingUnits: 1 });
    await world.mustPost(`/allowances/${allowance.id}/cooldown`, { seconds: 1 });
    await world.call('PATCH', `/allowances/${allowance.id}`, { unitsLimit: 11 });
    await world.call('PATCH', `/budgets/${budget.id}`, { limitMinor: `99${budget.limitMinor}` });
    const held = { scopeId, holder: 'h', amountMinor: '1', settleBy: deadline };
    await world.mustPost(`/budgets/${budget.id}/reserve`, held);
    const { id: small } = await world.mustPost('/budgets', { name: 's', currency: 'EUR', scale: 2, limitMinor: '1' });
    const { id: reservationId } = await world.mustPost(`/budgets/${small}/reserve`, { ...held, settleBy: null });
    await world.call('PATCH', `/budgets/${small}`, { alertPercents: [50] });
    const cost = { reservationId, amountMinor: '2', workKey: 'w', overrun: true };
    const paid = await world.mustPost(`/budgets/${small}/settle`, cost);
    expect(paid.entry.overdrawnMinor).to.equal('1');
    const inbox = (await world.mustPost('/mailboxes', { name: 'full', backlogLimit: 1 })).id;
    const timing = { name: 's', mailboxId: inbox, scopeId, payload: 1, everySeconds: 60 };
    const { id: scheduleId } = await world.mustPost('/schedules', timing);
    for (const seconds of [60, 120]) {
      await world.at(start + seconds * 1000);
      await world.service.schedules.drain(world.org);
    }
    await world.call('PATCH', `/schedules/${scheduleId}`, { name: 't' });
    await world.call('DELETE', `/schedules/${scheduleId}`);
    const { id: run } = await world.mustPost('/scopes', {});
    for (const what of ['pause', 'resume', 'cancel']) await world.mustPost(`/scopes/${run}/${what}`);
    for (const method of ['PUT', 'DELETE'])
      await world.call(method, `/scopes/${scopeId}/notes/plan`, method === 'PUT' ? { value: 1 } : undefined);
    await world.call('PUT', '/limits', { maxBacklog: 7 });
    const { id: bulkId } = await world.mustPost(`/mailboxes/${inbox}/bulk`, { action: 'PURGE' });
    await world.mustPost(`/bulk/${bulkId}/cancel`);
    await world.mustPost(`/scopes/${run}/bulk`, { action: 'PURGE' });
    await world.service.due.drain(world.org, '*');
    const destination = await world.mustPost('/destinations', { url: 'https://127.0.0.1:9/' });
    await world.call('PATCH', `/destinations/${destination.id}`, { state: 'DISABLED' });
    await world.at(start + 121_000);
    await world.service.due.drain(world.org);

    const emitted = new Map<string, string>();
    for (const event of (await world.get('/events?limit=500')).body.events as Event[]) {
      const { type, aggregate, aggregateId, scopeId: of, payload } = event;
      const { [`${aggregate}Id`]: named, scopeId: repeated = null, ...members } = payload;
      expect([named ?? repeated, repeated], type).to.deep.equal([aggregateId, of]);
      const shown = Object.entries(members)
        .filter(([name]) => aggregate !== 'message' || !ofSome.includes(name))
        .map(([name, value]) => (worded.includes(name) ? `${name}=${value}` : name))
        .join(' ');
      expect(payloads[type]?.split(' | '), type).to.include(shown);
      emitted.set(type, shown);
    }
    // `delivery.exhausted` follows the tenth attempt.
    expect(eventTypes.filter((type) => !emitted.has(type))).to.deep.equal(['delivery.exhausted']);
  });
});
