import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { hour, iso, minute, second, start, Timetable } from './timetable.ts';

describe('Changing a schedule', () => {
  let table: Timetable;
  beforeEach(async () => {
    table = await Timetable.create();
  });

  it('changes any one field, or all at once', async () => {
    const { id, ...created } = await table.created();
    const { id: mailboxId } = await table.world.mustPost('/mailboxes', { name: 'other' });
    const fields = {
      name: 'new',
      mailboxId,
      scopeId: randomUUID(),
      payload: [2],
      timezone: 'Asia/Tokyo',
      maxAttempts: 7,
    };
    const { status, body } = await table.patch(id, fields);
    expect([status, body]).to.deep.equal([200, { id, ...created, ...fields }]);
    expect(await table.view(id)).to.deep.equal(body);
    await table.fireAt(start + minute);
    const [message] = await table.sent(mailboxId);
    expect(message).to.deep.include({ scopeId: fields.scopeId, payload: [2], maxAttempts: 7 });
    expect((await table.events()).map(({ type }) => type)).to.include('schedule.updated');
    expect(await table.usage()).to.include({ 'schedule.update': 1 });
  });

  it('changes, emits and counts nothing for values it has already, for null and for no fields', async () => {
    const { id, nextAt: _next, state, ...created } = await table.created({ cron: '0 0 * * *', maxAttempts: 2 });
    const before = await table.usage();
    const {
      everySeconds: _every,
      lastAt: _at,
      lastMessageId: _last,
      missed: _missed,
      createdAt: _made,
      ...definition
    } = created;
    const none = {
      name: null,
      mailboxId: null,
      scopeId: null,
      payload: null,
      cron: null,
      everySeconds: null,
      state: null,
    };
    for (const body of [{}, { ...definition, state }, none]) {
      const reply = await table.patch(id, body);
      expect([reply.status, reply.body], JSON.stringify(body)).to.deep.equal([200, await table.view(id)]);
    }
    expect(await table.usage()).to.deep.equal(before);
    expect(await table.events('schedule.updated')).to.deep.equal([]);
  });

  it('replaces everySeconds by cron and vice versa', async () => {
    const { id } = await table.created({ everySeconds: 60 });
    await table.at(start + 90 * second);
    const cron = await table.patch(id, { cron: '0 12 * * *' });
    expect(cron.body).to.include({ everySeconds: null, cron: '0 12 * * *', nextAt: '2030-01-07T12:00:00.000Z' });
    const every = await table.patch(id, { everySeconds: 3600 });
    expect(every.body).to.include({ everySeconds: 3600, cron: null, nextAt: iso(start + hour) });
    const other = await table.patch(id, { everySeconds: 50 });
    expect(other.body.nextAt, 'still counted from the creation').to.equal(iso(start + 100 * second));
    expect(codeOf(await table.patch(id, { cron: '* * * * *', everySeconds: 5 }))).to.equal('400 VALIDATION_FAILED');
  });

  it('follows another time zone from then on', async () => {
    const { id, nextAt } = await table.created({ cron: '0 20 * * *' });
    expect(nextAt).to.equal('2030-01-07T20:00:00.000Z');
    expect((await table.patch(id, { timezone: 'Asia/Tokyo' })).body.nextAt).to.equal('2030-01-07T11:00:00.000Z');
  });

  it('pauses it: nothing is sent, and skipped moments do not count as missed', async () => {
    const { id } = await table.created();
    await table.fireAt(start + minute);
    const paused = await table.patch(id, { state: 'PAUSED' });
    expect(paused.body).to.include({ state: 'PAUSED', nextAt: null });
    await table.fireAt(start + 10 * minute);
    expect(await table.moments(id)).to.have.length(1);
    await table.at(start + 10 * minute + 30 * second);
    const resumed = await table.patch(id, { state: 'ACTIVE' });
    expect(resumed.body).to.include({ state: 'ACTIVE', nextAt: iso(start + 11 * minute), missed: 0 });
    await table.fireAt(start + 11 * minute);
    expect(await table.moments(id)).to.deep.equal([iso(start + minute), iso(start + 11 * minute)]);
    expect((await table.world.get('/census')).body.schedules).to.deep.equal({ ACTIVE: 1, PAUSED: 0, ENDED: 0 });
  });

  it('pauses one with a cron expression; its timing may change meanwhile', async () => {
    const { id } = await table.created({ cron: '0 11 * * *' });
    await table.patch(id, { state: 'PAUSED' });
    expect((await table.patch(id, { cron: '0 12 * * *' })).body).to.include({ state: 'PAUSED', nextAt: null });
    await table.at(start + 90 * minute);
    expect((await table.patch(id, { state: 'ACTIVE' })).body.nextAt).to.equal('2030-01-07T12:00:00.000Z');
  });

  it('takes effect after what was due, which is fired first', async () => {
    const { id } = await table.created();
    await table.at(start + minute);
    const other = await table.patch(id, { payload: 'later' });
    expect(other.body).to.include({ lastAt: iso(start + minute), nextAt: iso(start + 2 * minute) });
    expect((await table.sent()).map(({ payload }) => payload)).to.deep.equal([{ n: 1 }]);
    await table.at(start + 2 * minute);
    await table.patch(id, { state: 'PAUSED' });
    expect((await table.sent()).map(({ payload }) => payload)).to.deep.equal([{ n: 1 }, 'later']);

    const two = await table.created({ cron: '*/5 * * * *' });
    await table.at(start + 5 * minute);
    await table.remove(two.id);
    expect(await table.moments(two.id)).to.deep.equal([iso(start + 5 * minute)]);
  });

  it('is replayed by its Idempotency-Key', async () => {
    const { id } = await table.created();
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await table.patch(id, { cron: '0 0 * * *' }, key);
    await table.patch(id, { everySeconds: 60 });
    const again = await table.patch(id, { cron: '0 0 * * *' }, key);
    expect(again.headers.get('Idempotent-Replayed')).to.equal('true');
    expect(again.body).to.deep.equal(first.body);
    expect((await table.view(id)).everySeconds).to.equal(60);
  });

  it('refuses invalid fields, and states that cannot be set', async () => {
    const { id } = await table.created();
    for (const body of [{ state: 'ENDED' }, { state: 'paused' }, { cron: '* * *' }, { timezone: 'X' }, { missed: 0 }])
      expect(codeOf(await table.patch(id, body)), JSON.stringify(body)).to.equal('400 VALIDATION_FAILED');
  });
});
