import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { day, hour, iso, minute, start, Timetable } from './timetable.ts';

describe('A schedule', () => {
  let table: Timetable;
  before(async () => {
    table = await Timetable.create();
  });

  it('is created ACTIVE, with its next moment, and emits its event', async () => {
    const payload = { big: 12345678901234567890n.toString(), list: [], none: null };
    const fields = {
      name: 'report',
      payload,
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      maxAttempts: 3,
      retryDelaySeconds: 0,
    };
    const { id, ...created } = await table.created(fields);
    expect(created).to.deep.equal({
      ...fields,
      mailboxId: table.mailboxId,
      scopeId: table.scopeId,
      everySeconds: null,
      maxRetryDelaySeconds: null,
      attemptSeconds: null,
      priority: 0,
      key: null,
      state: 'ACTIVE',
      nextAt: '2030-01-08T08:00:00.000Z',
      lastAt: null,
      lastMessageId: null,
      missed: 0,
      createdAt: iso(start),
    });
    expect(await table.view(id)).to.deep.equal({ id, ...created });
    const [event] = await table.events('schedule.created');
    expect(event).to.deep.include({ aggregate: 'schedule', aggregateId: id, scopeId: table.scopeId });
    const ids = { scheduleId: id, scopeId: table.scopeId, mailboxId: table.mailboxId };
    expect(event.payload).to.deep.equal({ ...ids, state: 'ACTIVE' });
    expect(await table.usage()).to.deep.equal({ 'mailbox.create': 1, 'schedule.create': 1 });
  });

  it('uses UTC and the attempts of its mailbox by default', async () => {
    const created = await table.created({ cron: '30 10 * * *' });
    expect(created).to.include({ timezone: 'UTC', maxAttempts: null, nextAt: iso(start + 30 * minute) });
  });

  it('can repeat every so many seconds, counted from its creation', async () => {
    expect(await table.created({ everySeconds: 5 })).to.include({ cron: null, nextAt: iso(start + 5000) });
    const longest = await table.created({ everySeconds: 31_536_000 });
    expect(longest.nextAt).to.equal(iso(start + 365 * day));
  });

  it('is replayed by its Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const fields = { name: 'once', cron: '0 0 1 1 *' };
    const first = await table.post(fields, key);
    const again = await table.post(fields, key);
    expect(again.headers.get('Idempotent-Replayed')).to.equal('true');
    expect([again.status, again.body]).to.deep.equal([201, first.body]);
  });

  it('is refused if a field is invalid', async () => {
    const bad: Record<string, object> = {
      'neither cron nor everySeconds': { cron: null },
      both: { cron: '* * * * *', everySeconds: 60 },
      'half seconds': { everySeconds: 5.5 },
      'four fields': { cron: '* * * *' },
      'seven fields': { cron: '* * * * * * *' },
      'a nickname': { cron: '@daily' },
      'a random minute': { cron: 'H * * * *' },
      'a random day': { cron: '0 0 * * H' },
      'a minute that is none': { cron: '60 * * * *' },
      'two lines': { cron: '* * * *\n*' },
      'the 30th of February': { cron: '0 0 30 2 *' },
      'the 31st of short months': { cron: '0 0 31 2,4,6,9,11 *' },
      'no zone': { timezone: 'Mars/Olympus' },
      'an offset': { timezone: '+02:00' },
      'a state': { state: 'PAUSED' },
    };
    for (const [what, fields] of Object.entries(bad))
      expect(codeOf(await table.post(fields)), what).to.equal('400 VALIDATION_FAILED');
  });

  it('a cron expression has six fields, names, the last day and the nth weekday; its days combine by OR', async () => {
    const next = async (cron: string) => (await table.created({ cron })).nextAt;
    expect(await next('15 0 10 * * *')).to.equal('2030-01-07T10:00:15.000Z');
    expect(await next('0 0 * FEB tue')).to.equal('2030-02-05T00:00:00.000Z');
    expect(await next('0 0 L * *')).to.equal('2030-01-31T00:00:00.000Z');
    expect(await next('0 0 * * 1#3')).to.equal('2030-01-21T00:00:00.000Z');
    expect(await next('0 0 20 * 3'), 'a Wednesday before the 20th').to.equal('2030-01-09T00:00:00.000Z');
    expect(await next('0 0 30 2 1'), 'Mondays of February').to.equal('2030-02-04T00:00:00.000Z');
    expect(await next('0 0 29 2 *')).to.equal('2032-02-29T00:00:00.000Z');
  });

  it('has a unique name in the space', async () => {
    await table.created({ name: 'unique' });
    const full = await table.post({ name: 'unique' });
    expect(codeOf(full)).to.equal('409 SCHEDULE_EXISTS');
    const other = await table.created({ name: 'other' });
    expect(codeOf(await table.patch(other.id, { name: 'unique' }))).to.equal('409 SCHEDULE_EXISTS');
    expect((await table.patch(other.id, { name: 'third' })).body.name).to.equal('third');
    await table.created({ name: 'other' });
    await table.remove(other.id);
    await table.created({ name: 'third' });
  });

  it('needs a mailbox and a payload within the limit, checked in that order', async () => {
    await table.created({ name: 'first' });
    const timetable = await Timetable.create({ limits: { maxPayloadBytes: 10 } });
    const mailboxId = randomUUID();
    const payload = 'x'.repeat(9);
    expect(codeOf(await timetable.post({ mailboxId, payload }))).to.equal('409 MAILBOX_NOT_FOUND');
    expect(codeOf(await timetable.post({ payload }))).to.equal('413 PAYLOAD_TOO_LARGE');
    const { id } = await timetable.created({ payload: 'x'.repeat(8) });
    expect(codeOf(await timetable.patch(id, { payload }))).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(codeOf(await timetable.patch(id, { mailboxId }))).to.equal('409 MAILBOX_NOT_FOUND');
  });

  it('is listed, newest first, in pages of at most 4 MiB', async () => {
    const timetable = await Timetable.create();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await timetable.created()).id);
    const first = await timetable.world.get('/schedules?limit=3');
    expect(first.body.schedules.map(({ id }: { id: string }) => id)).to.deep.equal(ids.slice(0, 3));
    const rest = await timetable.world.get(`/schedules?limit=3&cursor=${first.body.nextCursor}`);
    expect(rest.body.schedules.map(({ id }: { id: string }) => id)).to.deep.equal(ids.slice(3));
    expect(rest.body.nextCursor).to.equal(null);
    expect(codeOf(await timetable.world.get('/schedules?cursor=nonsense'))).to.equal('400 INVALID_CURSOR');

    const { service, prefix } = timetable.world;
    // As if larger payloads were allowed. The quotes are two bytes.
    const set = (nth: number, bytes: number) =>
      service.store.hset(`${prefix}:schedule:${ids[nth]}`, 'payload', `"${'x'.repeat(bytes - 2)}"`);
    const half = 2 * 1024 * 1024;
    await set(0, half);
    await set(1, half - 3 * '{"n":1}'.length);
    expect((await timetable.world.get('/schedules')).body.schedules).to.have.length(5);
    await set(1, half + 1);
    const big = await timetable.world.get('/schedules');
    expect(big.body.schedules).to.have.length(2);
    const last = await timetable.world.get(`/schedules?cursor=${big.body.nextCursor}`);
    expect([last.body.schedules.length, last.body.nextCursor]).to.deep.equal([3, null]);
  });

  it('is one of at most 1,000 in a space', async () => {
    const timetable = await Timetable.create();
    const { store } = timetable.world.service;
    const { id } = await timetable.created();
    const fill = Array.from({ length: 999 }, () => ['0', randomUUID()]).flat();
    await store.zadd(`${timetable.world.prefix}:schedules`, ...fill);
    const full = await timetable.post();
    expect(codeOf(full)).to.equal('409 SCHEDULES_FULL');
    expect(full.body.error.message).to.contain('1000');
    await timetable.remove(id);
    await timetable.created();
    await store.zremrangebyscore(`${timetable.world.prefix}:schedules`, '-inf', '+inf');
  });

  it('frees its name when deleted; the messages it sent stay', async () => {
    const timetable = await Timetable.create();
    const { id, name } = await timetable.created();
    await timetable.fireAt(start + minute);
    const reply = await timetable.remove(id);
    expect([reply.status, reply.text]).to.deep.equal([204, '']);
    expect(codeOf(await timetable.remove(id))).to.equal('404 SCHEDULE_NOT_FOUND');
    await timetable.fireAt(start + 5 * minute);
    expect(await timetable.sent()).to.have.length(1);
    expect((await timetable.events()).map(({ type }) => type)).to.deep.equal([
      'schedule.created',
      'schedule.fired',
      'schedule.deleted',
    ]);
    expect(await timetable.usage()).to.include({ 'schedule.create': 1, 'schedule.delete': 1, 'schedule.fire': 1 });
    expect((await timetable.world.get('/census')).body.schedules).to.deep.equal({ ACTIVE: 0, PAUSED: 0, ENDED: 0 });
    await timetable.created({ name });
  });

  it("counts against the plan's operations and runs", async () => {
    const timetable = await Timetable.create({ figures: { runs: '1' } });
    await timetable.world.mustPost(`/mailboxes/${timetable.mailboxId}/messages`, {
      scopeId: timetable.scopeId,
      payload: 1,
    });
    const scopeId = randomUUID();
    expect(codeOf(await timetable.post({ scopeId }))).to.equal('409 ACTIVE_RUNS_LIMITED');
    const { id } = await timetable.created();
    expect(codeOf(await timetable.patch(id, { scopeId }))).to.equal('409 ACTIVE_RUNS_LIMITED');

    const free = await Timetable.create({ plan: 'free' });
    const created = await free.created();
    const { store } = free.world.service;
    await store.hset(`muster:{${free.world.org}}`, 'usedOperations', 1_000_000_000);
    const refused = [
      await free.post(),
      await free.patch(created.id, { state: 'PAUSED' }),
      await free.trigger(created.id),
      await free.remove(created.id),
    ];
    expect(refused.map(codeOf)).to.deep.equal(refused.map(() => '402 OPERATIONS_EXHAUSTED'));
  });

  it('shows its next five moments, by the clock of its zone, none while it is paused', async () => {
    const table = await Timetable.create();
    const ahead = async (id: string): Promise<string[]> => (await table.world.get(`/schedules/${id}`)).body.nextMoments;
    const hourly = await table.created({ everySeconds: 3_600 });
    expect(await ahead(hourly.id)).to.deep.equal([1, 2, 3, 4, 5].map((hours) => iso(start + hours * hour)));
    // Across the change to summer time, and a weekend.
    await table.at(Date.parse('2030-03-28T10:00:00Z'));
    const daily = await table.created({ cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' });
    const days = ['03-29T08', '04-01T07', '04-02T07', '04-03T07', '04-04T07'];
    expect(await ahead(daily.id)).to.deep.equal(days.map((at) => `2030-${at}:00:00.000Z`));
    await table.patch(daily.id, { state: 'PAUSED' });
    expect(await ahead(daily.id)).to.deep.equal([]);
  });
});
