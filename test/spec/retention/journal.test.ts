import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day } from './support.ts';

describe('retention of the journal and of usage', () => {
  it('keeps an event for max(window, 30 d) to the millisecond, and reports an older cursor as expired', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    const scopeId = traffic.scope();
    await traffic.send(scopeId);
    await aging.at(5000);
    await traffic.send(scopeId);
    const oldest = async () => (await aging.body('/events?limit=1')).events[0].occurredAt;
    const { nextCursor: early } = await aging.body('/events?limit=2');
    const through = await aging.body('/events?limit=500');
    const events = through.events.map((event: { occurredAt: string }) => Date.parse(event.occurredAt) - aging.start);
    const firstPart = events.filter((at: number) => at === 0).length;
    const { nextCursor: exact } = await aging.body(`/events?limit=${firstPart}`);

    await aging.sweepAt(30 * day - 1);
    expect(Date.parse(await oldest())).to.equal(aging.start);
    await aging.sweepAt(30 * day);
    expect(Date.parse(await oldest())).to.equal(aging.start + 5000);
    const expired = await world.get(`/events?cursor=${early}`);
    expect([expired.status, expired.body.error.code]).to.deep.equal([410, 'CURSOR_EXPIRED']);
    const next = await world.get(`/events?cursor=${exact}`);
    expect(next.body.events).to.have.length(1);
    await expectAgreement(world);
  });

  it('keeps deliveries as long as events', async () => {
    const aging = await Aging.begin();
    const { scripts, store } = aging.world.service;
    const { org, spaceId } = aging.world;
    const delivery = { destinationId: 'd', entryId: '1-1', eventType: 'mailbox.created', attempt: 1, durationMs: 1 };
    const outcome = { responseStatus: '204', errorCode: '', attemptedAt: aging.start, pauseMs: 0, scale: 1 };
    const attempt = () => scripts.execute('webhook/finish', org, { spaceId, requestId: '', ...delivery, ...outcome });
    await Promise.all(Array.from({ length: 40 }, attempt));
    const length = () => store.xlen(`${aging.world.prefix}:deliveries`);
    await aging.sweepAt(30 * day - 1);
    expect(await length()).to.equal(40);
    await aging.at(30 * day);
    for (let more: unknown = 1; more === 1; )
      [more] = await scripts.execute('retention/space', org, { spaceId, requestId: '', maxRecords: 1, opened: '' });
    expect(await length()).to.equal(0);
  });

  it('finds messages before their journal entries are removed, however far behind it is', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    for (let round = 0; round < 23; round++) {
      const scopeId = traffic.scope();
      await traffic.send(scopeId);
      await traffic.complete(await traffic.claim(scopeId));
    }
    await aging.at(60 * day);
    const step = { spaceId: world.spaceId, requestId: '', maxRecords: 10, opened: '' };
    let steps = 0;
    for (let more: unknown = 1; more === 1; steps++) {
      [more] = await world.service.scripts.execute('retention/space', world.org, step);
      await expectAgreement(world);
    }
    expect(steps).to.be.greaterThan(10);
    expect(await world.service.store.xlen(`${world.prefix}:events`)).to.equal(0);
    const { messages, tasks } = await aging.body('/census');
    expect([messages.ACKED, tasks.SUCCEEDED]).to.deep.equal([0, 0]);
  });

  it('keeps usage for 400 d, and carries the last value of retainedBytes forward, also from removed days', async () => {
    const aging = await Aging.begin({ plan: 'enterprise', figures: { retentionDays: '1000' } });
    const { traffic } = aging;
    const date = (days: number) => new Date(aging.start + days * day).toISOString().slice(0, 10);
    const usage = async (from: number, to: number) =>
      (await aging.body(`/usage?from=${date(from)}&to=${date(to)}`)).days;
    await traffic.send(traffic.scope(), { payload: '12345678' });
    await aging.sweepAt(300 * day);
    await traffic.send(traffic.scope(), { payload: '1234' });
    await aging.sweepAt(400 * day);
    expect((await usage(0, 0))[0]).to.include({ operations: 5, retainedBytes: 10 });
    await aging.sweepAt(401 * day);
    const [gone, quiet] = await usage(0, 1);
    expect(gone).to.include({ operations: 0, syscalls: 0 });
    expect(quiet).to.include({ operations: 0, retainedBytes: 10 });
    const days = await usage(290, 401);
    expect(days[9]).to.include({ date: date(299), operations: 0, retainedBytes: 10 });
    expect(days[10]).to.include({ date: date(300), operations: 1, retainedBytes: 16 });
    expect(days.at(-1)).to.include({ date: date(401), operations: 0, retainedBytes: 16 });
    // The oldest day kept has its own figure.
    await traffic.send(traffic.scope());
    await aging.sweepAt(700 * day);
    expect((await usage(300, 300))[0]).to.include({ operations: 1, retainedBytes: 16 });
  });

  it('counts what retention removes on a quiet day for that day, not for the last busy one', async () => {
    const aging = await Aging.begin();
    const { traffic } = aging;
    const scopeId = traffic.scope();
    await traffic.send(scopeId, { payload: '12345678' });
    await traffic.complete(await traffic.claim(scopeId));
    await aging.sweepAt(7 * day);
    const { days } = await aging.body('/usage');
    const bytes = days.slice(-8).map((one: { retainedBytes: number }) => one.retainedBytes);
    expect(bytes).to.deep.equal([10, 10, 10, 10, 10, 10, 10, 0]);
    expect(days.at(-8).operations).to.equal(7);
  });

  it('keeps replays for 24 hours; a day of them is removed in bounded steps when its last one is that old', async () => {
    const aging = await Aging.begin({ plan: 'enterprise', figures: { retentionDays: '1000' } });
    const { world } = aging;
    const { scripts, store } = world.service;
    const key = `muster:{${world.org}}:${world.spaceId}`;
    const today = aging.start / day;
    const create = () => world.post('/mailboxes', { name: 'm' }, { 'Idempotency-Key': 'k' });
    await aging.at(day - 1);
    const first = await create();
    await aging.sweepAt(2 * day - 2);
    expect((await create()).body).to.deep.equal(first.body);
    expect(await store.exists(`${world.prefix}:idempotency:${today}`)).to.equal(1);
    await aging.sweepAt(2 * day);
    expect(await store.exists(`${world.prefix}:idempotency:${today}`)).to.equal(0);
    await aging.at(5 * day);
    const from: unknown[] = [];
    for (let more: unknown = 1; more === 1; from.push(Number(await store.hget(key, 'idempotencyFrom')) - today))
      [more] = await scripts.execute('retention/space', world.org, {
        spaceId: world.spaceId,
        requestId: '',
        maxRecords: 1,
        opened: '',
      });
    expect(from).to.deep.equal([2, 3, 4]);
  });
});
