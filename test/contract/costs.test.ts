import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import type { Overrides } from '../../src/engine/library/loader.ts';
import type { Route } from '../../src/engine/route/route.ts';
import { allRoutes } from '../../src/primitives/primitives.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { makeObjects, type Objects, requestOf } from '../attack/support/objects.ts';
import { Commands, type Sent } from '../support/commands.ts';
import { OwnStore } from '../support/own-store.ts';
import { Sink } from '../support/sink.ts';
import { delivering } from '../support/webhooks.ts';
import { overrides, World } from '../support/world.ts';

/**
 * Routes that need more, and why. Due timers are swept first, by a separate run, and the call is then repeated; a held
 * request looks again when it is woken, and a filtered watch reads several pages: none of the requests here does that.
 */
const more: Readonly<Record<string, readonly string[]>> = {
  // The name is resolved between the two; then the space is added to the workers' index.
  'destination.create': [
    'FCALL webhook_create',
    'FCALL webhook_create',
    'SADD muster:outbox',
    'SPUBLISH muster:outbox',
  ],
  'destination.update': ['FCALL webhook_update', 'FCALL webhook_update'],
  // The next moment of a cron expression is computed between the two.
  'schedule.create': ['FCALL schedule_create', 'FCALL schedule_create'],
  'schedule.update': ['FCALL schedule_update', 'FCALL schedule_update'],
  // The processes that hold receives are asked, and answer on a channel made for it.
  'receivers.get': ['FCALL mailbox_receivers', 'SSUBSCRIBE', 'SPUBLISH', 'SUNSUBSCRIBE'],
  // The processes that hold receives are told.
  'mailbox.leave': ['FCALL mailbox_leave', 'SPUBLISH'],
  // The workers are told.
  'destination.deliver': ['FCALL webhook_deliver', 'SPUBLISH muster:outbox'],
  // The attempt is between the two; after a success, other deliveries may be due.
  'destination.test': ['FCALL webhook_send', 'FCALL webhook_send', 'SPUBLISH muster:outbox'],
  'delivery.redeliver': ['FCALL webhook_send', 'FCALL webhook_send', 'SPUBLISH muster:outbox'],
  // Whether it is refused as a whole is known before any of its calls begins.
  batch: ['FCALL space_admit', 'FCALL barrier_cancel'],
};
/** After the answer: announces a timer that is the organization's earliest to the workers' index. */
const announcements = ['ZADD muster:due', 'SPUBLISH muster:due'];

/** Calls whose answer is as long as there are records, up to a page. */
const isPage = ({ call }: Route): boolean =>
  /\.list$/.test(call) || ['budget.view', 'message.find', 'waits.get', 'run.view'].includes(call);
const inOrder = allRoutes.toSorted((one, next) => Number(one.method === 'DELETE') - Number(next.method === 'DELETE'));

/** An API without workers, all of whose commands are monitored. */
class HeardApi {
  readonly world: World;
  commands: Commands;
  readonly #service: MusterService;

  private constructor(service: MusterService, world: World, commands: Commands) {
    this.#service = service;
    this.world = world;
    this.commands = commands;
  }

  static async start(redisUrl: string, { org, spaceId, apiKey }: World, overrides: Overrides): Promise<HeardApi> {
    const log = pino({ level: 'silent' });
    const rest = { host: '127.0.0.1', port: 0, webhookAllowPrivate: true, overrides };
    const service = await startService({ redisUrl, role: 'api', log, ...rest });
    await service.scripts.load();
    const world = new World(service, org, spaceId, apiKey);
    return new HeardApi(service, world, await Commands.hear(service.store));
  }

  /** The status of a request, and what the service sent to the store for it. */
  async ask(route: Route, objects: Objects, headers: Record<string, string> = {}): Promise<[number, Sent[]]> {
    const { path, body } = requestOf(route, objects);
    const all = { Authorization: `Bearer ${this.world.apiKey}`, 'Idempotency-Key': randomUUID(), ...headers };
    const typed = { 'Content-Type': 'application/json', ...all };
    const { status } = await this.world.send(route.method, `/v1/spaces/${this.world.spaceId}${path}`, body, typed);
    await this.#service.due.flush();
    return [status, await this.commands.take()];
  }

  /** Does something that is not monitored: each line of it costs more than its command. */
  async unheard(work: () => Promise<void>): Promise<void> {
    this.commands.stop();
    await work();
    this.commands = await Commands.hear(this.#service.store);
  }

  async stop(): Promise<void> {
    this.commands.stop();
    await this.#service.stop();
  }
}

describe('What a request costs the store', () => {
  let ownStore: OwnStore;
  let sink: Sink;
  let world: World;
  let objects: Objects[];
  /** A new one for each test, so that commands which a timed-out test still sends are not counted. */
  let heard: HeardApi;

  before(async () => {
    ownStore = await OwnStore.start();
    sink = await Sink.start();
    const worker = await delivering({ redisUrl: ownStore.url });
    world = await World.create({ on: worker });
    objects = [await makeObjects(world, sink), await makeObjects(world, sink), await makeObjects(world, sink)];
    // Nothing falls due between the requests, however long they take.
    await world.at(Date.now());
    await worker.stop();
  });
  after(async () => {
    await sink.stop();
    await ownStore.stop();
  });
  beforeEach(async () => {
    heard = await HeardApi.start(ownStore.url, world, overrides);
  });
  afterEach(() => heard.stop());

  /** Reads of the store's clock, or of the test clock. */
  const isLook = ([name = '', key = '']: readonly string[]): boolean =>
    name === 'TIME' || (name === 'GET' && key.endsWith(':clock'));

  const isWrite = /^(HSET|HDEL|HINCRBY|ZADD|ZREM|SADD|SREM|RPUSH|LPUSH|LTRIM|SPUBLISH)$/;

  /** Commands and their keys, except those after the answer. */
  function trips(sent: readonly Sent[]): string[] {
    for (const { words, inside } of sent.filter(({ words }) => words[0] === 'FCALL')) {
      expect(inside.filter(isLook).length, `${words[1]} reads the clock`).to.equal(1);
      const writes = inside.filter(([name = '']) => isWrite.test(name)).map(([name, key]) => `${name} ${key}`);
      expect(writes, `${words[1]} writes each key once`).to.deep.equal([...new Set(writes)]);
    }
    const named = sent.map(({ words }) =>
      words
        .slice(0, 2)
        .join(' ')
        .replace(/_[0-9a-f]{8}$| muster:\{.*$/, ''),
    );
    return named.filter((text) => !announcements.includes(text));
  }

  it('does not depend on the size of the store; a page costs by its length', async () => {
    const api = heard;
    const count = async (of: Objects): Promise<Map<string, [status: number, commands: number]>> => {
      const counts = new Map<string, [number, number]>();
      for (const route of inOrder.filter(({ method }) => method !== 'DELETE')) {
        const [status, sent] = await api.ask(route, { ...of, name: randomUUID(), taskKey: randomUUID() });
        counts.set(route.call, [status, sent.reduce((sum, { inside }) => sum + inside.length, 0)]);
      }
      return counts;
    };
    const [first = {}, second = {}] = objects;
    const few = await count(first);
    const { scopeId, mailboxId, budgetId, reservationId, allowanceId } = second;
    const holder = { scopeId, holder: 'h' };
    const filling = [
      { call: 'message.send', mailboxId, scopeId, payload: 1 },
      { call: 'budget.reserve', budgetId, ...holder, amountMinor: '1' },
      { call: 'budget.settle', budgetId, reservationId, amountMinor: '1' },
      { call: 'allowance.consume', allowanceId, ...holder, units: 1 },
      { call: 'barrier.create', scopeId, target: 3 },
      { call: 'mailbox.create', name: 'jobs' },
      { call: 'group.create', mailboxId, condition: 'ALL_TERMINAL' },
    ];
    await api.unheard(async () => {
      for (const call of filling)
        for (const first of [0, 100]) {
          const key = (n: number) => (call.call === 'budget.settle' ? { workKey: `${first + n}` } : {});
          const calls = Array.from({ length: 100 }, (_, n) => ({ ...call, ...key(n) }));
          const { results } = await api.world.mustPost('/batch', { calls });
          expect(results.filter(({ status }: { status: number }) => status >= 300)).to.deep.equal([]);
        }
    });
    const many = await count(second);
    for (const route of inOrder.filter(({ method }) => method !== 'DELETE')) {
      const [[status = 0, before = 0] = [], [again, after = 0] = []] = [few.get(route.call), many.get(route.call)];
      expect(again, route.call).to.equal(status);
      // One more for a second entry of its kind. The backlog reads at most 16 queues and 20 destinations.
      const maxCommands = isPage(route) ? 1000 : before + (route.call === 'backlog.get' ? 100 : 1);
      expect(after, route.call).to.be.within(1, maxCommands);
    }
  });

  it('is one round trip and one read of the clock on every route, except those listed with a reason', async () => {
    const api = heard;
    const needed: Record<string, readonly string[]> = {};
    for (const route of inOrder) {
      const values = { ...objects[2], url: `${sink.url}/${route.call}` };
      const once = [`FCALL ${route.script.replace('/', '_')}`];
      const key = { 'Idempotency-Key': randomUUID() };
      for (const headers of [key, key, {}]) {
        const [status, sent] = await api.ask(route, values, headers);
        const found = trips(sent);
        if (status < 300 && found.length > 1) needed[route.call] = found;
        else expect(found, `${route.call} ${status}`).to.deep.equal(once);
      }
      const [status, sent] = await api.ask(route, values, {
        Authorization: `Bearer mk_${world.org}_${'x'.repeat(43)}`,
      });
      expect([status, trips(sent)], route.call).to.deep.equal([401, once]);
    }
    expect(needed).to.deep.equal(more);
  });

  it('reading the clock is one command without the test clock', async () => {
    const api = await HeardApi.start(ownStore.url, world, {});
    try {
      for (const route of inOrder.filter(({ call }) => call === 'message.send' || call === 'mailbox.list')) {
        const [status, sent] = await api.ask(route, objects[2] ?? {});
        expect(status, route.call).to.be.below(300);
        for (const { words, inside } of sent.filter(({ words }) => words[0] === 'FCALL'))
          expect(inside.filter(isLook), words[1]).to.deep.equal([['TIME']]);
      }
    } finally {
      await api.stop();
    }
  });
});
