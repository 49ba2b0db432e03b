import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { day, hour, iso, minute, second, start, Timetable } from './timetable.ts';

describe('A due moment of a schedule', () => {
  let table: Timetable;
  beforeEach(async () => {
    table = await Timetable.create();
  });

  it('sends one message into its mailbox and scope, with its workKey', async () => {
    const { id } = await table.created({ payload: { a: [1.5, null] }, maxAttempts: 2, retryDelaySeconds: 4 });
    await table.fireAt(start + minute - 1);
    expect(await table.sent()).to.deep.equal([]);
    await table.fireAt(start + minute);
    await table.fire();
    const [message, ...others] = await table.sent();
    expect(others).to.deep.equal([]);
    expect(message).to.deep.include({
      scopeId: table.scopeId,
      payload: { a: [1.5, null] },
      workKey: `schedule:${id}:${iso(start + minute)}`,
      state: 'READY',
      maxAttempts: 2,
      retryDelaySeconds: 4,
      maxRetryDelaySeconds: null,
      taskId: message.id,
      createdAt: iso(start + minute),
    });
    const lasting = { lastAt: iso(start + minute), lastMessageId: message.id, nextAt: iso(start + 2 * minute) };
    expect(await table.view(id)).to.include({ ...lasting, missed: 0, state: 'ACTIVE' });
    const [fired] = await table.events('schedule.fired');
    const payload = { scheduleId: id, scopeId: table.scopeId, mailboxId: table.mailboxId, state: 'ACTIVE', missed: 0 };
    expect(fired.payload).to.deep.equal({ ...payload, messageId: message.id });
    expect(fired.requestId).to.equal(null);
    expect((await table.events('message.sent')).map(({ aggregateId }) => aggregateId)).to.deep.equal([message.id]);
    expect(await table.usage()).to.include({ 'schedule.fire': 1 });
    expect(await table.usage()).not.to.have.property('message.send');
  });

  it('is the last of those missed while no worker ran, however late it is; the others are counted', async () => {
    const every = await table.created();
    const cron = await table.created({ cron: '0 * * * *', timezone: 'Europe/Berlin' });
    await table.fireAt(start + day + 30 * second);
    expect(await table.moments(every.id)).to.deep.equal([iso(start + day)]);
    expect(await table.moments(cron.id)).to.deep.equal([iso(start + day)]);
    const lastAt = iso(start + day);
    expect(await table.view(every.id)).to.include({ lastAt, missed: 24 * 60 - 1, nextAt: iso(start + day + minute) });
    expect(await table.view(cron.id)).to.include({ lastAt, missed: 23, nextAt: iso(start + day + hour) });
    await table.fireAt(start + day + 2 * minute);
    expect((await table.view(every.id)).missed).to.equal(24 * 60);
    const fired = await table.events('schedule.fired');
    expect(fired.map(({ payload }) => payload.missed)).to.have.members([24 * 60 - 1, 23, 24 * 60]);
  });

  it('sends once with several workers at the same time, and when one dies between its two steps', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await table.created()).id);
    await table.at(start + minute);
    const { scripts } = table.world.service;
    const listed = await scripts.execute('schedule/due', table.world.org, {
      ...{ requestId: '', spaceId: '', scheduleId: '', skipped: 0, maxSchedules: 100 },
    });
    expect(listed[2], 'a worker lists them, and dies').to.have.length(20);
    await Promise.all([table.fire(), table.fire(), table.fire()]);
    for (const id of ids) expect(await table.moments(id)).to.deep.equal([iso(start + minute)]);
    expect(await table.usage()).to.include({ 'schedule.fire': 20 });
  });

  it('sends once if the clock is set back and forth', async () => {
    const { id } = await table.created();
    await table.fireAt(start + minute);
    await table.fireAt(start - day);
    await table.fireAt(start + minute);
    await table.fireAt(start + minute + 30 * second);
    expect(await table.moments(id)).to.deep.equal([iso(start + minute)]);
    // When resumed before the time of the last send, the schedule reaches that moment again; the workKey is known.
    await table.at(start + 30 * second);
    await table.patch(id, { state: 'PAUSED' });
    expect((await table.patch(id, { state: 'ACTIVE' })).body.nextAt).to.equal(iso(start + minute));
    await table.fireAt(start + minute);
    expect(await table.moments(id)).to.deep.equal([iso(start + minute)]);
    expect(await table.events('schedule.fired')).to.have.length(1);
    await table.fireAt(start + 2 * minute);
    expect(await table.moments(id)).to.have.length(2);
  });

  it('follows the clock of its time zone on days when that changes', async () => {
    const timing = { cron: '30 2 * * *', timezone: 'Europe/Berlin' };
    await table.at(Date.parse('2030-03-30T12:00:00Z'));
    const { id, nextAt } = await table.created(timing);
    expect(nextAt).to.equal('2030-03-31T01:00:00.000Z');
    await table.fireAt(Date.parse('2030-03-31T01:00:00Z'));
    expect((await table.view(id)).nextAt).to.equal('2030-04-01T00:30:00.000Z');
    await table.fireAt(Date.parse('2030-10-27T00:30:00Z'));
    expect((await table.view(id)).nextAt, 'half past two comes again, and is over').to.equal(
      '2030-10-28T01:30:00.000Z',
    );
  });

  it('comes after what was due before it: an expired message makes room', async () => {
    const timetable = await Timetable.create({}, { backlogLimit: 1 });
    const { id } = await timetable.created();
    const deadline = iso(start + 30 * second);
    await timetable.world.mustPost(`/mailboxes/${timetable.mailboxId}/messages`, {
      scopeId: timetable.scopeId,
      payload: 1,
      deadline,
    });
    await timetable.fireAt(start + minute);
    expect(await timetable.moments(id)).to.have.length(1);
  });

  it('sends to an INBOX, too, without a task', async () => {
    const { id: mailboxId } = await table.world.mustPost('/mailboxes', { name: 'inbox', mode: 'INBOX' });
    await table.created({ mailboxId });
    await table.fireAt(start + minute);
    expect((await table.sent(mailboxId))[0].taskId).to.equal(null);
  });
});

describe('A refused send of a schedule', () => {
  /** Expects that the send was refused and left the schedule's timing as usual. */
  async function refused(table: Timetable, id: string, code: string): Promise<void> {
    await table.fireAt(start + minute);
    const [event, ...others] = await table.events('schedule.refused');
    expect(others).to.deep.equal([]);
    const payload = { scheduleId: id, scopeId: table.scopeId, mailboxId: table.mailboxId, state: 'ACTIVE', missed: 0 };
    expect(event.payload).to.deep.equal({ ...payload, code });
    const nothing = { lastAt: null, lastMessageId: null, missed: 0 };
    expect(await table.view(id)).to.include({ ...nothing, nextAt: iso(start + 2 * minute), state: 'ACTIVE' });
    expect(await table.usage()).not.to.have.property('schedule.fire');
  }

  it('is reported with its code if the mailbox is full, and the next moment comes as usual', async () => {
    const table = await Timetable.create({}, { backlogLimit: 1 });
    const { id } = await table.created();
    const other = await table.world.mustPost(`/mailboxes/${table.mailboxId}/messages`, {
      scopeId: table.scopeId,
      payload: 1,
    });
    await refused(table, id, 'BACKLOG_FULL');
    expect(codeOf(await table.trigger(id)), "the caller's refusal").to.equal('409 BACKLOG_FULL');
    expect(await table.events('schedule.refused'), 'is the caller’s alone').to.have.length(1);
    await table.world.mustPost(`/messages/${other.id}/cancel`);
    await table.fireAt(start + 2 * minute);
    expect(await table.moments(id)).to.deep.equal([iso(start + 2 * minute)]);
  });

  it('is reported if the mailbox was deleted', async () => {
    const table = await Timetable.create();
    const { id } = await table.created();
    await table.world.call('DELETE', `/mailboxes/${table.mailboxId}`);
    await refused(table, id, 'MAILBOX_NOT_FOUND');
    expect(codeOf(await table.trigger(id))).to.equal('409 MAILBOX_NOT_FOUND');
    await table.fireAt(start + 2 * minute);
    expect(await table.events('schedule.refused'), 'each time').to.have.length(2);
  });

  it("is reported if the payload now exceeds the space's limit", async () => {
    const table = await Timetable.create();
    const { id } = await table.created({ payload: 'x'.repeat(100) });
    await table.world.call('PUT', '/limits', { maxPayloadBytes: 50 });
    await refused(table, id, 'PAYLOAD_TOO_LARGE');
    expect(codeOf(await table.trigger(id))).to.equal('413 PAYLOAD_TOO_LARGE');
  });

  it('is reported if the plan has no task or operation left', async () => {
    const tasks = await Timetable.create({ figures: { tasks: '1' } });
    const one = await tasks.created();
    await tasks.world.mustPost(`/mailboxes/${tasks.mailboxId}/messages`, { scopeId: tasks.scopeId, payload: 1 });
    await refused(tasks, one.id, 'ACTIVE_TASKS_LIMITED');

    const free = await Timetable.create({ plan: 'free' });
    const other = await free.created();
    await free.world.service.store.hset(`muster:{${free.world.org}}`, 'usedOperations', 1_000_000_000);
    await refused(free, other.id, 'OPERATIONS_EXHAUSTED');
  });
});

describe('Triggering a schedule', () => {
  let table: Timetable;
  beforeEach(async () => {
    table = await Timetable.create();
  });

  it('sends at once, and leaves its moments as they are', async () => {
    const { id, nextAt } = await table.created();
    await table.at(start + 10 * second);
    const { status, body } = await table.trigger(id);
    const [message] = await table.sent();
    expect(status).to.equal(200);
    expect(body).to.include({ id, nextAt, lastAt: iso(start + 10 * second), lastMessageId: message.id, missed: 0 });
    expect(message).to.deep.include({ scopeId: table.scopeId, payload: { n: 1 }, workKey: null });
    expect(await table.usage()).to.include({ 'schedule.trigger': 1 });
    expect(await table.usage()).not.to.have.any.keys('schedule.fire', 'message.send');
    const [fired] = await table.events('schedule.fired');
    expect(fired.payload.messageId).to.equal(message.id);
    expect(fired.requestId).not.to.equal(null);
    await table.fireAt(start + minute);
    expect(await table.moments(id)).to.deep.equal([iso(start + minute)]);
  });

  it('sends while it is paused, too', async () => {
    const { id } = await table.created();
    await table.patch(id, { state: 'PAUSED' });
    expect((await table.trigger(id)).body).to.include({ state: 'PAUSED', nextAt: null });
    expect(await table.sent()).to.have.length(1);
  });

  it('sends once per Idempotency-Key, after what was due', async () => {
    const { id } = await table.created();
    await table.at(start + minute);
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await table.trigger(id, key);
    const again = await table.trigger(id, key);
    expect(again.body).to.deep.equal(first.body);
    const messages = await table.sent();
    expect(messages.map(({ workKey }) => workKey)).to.deep.equal([`schedule:${id}:${iso(start + minute)}`, null]);
    expect(first.body.lastMessageId).to.equal(messages[1].id);
  });
});
