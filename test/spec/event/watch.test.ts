import { hash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../support/processes.ts';
import { type Reply, World } from '../../support/world.ts';

interface Event {
  eventId: string;
  type: string;
  aggregate: string;
  aggregateId: string;
  scopeId: string | null;
}

/** A world with one mailbox, two runs, and a cursor past what has happened so far. */
async function ready() {
  const world = await World.create();
  const mailbox = await world.mustPost('/mailboxes', { name: 'jobs' });
  const cursor = (await world.get('/watch?cursor=latest')).body.nextCursor as string;
  const send = (scopeId: string): Promise<unknown> =>
    world.mustPost(`/mailboxes/${mailbox.id}/messages`, { scopeId, payload: 1 });
  return { world, mailboxId: mailbox.id as string, cursor, send };
}

const types = (reply: Reply): string[] => reply.body.events.map((event: Event) => event.type);

describe('watch', () => {
  it('long-polls the same events: available ones are returned at once', async () => {
    const { world, send } = await ready();
    await send(randomUUID());
    const events = await world.get('/events');
    const watched = await world.get('/watch?waitSeconds=30');
    expect(watched.body.events).to.deep.equal(events.body.events);
    expect(types(watched)).to.deep.equal(['mailbox.created', 'scope.created', 'message.sent']);
  });

  it('holds the request when nothing is available, and wakes at a write', async () => {
    // Less than a wait that nothing ends.
    const { world, cursor, send } = await ready();
    for (let from = cursor, i = 0; i < 5; i++) {
      const held = world.get(`/watch?cursor=${from}&waitSeconds=30&types=message.sent`);
      await until(() => world.service.feeds.size > 0);
      await send(randomUUID());
      const reply = await held;
      expect(types(reply)).to.deep.equal(['message.sent']);
      from = reply.body.nextCursor;
    }
  });

  it('answers an empty page when the time is up, with a cursor past the events filtered out', async () => {
    const { world, cursor, send } = await ready();
    const held = world.get(`/watch?cursor=${cursor}&waitSeconds=1&aggregate=budget`);
    await until(() => world.service.feeds.size > 0);
    await send(randomUUID());
    const reply = await held;
    expect(reply.body.events).to.deep.equal([]);
    expect((await world.get(`/watch?cursor=${reply.body.nextCursor}`)).body.events).to.deep.equal([]);
    expect(types(await world.get(`/watch?cursor=${cursor}`))).to.have.length(2);
  });

  it('filters by types or prefix.*, by aggregates or one record, in comma-separated lists', async () => {
    const { world, mailboxId, send } = await ready();
    await send(randomUUID());
    const get = async (filter: string) => types(await world.get(`/watch?${filter}`));
    expect(await get('types=message.sent')).to.deep.equal(['message.sent']);
    expect(await get('types=scope.*,message.sent')).to.deep.equal(['scope.created', 'message.sent']);
    expect(await get('types=message.acked')).to.deep.equal([]);
    expect(await get('aggregate=mailbox,scope')).to.deep.equal(['mailbox.created', 'scope.created']);
    expect(await get(`aggregate=mailbox:${mailboxId.toUpperCase()}`)).to.deep.equal(['mailbox.created']);
    expect(await get(`aggregate=mailbox:${randomUUID()}`)).to.deep.equal([]);
  });

  it('filters by the subtree of a scope', async () => {
    const { world, cursor, send } = await ready();
    const [run, other] = [randomUUID(), randomUUID()];
    await send(run);
    await send(other);
    // For example, a group's gate scope is below its run.
    const gate = randomUUID();
    const key = `${world.prefix}:scope:${gate}`;
    await world.service.store.hset(key, { path: `${run} ${gate}`, createdAt: Date.now(), live: 0 });
    await send(gate);
    const page = async (filter: string): Promise<Event[]> =>
      (await world.get(`/watch?cursor=${cursor}&scopeId=${filter}`)).body.events;
    const scopes = (events: Event[]) => [...new Set(events.map((event) => event.scopeId))];
    expect(scopes(await page(run))).to.deep.equal([run, gate]);
    expect(scopes(await page(gate))).to.deep.equal([gate]);
    expect(scopes(await page(other.toUpperCase()))).to.deep.equal([other]);
    expect(await page(randomUUID())).to.deep.equal([]);
    const below = randomUUID();
    await world.service.store.hset(key.replace(gate, below), {
      path: `${run} ${below}`,
      createdAt: Date.now(),
      live: 0,
    });
    const { nextCursor } = (await world.get('/watch?cursor=latest')).body;
    const hold = async (filter: string, size: number) => {
      const held = world.get(`/watch?cursor=${nextCursor}&waitSeconds=30&${filter}`);
      await until(() => world.service.feeds.size >= size);
      return { held };
    };
    const both = [await hold('types=message.sent', 1), await hold(`scopeId=${run}`, 2)];
    await send(below);
    for (const { held } of both) expect(scopes((await held).body.events)).to.deep.equal([below]);
  });

  it('combines filters, and continues over pages without a gap', async () => {
    const { world, cursor, send } = await ready();
    const run = randomUUID();
    for (let i = 0; i < 7; i++) await send(i % 2 ? randomUUID() : run);
    const seen: string[] = [];
    for (let from = cursor, i = 0; i < 4; i++) {
      const { body } = await world.get(`/watch?cursor=${from}&types=message.*&scopeId=${run}&limit=1`);
      seen.push(...body.events.map((event: Event) => event.eventId));
      from = body.nextCursor;
    }
    const all = await world.get(`/watch?cursor=${cursor}&aggregate=message&scopeId=${run}`);
    expect(seen).to.deep.equal(all.body.events.map((event: Event) => event.eventId));
    expect(seen).to.have.length(4);
  });

  it('without waiting, examines at most 5,000 entries, is charged once, and continues behind them', async () => {
    const { world, mailboxId, cursor } = await ready();
    const { store } = world.service;
    const add = async (count: number): Promise<void> => {
      const pipeline = store.pipeline();
      for (let i = 0; i < count; i++)
        pipeline.xadd(`${world.prefix}:events`, '*', 'message.acked', `${mailboxId} ~ ~ `);
      await pipeline.exec();
    };
    await add(4_990);
    const { id: within } = await world.mustPost('/mailboxes', { name: 'within' });
    await add(20);
    const { id: beyond } = await world.mustPost('/mailboxes', { name: 'beyond' });
    await world.at(Math.ceil(Date.now() / 60_000) * 60_000);
    const find = async (from: string, filter: string) => (await world.get(`/watch?cursor=${from}&${filter}`)).body;
    const ids = ({ events }: { events: Event[] }) => events.map(({ aggregateId }) => aggregateId);
    expect(ids(await find(cursor, 'aggregate=mailbox'))).to.deep.equal([within]);
    const none = await find(cursor, 'types=budget.*');
    expect(none.events).to.deep.equal([]);
    expect(ids(await find(none.nextCursor, 'types=mailbox.created'))).to.deep.equal([beyond]);
    expect(await store.hget(`muster:{${world.org}}:${world.spaceId}`, 'usedRequests')).to.equal('3');
    const calls = async () => Number(/cmdstat_fcall:calls=(\d+)/.exec(await store.info('commandstats'))?.[1]);
    const before = await calls();
    await find('latest', 'types=budget.*');
    expect((await calls()) - before, 'there is nothing more to look at').to.equal(1);
  });

  it('begins with the creation of its scope without a cursor, however long the journal is', async () => {
    const { world, mailboxId, send } = await ready();
    const { store } = world.service;
    const pipeline = store.pipeline();
    // More than one request looks at.
    for (let i = 0; i < 5_100; i++) pipeline.xadd(`${world.prefix}:events`, '*', 'message.acked', `${mailboxId} ~ ~ `);
    await pipeline.exec();
    const [run, later] = [randomUUID(), randomUUID()];
    const held = world.get(`/watch?scopeId=${later}&waitSeconds=30`);
    await until(() => world.service.feeds.size > 0);
    await send(run);
    const sent = ['scope.created', 'message.sent'];
    const found = await world.get(`/watch?scopeId=${run.toUpperCase()}`);
    expect(types(found)).to.deep.equal(sent);
    const paged = await world.get(`/watch?scopeId=${run}&limit=1`);
    const rest = await world.get(`/watch?scopeId=${run}&cursor=${paged.body.nextCursor}`);
    expect([...types(paged), ...types(rest)]).to.deep.equal(sent);
    await send(later);
    expect(types(await held)).to.deep.equal(sent);
  });

  it('refuses unknown filters and malformed parameters with 400', async () => {
    const { world } = await ready();
    const bad = [
      'types=message.lost',
      'types=*',
      'types=',
      'types=mess.*',
      'types=message.sent,message.lost',
      'types=message__',
      'aggregate=budgets',
      'aggregate=budget,',
    ];
    bad.push(
      'aggregate=budget:1',
      `aggregate=budget:${randomUUID()},message`,
      `aggregate=boat:${randomUUID()}`,
      'scopeId=1',
      'waitSeconds=31',
    );
    bad.push('limit=0', 'limit=501', 'waitSeconds=-1', 'types=message.sent&types=message.sent', 'since=1');
    for (const query of bad) {
      const reply = await world.get(`/watch?${query}`);
      expect([reply.status, reply.body.error.code], query).to.deep.equal([400, 'VALIDATION_FAILED']);
    }
    const reply = await world.get('/watch?cursor=none');
    expect([reply.status, reply.body.error.code]).to.deep.equal([400, 'INVALID_CURSOR']);
  });

  it('reads nothing more once its key is revoked', async () => {
    const { world, cursor, send } = await ready();
    const reader = await world.key(['coordination_read']);
    const headers = { Authorization: `Bearer ${reader}` };
    const held = world.call('GET', `/watch?cursor=${cursor}&waitSeconds=30`, undefined, headers);
    await until(() => world.service.feeds.size > 0);
    const digest = hash('sha256', reader, 'base64url');
    await world.service.store.hset(`muster:{${world.org}}:key:${digest}`, 'revokedAt', '1');
    await send(randomUUID());
    expect((await held).body.error.code).to.equal('INVALID_API_KEY');
  });

  it('is charged once while held, however often it is woken', async () => {
    const { world, cursor, send } = await ready();
    const used = async () =>
      Number(await world.service.store.hget(`muster:{${world.org}}:${world.spaceId}`, 'usedRequests'));
    await world.at(Math.ceil(Date.now() / 60_000) * 60_000);
    const held = world.get(`/watch?cursor=${cursor}&waitSeconds=30&types=mailbox.created`);
    await until(() => world.service.feeds.size > 0);
    for (let i = 0; i < 5; i++) await send(randomUUID());
    await world.mustPost('/mailboxes', { name: 'other' });
    await held;
    expect(await used()).to.equal(7);
  });

  it('ends at once when the request is aborted', async () => {
    const { world, cursor } = await ready();
    const gone = new AbortController();
    const url = `${world.url}/v1/spaces/${world.spaceId}/watch?cursor=${cursor}&waitSeconds=30`;
    const held = fetch(url, { headers: { Authorization: `Bearer ${world.apiKey}` }, signal: gone.signal });
    await until(() => world.service.feeds.size > 0);
    gone.abort();
    await held.catch(() => undefined);
    await until(() => world.service.feeds.size === 0);
  });
});
