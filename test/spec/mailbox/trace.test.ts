import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Agent, versions } from '../../mcp/agent.ts';
import { someTrace } from '../../support/trace.ts';
import { Deliveries } from '../../support/webhooks.ts';
import type { World } from '../../support/world.ts';
import { Queue } from './queue.ts';

const hex = (length: number): string => randomUUID().replaceAll('-', '').slice(0, length);
/** An event of the journal, as far as it is of interest here. */
interface Event {
  readonly type: string;
  readonly aggregateId: string;
  readonly traceparent: string | null;
}

describe('A trace', () => {
  let queue: Queue;
  beforeEach(async () => {
    queue = await Queue.create();
    await queue.world.at(Date.now());
  });

  const send = async (headers: Record<string, string>, fields: object = {}, to = queue) => {
    const { scopeId, world } = to;
    const body = await world.mustPost(`/mailboxes/${to.id}/messages`, { scopeId, payload: 1, ...fields }, headers);
    return body.id as string;
  };
  const view = async (id: string) => (await queue.world.get(`/messages/${id}`)).body;
  const events = async (id: string): Promise<Event[]> => {
    const { body } = await queue.world.get('/events?limit=500');
    return body.events.filter(({ aggregateId }: Event) => aggregateId === id);
  };

  it('the trace of a send is kept in the record, the claim, the list, the run view and each event', async () => {
    const trace = { traceparent: someTrace(), tracestate: 'vendor=t61rcWkgMzE,rojo=00f0' };
    const id = await send(trace);
    const first = await queue.claim({ leaseSeconds: 5 });
    expect(first).to.include({ id, ...trace });
    await queue.act('nack', first, { retry: true });
    await queue.claim({ leaseSeconds: 5 });
    await queue.world.at(Date.now() + 10_000);
    const third = await queue.claim();
    expect(third).to.include({ id, attempt: 3, ...trace });
    await queue.act('nack', third, { retry: false });
    await queue.world.mustPost(`/messages/${id}/requeue`, {}, { traceparent: someTrace() });
    const fourth = await queue.claim();
    expect(fourth).to.include({ id, ...trace });
    await queue.act('complete', fourth);
    expect(await view(id)).to.include({ state: 'ACKED', ...trace });
    expect(await queue.message(id)).to.include(trace);
    expect((await queue.world.get(`/ops/runs/${queue.scopeId}`)).body.messages[0]).to.include(trace);
    const found = await events(id);
    expect(found.map(({ type }) => type.replace('message.', ''))).to.deep.equal(
      'sent claimed retried claimed lease_expired retried claimed rejected requeued claimed acked'.split(' '),
    );
    for (const event of found) expect(event, event.type).to.include({ traceparent: trace.traceparent });
  });

  it('is null where none was sent, and of a message that was sent between traced ones', async () => {
    const ids = [await send({ traceparent: someTrace() }), await send({}), await send({ traceparent: someTrace() })];
    const { messages } = await queue.claim({ max: 3 });
    expect(
      messages.map(({ id }: { id: string }) => id),
      'first in, first out',
    ).to.deep.equal(ids);
    expect(messages[1]).to.include({ traceparent: null, tracestate: null });
    for (const { traceparent } of await events(ids[1] ?? '')) expect(traceparent).to.equal(null);
    const key = `${queue.world.prefix}:message:${ids[1]}`;
    const stored = await queue.world.service.store.hkeys(key);
    for (const field of ['traceparent', 'tracestate', 'place']) expect(stored).to.not.include(field);
    expect((await events(queue.id))[0]).to.include({ type: 'mailbox.created', traceparent: null });
  });

  it('is taken as W3C Trace Context allows: what is malformed is ignored, and a later version is written as this one', async () => {
    const [traceId, parentId] = [hex(32), hex(16)];
    const kept = (flags: string) => `00-${traceId}-${parentId}-${flags}`;
    const zeros = '0'.repeat(32);
    const sent: [given: string, kept: string | null][] = [
      [kept('00'), kept('00')],
      [kept('ff'), kept('ff')],
      [`01-${traceId}-${parentId}-ff`, kept('03')],
      [`cc-${traceId}-${parentId}-01-what-is-to-come`, kept('01')],
      [`cc-${traceId}-${parentId}-01.what-is-to-come`, null],
      [`ff-${traceId}-${parentId}-01`, null],
      [`${kept('01')}-more`, null],
      [`${kept('01')}, ${kept('01')}`, null],
      [kept('01').toUpperCase(), null],
      [`00-${zeros}-${parentId}-01`, null],
      [`00-${traceId}-${zeros.slice(16)}-01`, null],
      [`00-${traceId}-${parentId}`, null],
      ['', null],
      ['nothing', null],
    ];
    for (const [traceparent, expected] of sent)
      expect((await view(await send({ traceparent }))).traceparent, traceparent).to.equal(expected);
  });

  it('has its tracestate with it, up to 512 characters; one that is longer, malformed or alone is ignored', async () => {
    const traceparent = someTrace();
    const long = (length: number): string => `a=${'b'.repeat(250)},c=${'d'.repeat(length - 255)}`;
    const sent: [given: string, kept: string | null][] = [
      ['a=1', 'a=1'],
      [' a=1 ,, t@b=2 ', 'a=1,t@b=2'],
      [long(510), long(510)],
      [`${long(510)},e=f`, null],
      ['a', null],
      ['A=1', null],
      ['a=1,b=c=d', null],
      [Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(), null],
      ['', null],
    ];
    for (const [tracestate, expected] of sent)
      expect(await view(await send({ traceparent, tracestate })), tracestate).to.include({
        traceparent,
        tracestate: expected,
      });
    expect(await view(await send({ tracestate: 'a=1' }))).to.include({ traceparent: null, tracestate: null });
  });

  it('is that of the first: neither a workKey nor an Idempotency-Key sent again has another, or is refused for it', async () => {
    const first = { traceparent: someTrace() };
    const id = await send(first, { workKey: 'k' });
    expect(await send({ traceparent: someTrace() }, { workKey: 'k' })).to.equal(id);
    const key = { 'Idempotency-Key': randomUUID() };
    const again = await send({ ...key, ...first });
    expect(await send({ ...key, traceparent: someTrace(), tracestate: 'a=1' })).to.equal(again);
    for (const one of [id, again]) expect(await view(one)).to.include({ ...first, tracestate: null });
  });

  it('the trace of a complete is that of the result which it publishes, not of the message', async () => {
    const done = await Queue.create({}, queue.world);
    const [ofSend, ofComplete] = [someTrace(), { traceparent: someTrace(), tracestate: 'a=1' }];
    const id = await send({ traceparent: ofSend });
    const claim = await queue.claim();
    const result = { payload: 2, mailboxId: done.id, scopeId: queue.scopeId };
    await queue.world.mustPost(`/messages/${id}/complete`, { token: claim.token, result }, ofComplete);
    expect(await done.claim({ scopeId: queue.scopeId })).to.include({ payload: 2, ...ofComplete });
    expect(await view(id)).to.include({ state: 'ACKED', traceparent: ofSend });
    await send({ traceparent: ofSend });
    await queue.act('complete', await queue.claim(), { result });
    expect(await done.claim({ scopeId: queue.scopeId })).to.include({ traceparent: null, tracestate: null });
  });

  it('goes with priorities, keys, delays, prerequisites and groups', async () => {
    const trace = { traceparent: someTrace(), tracestate: 'a=1' };
    const low = await send({});
    const ids = [
      await send(trace, { priority: 9 }),
      await send(trace, { key: 'k' }),
      await send(trace, { after: [{ messageId: low }] }),
      await send(trace, { delaySeconds: 60 }),
    ];
    for (const id of ids) expect(await view(id)).to.include(trace);
    const { id: groupId } = await queue.world.mustPost('/task-groups', {
      mailboxId: queue.id,
      condition: 'ALL_TERMINAL',
    });
    const task = await queue.world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 't', input: 1 }, trace);
    expect(await view(task.messageId)).to.include({ groupId, ...trace });
    expect((await queue.record()).counts).to.include({ ready: 4, delayed: 1, blocked: 1 });
    const first = await queue.claim({ max: 10 });
    expect(first.messages.map(({ id }: { id: string }) => id)).to.deep.equal([ids[0], low, ids[1]]);
    await queue.world.at(Date.now() + 70_000);
    expect(await queue.claim({ scopeId: '*' })).to.include(trace);
  });

  it('the trace of a batch is that of all its calls; each message of a schedule has its own', async () => {
    const trace = { traceparent: someTrace(), tracestate: 'a=1' };
    const { id: mailboxId, scopeId } = queue;
    const calls = [1, 2].map((payload) => ({ call: 'message.send', mailboxId, scopeId, payload }));
    const { results } = await queue.world.mustPost('/batch', { calls }, trace);
    for (const { body } of results) expect(await view(body.id)).to.include(trace);

    const schedule = { name: 's', mailboxId, scopeId, payload: 3, everySeconds: 60 };
    const { id } = await queue.world.mustPost('/schedules', schedule, trace);
    const triggered = async (headers?: Record<string, string>): Promise<string> => {
      const { lastMessageId } = await queue.world.mustPost(`/schedules/${id}/trigger`, {}, headers);
      return (await view(lastMessageId)).traceparent;
    };
    expect(await triggered(trace)).to.equal(trace.traceparent);
    await queue.world.at(Date.now() + 61_000);
    await queue.world.service.schedules.drain(queue.world.org);
    const fired = await view((await queue.world.get(`/schedules/${id}`)).body.lastMessageId);
    const own = [await triggered(), await triggered(), fired.traceparent];
    for (const one of own) expect(one).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(new Set([...own, trace.traceparent])).to.have.property('size', 4);
  });

  for (const version of versions)
    it(`comes in _meta over MCP ${version}, or else in the header`, async () => {
      const ofHeader = someTrace();
      const fetch: typeof globalThis.fetch = (url, init) =>
        globalThis.fetch(url, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), traceparent: ofHeader },
        });
      const agent = await Agent.connect(queue.world, { version, fetch });
      const sent = async (_meta?: Record<string, unknown>, name = 'message_send', more = {}) => {
        const { content } = await agent.client.callTool({
          name,
          arguments: { mailboxId: queue.id, scopeId: queue.scopeId, payload: 1, ...more },
          ...(_meta && { _meta }),
        });
        return view(JSON.parse((content[0] as { text: string }).text).id);
      };
      const trace = { traceparent: someTrace(), tracestate: 'a=1' };
      expect(await sent(trace)).to.include(trace);
      expect(await sent(trace, 'message_send_and_wait', { waitSeconds: 0 })).to.include(trace);
      expect(await sent({ traceparent: 'no' })).to.include({ traceparent: ofHeader, tracestate: null });
      expect(await sent()).to.include({ traceparent: ofHeader });
      await agent.close();
    });
});

describe('The trace of an event', () => {
  const to = new Deliveries();
  it('is a header of its webhook, if it has one', async () => {
    const world: World = await to.ready();
    await to.register(world, ['mailbox.*', 'message.sent']);
    const { id } = await to.happen(world);
    const traceparent = someTrace();
    await world.mustPost(`/mailboxes/${id}/messages`, { scopeId: randomUUID(), payload: 1 }, { traceparent });
    await to.sink.got(2);
    const headers = Object.fromEntries(to.sink.received.map(({ body, headers }) => [body.type, headers]));
    expect(headers['message.sent']).to.include({ traceparent });
    expect(headers['mailbox.created']).to.not.have.property('traceparent');
    const { body } = to.sink.received.find((one) => one.body.type === 'message.sent') ?? {};
    expect(body.data).to.include({ traceparent });
  });
});
