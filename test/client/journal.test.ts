import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createMuster,
  type Event,
  type Journal,
  type Muster,
  MusterError,
} from '../../src/clients/typescript/index.ts';
import { World } from '../support/world.ts';

describe('lists and the journal of the typed client', () => {
  let world: World;
  let muster: Muster;
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });

  const mailbox = async () => (await muster.mailbox.create({ name: randomUUID() })).id;
  const send = (mailboxId: string, count: number) =>
    muster.batch(Array.from({ length: count }, (_, n) => muster.call.message.send({ mailboxId, scopeId, payload: n })));
  async function take<T>(iterable: AsyncIterable<T>, count: number): Promise<T[]> {
    const taken: T[] = [];
    for await (const one of iterable) if (taken.push(one) === count) break;
    return taken;
  }

  /** A client whose streams break off after some bytes, in the middle of an event where it so happens. */
  function cut(bytes: number): { client: Muster; connections: () => number } {
    let connections = 0;
    const cutting: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      connections++;
      let left = bytes;
      const breaks = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          controller.enqueue(chunk.subarray(0, left));
          left -= chunk.length;
          if (left <= 0) controller.error(new Error('cut'));
        },
      });
      const { status, headers } = response;
      return new Response(response.body?.pipeThrough(breaks) ?? null, { status, headers });
    };
    const client = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, fetch: cutting });
    return { client, connections: () => connections };
  }

  it('iterates over all pages of a list, and stops when the caller does', async () => {
    const mailboxId = await mailbox();
    await send(mailboxId, 7);
    const payloads: number[] = [];
    for await (const message of muster.message.all<number>({ mailboxId, limit: 3 })) payloads.push(message.payload);
    expect(payloads).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    expect((await take(muster.message.all({ mailboxId, limit: 2 }), 3)).length).to.equal(3);
    expect((await take(muster.mailbox.all(), 100)).map(({ id }) => id)).to.include(mailboxId);
    const refused = await take(muster.message.all({ mailboxId: randomUUID() }), 1).catch((error) => error);
    expect(refused).to.be.instanceOf(MusterError).and.to.include({ code: 'MAILBOX_NOT_FOUND' });
  });

  it('throws where the store has damaged what comes next, with the cursor that continues behind it', async () => {
    const separate = await World.create();
    const client = createMuster({ url: separate.url, key: separate.apiKey, spaceId: separate.spaceId });
    const { id: mailboxId } = await client.mailbox.create({ name: 'a' });
    const sent: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { id } = await client.message.send({ mailboxId, scopeId, payload: n });
      sent.push(id);
      if (n < 2) await client.message.cancel({ messageId: id });
    }
    const { org, spaceId, prefix, service } = separate;
    const now = { sealAfterMs: 0, isAll: true };
    await service.packing.packMessages(org, spaceId, undefined, { ...now, patienceMs: 0 });
    await service.packing.packSpace(org, spaceId, undefined, { ...now, size: 3 });
    const [[last] = ['']] = await service.store.xrange(`${prefix}:eventSegments`, '-', '+');
    for (const key of ['messageSegment:1', `eventSegment:${last}`]) await service.store.set(`${prefix}:${key}`, 'x');
    const failure = async (iterable: AsyncIterable<unknown>): Promise<MusterError> =>
      take(iterable, 1).catch((error) => error);
    const ofList = await failure(client.message.all({ mailboxId }));
    expect(ofList).to.be.instanceOf(MusterError).and.to.include({ code: 'MESSAGES_DAMAGED', status: 500 });
    const { messages } = await client.message.list({ mailboxId, cursor: ofList.nextCursor ?? '' });
    expect(messages.map(({ id }) => id)).to.deep.equal(sent.slice(2));
    const ofJournal = await failure(client.events({}));
    expect(ofJournal).to.be.instanceOf(MusterError).and.to.include({ code: 'EVENTS_DAMAGED' });
    const [next] = await take(client.events({ cursor: ofJournal.nextCursor ?? '' }), 1);
    const { events } = (await separate.get(`/events?cursor=${ofJournal.nextCursor}&limit=1`)).body;
    expect(next?.eventId).to.equal(events[0].eventId);
    const ofOne = await client.message.view({ messageId: sent[0] ?? '' }).catch((error) => error);
    expect(ofOne).to.include({ code: 'MESSAGES_DAMAGED', nextCursor: null });
  });

  it('iterates over the journal as far as it goes, and over the reservations of a budget', async () => {
    const separate = await world.anotherSpace({ requestsPerMinute: 1000 });
    const client = createMuster({ url: separate.url, key: separate.apiKey, spaceId: separate.spaceId });
    await client.mailbox.create({ name: 'a' });
    const { id: budgetId } = await client.budget.create({ name: 'b', currency: 'EUR', scale: 2, limitMinor: '9' });
    for (const amountMinor of ['1', '2']) await client.budget.reserve({ budgetId, scopeId, holder: 'h', amountMinor });
    const types: string[] = [];
    for await (const { type } of client.event.all({ limit: 1 })) types.push(type);
    expect(types).to.deep.equal([
      'mailbox.created',
      'budget.created',
      'scope.created',
      'budget.reserved',
      'budget.reserved',
    ]);
    const amounts: string[] = [];
    for await (const { amountMinor } of client.budget.reservations({ budgetId, limit: 1 })) amounts.push(amountMinor);
    expect(amounts.sort()).to.deep.equal(['1', '2']);
  });

  it('follows the journal: what was, then what happens, filtered', async () => {
    const mailboxId = await mailbox();
    await send(mailboxId, 2);
    const stop = new AbortController();
    const seen: string[] = [];
    const events = muster.events({ types: ['message.*'], scopeId, signal: stop.signal });
    for await (const event of events) {
      if (event.payload.mailboxId !== mailboxId) continue;
      seen.push(event.type);
      if (seen.length === 2) await send(mailboxId, 1);
      if (seen.length === 3) stop.abort();
    }
    expect(seen).to.deep.equal(['message.sent', 'message.sent', 'message.sent']);
  });

  it('stops at once when its signal aborts, though more events have arrived', async () => {
    const stop = new AbortController();
    const frames = [1, 2, 3].map((n) => `id: ${n}\ndata: {"eventId":${n}}\n\n`);
    const arrived: typeof fetch = async (_, request) => {
      const headers = new Headers(request?.headers);
      headers.set('Content-Type', 'text/event-stream');
      return new Response(frames.join(''), { headers });
    };
    const client = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, fetch: arrived });
    const events = client.events({ signal: stop.signal });
    let seen = 0;
    for await (const _ of events) if (++seen === 2) stop.abort();
    expect([seen, events.cursor]).to.deep.equal([2, '2']);
  });

  it('goes on over cut connections, and gives each event once', async () => {
    const mailboxId = await mailbox();
    await send(mailboxId, 40);
    const all = await take(muster.event.all({ limit: 500 }), Number.POSITIVE_INFINITY);
    // Of a size that one event fits into.
    const { client, connections } = cut(3_000);
    const journal: Journal = client.events();
    const seen: Event[] = [];
    for await (const event of journal) if (seen.push(event) === all.length) break;
    expect(seen.map(({ eventId }) => eventId)).to.deep.equal(all.map(({ eventId }) => eventId));
    expect(connections()).to.be.greaterThan(5);
  });

  it('knows where it stands: another process goes on there', async () => {
    const [first, second] = await take(muster.events(), 2);
    const journal = muster.events();
    expect(await take(journal, 1)).to.deep.equal([first]);
    expect(await take(muster.events({ cursor: journal.cursor }), 1)).to.deep.equal([second]);
  });

  it('throws where it cannot go on', async () => {
    const client = createMuster({
      url: world.url,
      key: await world.key(['coordination_write']),
      spaceId: world.spaceId,
    });
    const refused = await take(client.events(), 1).catch((error) => error);
    expect(refused).to.be.instanceOf(MusterError).and.to.include({ code: 'PERMISSION_DENIED', status: 403 });
    const malformed = await take(muster.events({ cursor: 'x' }), 1).catch((error) => error);
    expect(malformed).to.include({ code: 'INVALID_CURSOR' });
    const unset = createMuster({ url: world.url, key: world.apiKey, spaceId: undefined });
    expect(await take(unset.events(), 1).catch((error) => error)).to.be.instanceOf(TypeError);
  });

  it('begins at a moment, and goes on from its cursor over cut connections', async () => {
    const id = await mailbox();
    await send(id, 3);
    const [, , third] = await take(muster.events({ types: ['message.sent'], aggregate: 'message', scopeId }), 3);
    const later = Date.parse(third?.occurredAt ?? '') + 60_000;
    await world.at(later);
    await send(id, 4);
    const since = new Date(later);
    const { client } = cut(1500);
    for (const [one, from] of [
      [muster, since],
      [client, since.toISOString()],
    ] as const) {
      const events = await take(one.events({ types: ['message.sent'], scopeId, since: from }), 4);
      expect(new Set(events.map(({ eventId }) => eventId)).size).to.equal(4);
      expect(events.every(({ occurredAt }) => Date.parse(occurredAt) >= later)).to.equal(true);
    }
  });
});
