import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { webhookKeys } from '../../../src/primitives/webhook/keys.ts';
import { Deliveries, rows, untilRows } from '../../support/webhooks.ts';

const day = 86_400_000;

describe('webhooks', () => {
  const to = new Deliveries();
  const { ready, register, happen, status, poke } = to;

  it('follow Standard Webhooks: the public library verifies them', async () => {
    const world = await ready();
    const now = Date.now();
    await world.at(now);
    // The number within the millisecond is large enough to use every part of the id that encodes it.
    const place = `${now}-${2 ** 31 + 70_000}`;
    const journal = `${world.prefix}:events`;
    await to.service.store.xadd(journal, place, 'mailbox.created', `${randomUUID()} ~ ~ mode=WORK`);
    const { signingSecret } = await register(world);
    await happen(world);
    const [got] = await to.sink.got(1);
    const headers = got?.headers as Record<string, string>;
    const body = new Webhook(signingSecret).verify(got?.text ?? '', headers) as Record<string, unknown>;
    const event = (await world.get('/events?limit=500')).body.events.at(-1);
    expect(body).to.deep.equal({ type: 'mailbox.created', timestamp: event.occurredAt, data: event });
    expect(headers['webhook-id']).to.equal(event.eventId);
    expect(() =>
      new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(got?.text ?? '', headers),
    ).to.throw();
    const [row] = await untilRows(world, 1);
    expect(row).to.include({ eventId: event.eventId, eventType: 'mailbox.created', attempt: 1, trigger: 'SCHEDULED' });
    expect(row).to.include({ state: 'SUCCEEDED', responseStatus: 200, errorCode: null, nextAttemptAt: null });
    expect((await world.mustPost(`/deliveries/${row?.id}/redeliver`)).eventId).to.equal(event.eventId);
  });

  it('a destination hears what happens after its creation, of the types it selected', async () => {
    const world = await ready();
    await happen(world);
    await register(world, ['mailbox.*', 'message.sent'], '/some');
    await register(world, [], '/all');
    const { id } = await happen(world);
    await world.mustPost(`/mailboxes/${id}/messages`, { scopeId: randomUUID(), payload: 1 });
    const types = (path: string) => to.sink.at(path).map(({ body }) => body.type);
    await to.sink.got(2, '/some');
    await to.sink.got(3, '/all');
    expect(types('/some')).to.have.members(['mailbox.created', 'message.sent']);
    expect(types('/all')).to.have.members(['mailbox.created', 'scope.created', 'message.sent']);
  });

  it('are retried on the documented schedule, then end with delivery.exhausted', async () => {
    const world = await ready();
    let now = Math.ceil(Date.now() / 1000) * 1000;
    await world.at(now);
    status(500);
    await register(world);
    await happen(world);
    const delays = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    for (const [index, seconds] of delays.entries()) {
      const [row] = await untilRows(world, index + 1);
      expect(row).to.include({ attempt: index + 1, state: 'FAILED', responseStatus: 500, errorCode: 'STATUS' });
      const next = Date.parse(row?.nextAttemptAt ?? '');
      expect(next - now).to.be.within(seconds * 900, seconds * 1100);
      await world.at(next - 1);
      await poke(world);
      expect(await rows(world)).to.have.length(index + 1);
      now = next;
      await world.at(now);
      await poke(world);
    }
    const [last] = await untilRows(world, 10);
    expect(last).to.include({ attempt: 10, state: 'FAILED', nextAttemptAt: null });
    const event = (await world.get('/events?limit=500')).body.events.at(-1);
    expect(event).to.include({ type: 'delivery.exhausted', aggregate: 'delivery', aggregateId: last?.id });
    const { id: deliveryId, destinationId, eventId } = last ?? {};
    expect(event.payload).to.deep.equal({ deliveryId, destinationId, eventId, attempts: 10 });
    const { outbox } = (await world.get('/backlog')).body;
    expect(outbox).to.include({ PENDING: 0, DELIVERED: 0, EXHAUSTED: 1 });
  });

  it('reach a receiver that recovers; Retry-After is respected', async () => {
    const world = await ready();
    const now = Math.ceil(Date.now() / 1000) * 1000;
    await world.at(now);
    status(503, { 'Retry-After': '60' });
    const { id } = await register(world);
    await happen(world);
    const [row] = await untilRows(world, 1);
    const at = { attemptedAt: new Date(now).toISOString(), nextAttemptAt: new Date(now + 60_000).toISOString() };
    expect(row).to.include(at);
    const failing = (await world.get(`/destinations/${id}`)).body;
    expect(failing).to.include({ consecutiveFailures: 1, failingSince: new Date(now).toISOString() });
    const key = `${world.prefix}:destination:${id}`;
    expect(await to.service.store.exists(`${key}:running`)).to.equal(0);
    status(204);
    await world.at(now + 60_000);
    await poke(world);
    expect((await untilRows(world, 2))[0]).to.include({ attempt: 2, state: 'SUCCEEDED', responseStatus: 204 });
    const destination = (await world.get(`/destinations/${id}`)).body;
    expect(destination).to.include({ consecutiveFailures: 0, failingSince: null });
    expect(destination).to.include({ lastSuccessAt: new Date(now + 60_000).toISOString() });
    expect((await world.get('/backlog')).body.outbox).to.deep.equal({
      UNREAD: 0,
      PENDING: 0,
      DELIVERED: 1,
      EXHAUSTED: 0,
    });
    expect(await to.service.store.keys(`${key}:*`)).to.deep.equal([]);
    // The five days of failures start anew with the first one after this success.
    status(500);
    await world.at(now + 6 * day);
    await happen(world);
    await untilRows(world, 3);
    expect((await world.get(`/destinations/${id}`)).body).to.include({ state: 'ACTIVE', consecutiveFailures: 1 });
  });

  it('come at once when a test shows that the receiver is back, which by itself ends no failures', async () => {
    const world = await ready();
    const now = Math.ceil(Date.now() / 1000) * 1000;
    await world.at(now);
    status(503, { 'Retry-After': '3600' });
    const { id } = await register(world);
    await happen(world);
    await untilRows(world, 1);
    to.sink.answer = (response, { body }) => {
      response.statusCode = body.type === 'destination.test' ? 200 : 503;
      response.end();
    };
    await world.mustPost(`/destinations/${id}/test`);
    await untilRows(world, 3);
    expect((await world.get(`/destinations/${id}`)).body).to.include({ consecutiveFailures: 2, waiting: 1 });
    status(200);
    await world.mustPost(`/destinations/${id}/test`);
    await untilRows(world, 5);
    expect((await world.get(`/destinations/${id}`)).body).to.include({ consecutiveFailures: 0, waiting: 0 });
  });

  it('are not delayed by another slow or dead destination', async () => {
    const world = await ready();
    to.sink.answer = (response, { path }) => path !== '/slow' && response.end();
    await register(world, ['mailbox.*'], '/slow');
    await register(world, ['mailbox.*'], '/quick');
    // More than may be under way at once to the slow one.
    for (let i = 0; i < 20; i++) await happen(world);
    await to.sink.got(20, '/quick');
    expect(to.sink.at('/slow').length, 'none of them has ended').to.be.within(1, 16);
  });

  it('are signed with both secrets for 24 hours after rotate-secret', async () => {
    const world = await ready();
    const now = Math.ceil(Date.now() / 1000) * 1000;
    await world.at(now);
    const first = await register(world);
    const second = await world.mustPost(`/destinations/${first.id}/rotate-secret`);
    expect(second.signingSecret).to.not.equal(first.signingSecret);
    await happen(world);
    const [got] = await to.sink.got(1);
    for (const { signingSecret } of [first, second]) {
      new Webhook(signingSecret).verify(got?.text ?? '', got?.headers as Record<string, string>);
    }
    await world.at(now + day);
    await happen(world);
    const [, later] = await to.sink.got(2);
    const signed = (secret: string) =>
      new Webhook(secret).sign(String(later?.headers['webhook-id']), new Date(now + day), later?.text ?? '');
    expect(later?.headers['webhook-signature']).to.equal(signed(second.signingSecret));
    await world.mustPost(`/destinations/${first.id}/test`);
    expect(to.sink.received.at(-1)?.headers['webhook-signature']).to.not.contain(' ');
  });

  it('are sent at once by test, which answers the attempt, and again by redeliver', async () => {
    const world = await ready();
    const now = Date.now() - 60_000;
    await world.at(now);
    const { id, signingSecret } = await register(world, ['mailbox.*']);
    const key = { 'Idempotency-Key': randomUUID() };
    const tested = await world.mustPost(`/destinations/${id}/test`, undefined, key);
    expect(await world.mustPost(`/destinations/${id}/test`, undefined, key), 'not sent again').to.deep.equal(tested);
    const sent = { trigger: 'TEST', eventType: 'destination.test', state: 'SUCCEEDED', destinationId: id };
    expect(tested).to.include(sent);
    const moment = Number.parseInt(tested.eventId.replace('-', '').slice(0, 12), 16);
    expect(moment, "of the store's clock, as every id").to.equal(now);
    await happen(world);
    const [row] = await untilRows(world, 2);
    status(500);
    const again = await world.mustPost(`/deliveries/${row?.id}/redeliver`);
    expect(again).to.include({
      trigger: 'MANUAL',
      eventId: row?.eventId,
      attempt: 2,
      state: 'FAILED',
      nextAttemptAt: null,
    });
    const ids = to.sink.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.deep.equal([tested.eventId, row?.eventId, row?.eventId]);
    for (const { text, headers } of to.sink.received) {
      new Webhook(signingSecret).verify(text, headers as Record<string, string>);
    }
    expect((await rows(world)).map(({ trigger }) => trigger)).to.deep.equal(['MANUAL', 'SCHEDULED', 'TEST']);
    const redeliver = async (one?: string) => (await world.post(`/deliveries/${one}/redeliver`)).body.error.code;
    const another = row?.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const unknown of [randomUUID(), another]) expect(await redeliver(unknown)).to.equal('DELIVERY_NOT_FOUND');
    await to.service.store.xtrim(`${world.prefix}:events`, 'MAXLEN', 0);
    expect(await redeliver(row?.id), 'its event has gone').to.equal('DELIVERY_NOT_FOUND');
    await world.call('DELETE', `/destinations/${id}`);
    expect(await redeliver(tested.id), 'its destination has gone').to.equal('DELIVERY_NOT_FOUND');
    await poke(world);
    expect(await to.service.store.sismember(webhookKeys.outbox.pattern, `${world.org} ${world.spaceId}`)).to.equal(0);
  });

  it('are no longer retried when a redelivery of their event succeeds', async () => {
    const world = await ready();
    status(500);
    await register(world);
    await happen(world);
    const [row] = await untilRows(world, 1);
    for (const code of [500, 200, 200]) {
      status(code);
      await world.mustPost(`/deliveries/${row?.id}/redeliver`);
      const DELIVERED = Number(code === 200);
      expect((await world.get('/backlog')).body.outbox).to.include({ PENDING: 1 - DELIVERED, DELIVERED });
    }
    const [destination] = (await world.get('/destinations')).body.destinations;
    expect(destination.consecutiveFailures).to.equal(0);
    expect(destination.lastSuccessAt).to.be.a('string');

    // During an attempt, the redelivery leaves ending the delivery to that attempt, which still occupies its slot.
    status(500);
    await happen(world);
    const [failed] = await untilRows(world, 5);
    const underWay = new Promise<() => void>((resolve) => {
      to.sink.answer = (response) => resolve(() => response.end());
    });
    await world.at(Date.parse(failed?.nextAttemptAt ?? ''));
    await poke(world);
    const answer = await underWay;
    status(200);
    await world.mustPost(`/deliveries/${failed?.id}/redeliver`);
    expect((await world.get('/backlog')).body.outbox).to.include({ PENDING: 1, DELIVERED: 1 });
    answer();
    await untilRows(world, 7);
    expect((await world.get('/backlog')).body.outbox).to.include({ PENDING: 0, DELIVERED: 2 });
  });
});
