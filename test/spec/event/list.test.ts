import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { product } from '../../../src/primitives/primitives.ts';
import { codeOf, World } from '../../support/world.ts';
import { sendMany } from '../mailbox/many.ts';
import { Queue } from '../mailbox/queue.ts';

const eventTypes = product.events.map(({ type }) => type);

describe('GET /events', () => {
  let queue: Queue;
  let world: World;
  const types = (body: { events: { type: string }[] }) => body.events.map(({ type }) => type);
  beforeEach(async () => {
    queue = await Queue.create();
    world = queue.world;
  });
  const key = () => `muster:{${world.org}}`;
  const stream = () => `${world.prefix}:events`;

  it('returns a page of events, oldest first, and a nextCursor that is never null', async () => {
    await queue.sent();
    const reply = await world.get('/events');
    expect(types(reply.body)).to.deep.equal(['mailbox.created', 'scope.created', 'message.sent']);
    const next = await world.get(`/events?cursor=${reply.body.nextCursor}`);
    expect(next.body).to.deep.equal({ events: [], nextCursor: reply.body.nextCursor });
    await queue.sent();
    expect(types((await world.get(`/events?cursor=${next.body.nextCursor}`)).body)).to.deep.equal(['message.sent']);
  });

  it('begins at a moment with since, which a cursor goes before', async () => {
    const begun = Date.now() + 3_600_000;
    const at = (seconds: number): string => new Date(begun + seconds * 1000).toISOString();
    for (const seconds of [10, 20, 30]) {
      await world.at(begun + seconds * 1000);
      await queue.sent({ workKey: `at ${seconds}` });
    }
    const of = async (path: string) => {
      const { status, body, text } = await world.get(path);
      expect(status, text).to.equal(200);
      return body;
    };
    const from = (seconds: number) => `since=${at(seconds)}`;
    for (const path of ['/events', '/watch']) {
      expect(types(await of(`${path}?${from(20)}`))).to.deep.equal(['message.sent', 'message.sent']);
      const page = await of(`${path}?${from(20)}&limit=1`);
      expect(page.events[0].occurredAt).to.equal(at(20));
      const next = await of(`${path}?${from(20)}&cursor=${page.nextCursor}`);
      expect(next.events[0].occurredAt).to.equal(at(30));
      expect((await of(`${path}?${from(31)}`)).events).to.deep.equal([]);
      expect((await of(`${path}?since=1999-12-31T23:00:00-01:00&limit=500`)).events).to.have.lengthOf(5);
      expect(codeOf(await world.get(`${path}?since=yesterday`))).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('begins at the oldest event with a since that is as old as 1970 or older', async () => {
    await queue.sent();
    const all = (await world.get('/events')).body;
    for (const since of [
      '1970-01-01T00:00:00.001Z',
      '1970-01-01T00:00:00.000Z',
      '1969-12-31T23:59:59Z',
      '0001-01-01T00:00:00Z',
    ]) {
      for (const path of ['/events', '/watch']) {
        const { status, body, text } = await world.get(`${path}?since=${since}`);
        expect([status, body], `${path} ${since} ${text}`).to.deep.equal([200, all]);
      }
    }
  });

  it('returns a cursor for an empty space, too', async () => {
    const empty = await World.create();
    const { body } = await empty.get('/events');
    expect(body.events).to.deep.equal([]);
    const { id } = await empty.mustPost('/mailboxes', { name: 'x' });
    const next = await empty.get(`/events?cursor=${body.nextCursor}`);
    expect(next.body.events[0].aggregateId).to.equal(id);
  });

  it('returns 100 events by default; pages of any size return every event once, in order', async () => {
    await sendMany(queue, 120);
    expect((await world.get('/events')).body.events).to.have.lengthOf(100);
    const { body } = await world.get('/events?limit=500');
    expect(body.events).to.have.lengthOf(122);
    const seen: string[] = [];
    for (let cursor = ''; seen.length < 122; ) {
      const page = await world.get(`/events?limit=17${cursor}`);
      for (const { eventId } of page.body.events) seen.push(eventId);
      cursor = `&cursor=${page.body.nextCursor}`;
    }
    expect(seen).to.deep.equal(body.events.map(({ eventId }: { eventId: string }) => eventId));
  });

  it('assigns UUIDv7 eventIds in stream order, one per entry, also within one millisecond', async () => {
    await world.at(Date.now());
    await sendMany(queue, 60);
    const { events } = (await world.get('/events?limit=500')).body;
    const ids = events.map(({ eventId }: { eventId: string }) => eventId);
    expect(new Set(ids).size).to.equal(62);
    expect([...ids].sort()).to.deep.equal(ids);
    const entries = (await world.service.store.xrange(stream(), '-', '+')).map(([entryId]) => entryId);
    entries.forEach((entryId, index) => {
      const [ms, sequence] = entryId.split('-').map(Number);
      const id = ids[index];
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).to.equal(ms);
      expect(Number.parseInt(id.slice(24, 28), 16)).to.equal(sequence);
      expect(events[index].occurredAt).to.equal(new Date(ms ?? 0).toISOString());
    });
  });

  it('shows the requestId of the call that caused an event, whatever its format; events of the sweep have none', async () => {
    const now = Date.now();
    await world.at(now);
    for (const requestId of ['payload', 'type', 'scopeId', 'aggregateId', 'requestId', 'null', '-', '.']) {
      const body = { scopeId: queue.scopeId, payload: 1, deadline: new Date(now + 1000).toISOString() };
      await world.mustPost(`/mailboxes/${queue.id}/messages`, body, { 'X-Request-Id': requestId });
      const { events } = (await world.get('/events?limit=500')).body;
      expect(events.at(-1)).to.include({ type: 'message.sent', requestId });
      expect(events.at(-1).payload.state).to.equal('READY');
    }
    await world.at(now + 1000);
    await queue.recv();
    expect((await world.get('/events')).body.events.at(-1)).to.include({ type: 'message.expired', requestId: null });
  });

  it('shows ids, states and counts, never message bodies or secrets; every type is declared', async () => {
    const secret = 'a-secret-in-the-payload';
    await queue.sent({ payload: secret, workKey: 'a-secret-key' });
    const claim = await queue.claim({ holder: 'a-secret-holder' });
    await queue.act('complete', claim, { result: { payload: secret, mailboxId: queue.id, scopeId: queue.scopeId } });
    const { text, body } = await world.get('/events');
    for (const hidden of ['a-secret', claim.token]) expect(text).to.not.contain(hidden);
    for (const type of types(body)) expect(eventTypes).to.include(type);
    expect(body.events.at(-1).payload).to.have.all.keys(
      'messageId',
      'scopeId',
      'mailboxId',
      'taskId',
      'state',
      'attempts',
    );
  });

  it('answers 400 INVALID_CURSOR for a malformed cursor and for one of another space', async () => {
    const { nextCursor } = (await world.get('/events')).body;
    const second = await world.anotherSpace();
    expect(codeOf(await second.get(`/events?cursor=${nextCursor}`))).to.equal('400 INVALID_CURSOR');
    const inside = Buffer.from(nextCursor, 'base64url').toString();
    const forge = (text: string) => Buffer.from(text).toString('base64url');
    const forged = [
      inside.replace(/-\d+$/, `-${'9'.repeat(20)}`),
      inside.replace(/\d+-/, `${'9'.repeat(16)}-`),
      `${inside} `,
      `${inside.split('.')[0]}..`,
    ];
    for (const cursor of [
      'x',
      '',
      '0-0',
      `${nextCursor}x`,
      `${nextCursor}%3D`,
      `a%00b`,
      'a'.repeat(1000),
      ...forged.map(forge),
    ]) {
      expect(codeOf(await world.get(`/events?cursor=${cursor}`)), cursor).to.equal('400 INVALID_CURSOR');
    }
    expect(codeOf(await world.get(`/events?cursor=${nextCursor}&cursor=latest`))).to.equal('400 VALIDATION_FAILED');
    const largest = inside.replace(/\d+-\d+$/, `${'9'.repeat(15)}-${'9'.repeat(19)}`);
    expect(codeOf(await world.get(`/events?cursor=${forge(largest)}`))).to.equal('410 CURSOR_EXPIRED');
  });

  /** The message of the 410 that answers a cursor. */
  async function expired(cursor: string): Promise<string> {
    const reply = await world.get(`/events?cursor=${cursor}`);
    expect(codeOf(reply)).to.equal('410 CURSOR_EXPIRED');
    return reply.body.error.message;
  }

  it('answers 410 CURSOR_EXPIRED for a cursor from before a restore', async () => {
    const { nextCursor } = (await world.get('/events')).body;
    await world.service.store.hset(key(), 'epoch', 'another');
    expect(await expired(nextCursor)).to.match(/^this cursor is from before the store was restored/);
    expect((await world.get('/events?cursor=latest')).status).to.equal(200);
    expect(types((await world.get('/events')).body)).to.deep.equal(['mailbox.created']);
  });

  it('a cursor at an event that a failover lost is CURSOR_EXPIRED, whether or not others have come since', async () => {
    await queue.sent();
    const { nextCursor } = (await world.get('/events')).body;
    const { store } = world.service;
    const lost = (await store.xrange(stream(), '-', '+')).at(-1)?.[0] ?? '';
    await store.xdel(stream(), lost);
    expect(await expired(nextCursor)).to.match(/^the event at this cursor was lost when the store failed:/);
    await queue.sent();
    for (const path of ['/events', '/watch'])
      expect(codeOf(await world.get(`${path}?cursor=${nextCursor}`)), path).to.equal('410 CURSOR_EXPIRED');
    expect((await world.get('/events')).status).to.equal(200);
  });

  it('answers 410 CURSOR_EXPIRED for a cursor older than what is kept, and continues from the trimmed end', async () => {
    const pages = [];
    for (let i = 0; i < 3; i++) {
      await queue.sent();
      pages.push((await world.get('/events?cursor=latest')).body.nextCursor);
    }
    const { store } = world.service;
    const entries = await store.xrange(stream(), '-', '+');
    const trimmedThrough = entries.at(-2)?.[0] ?? '';
    await store.xtrim(stream(), 'MAXLEN', 1);
    await store.hset(`${key()}:${world.spaceId}`, { trimmedThrough });
    expect(await expired(pages[0])).to.match(/^the events after this cursor are no longer kept:/);
    expect(types((await world.get(`/events?cursor=${pages[1]}`)).body)).to.deep.equal(['message.sent']);
    expect(types((await world.get('/events')).body), 'no cursor = oldest kept').to.deep.equal(['message.sent']);
  });

  it('issues cursors that still work when everything has been trimmed', async () => {
    const { store } = world.service;
    const trimmedThrough = (await store.xrange(stream(), '-', '+')).at(-1)?.[0] ?? '';
    await store.xtrim(stream(), 'MAXLEN', 0);
    await store.hset(`${key()}:${world.spaceId}`, { trimmedThrough });
    const cursors = [];
    for (const query of ['', '?cursor=latest']) cursors.push((await world.get(`/events${query}`)).body.nextCursor);
    await queue.sent({ scopeId: randomUUID() });
    for (const cursor of cursors) {
      expect(types((await world.get(`/events?cursor=${cursor}`)).body)).to.deep.equal([
        'scope.created',
        'message.sent',
      ]);
    }
  });
});
