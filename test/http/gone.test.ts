import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { channelOf } from '../../src/primitives/space/keys.ts';
import { startService } from '../../src/service.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { isLong } from '../support/long.ts';
import { slowProxy } from '../support/slow-proxy.ts';
import { redisUrl } from '../support/store.ts';
import { overrides, World } from '../support/world.ts';

/** Moments of a disconnect, as many turns of the event loop after each other. */
const moments = isLong ? 200 : 40;
const turnsBetween = 200 / moments;
const stages = ['mailbox/send begins', 'mailbox/send ends', 'mailbox/recv begins', 'mailbox/recv ends'];
const lanes = 20;

/** A caller with a connection of its own, which hears everything that is written there. */
class Caller {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  text = '';
  readonly #world: World;

  constructor(world: World, port = Number(new URL(world.url).port)) {
    this.#world = world;
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.socket.setEncoding('utf8').on('data', (piece) => {
      this.text += piece;
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.socket.once('end', () => this.socket.end());
      this.socket.once('close', () => resolve());
    });
  }

  /** Sends a request without waiting for its answer. */
  post(path: string, body: object, headers: readonly string[] = []): void {
    const { apiKey, spaceId } = this.#world;
    const text = JSON.stringify(body);
    const head = [
      `POST /v1/spaces/${spaceId}${path} HTTP/1.1`,
      'Host: muster',
      `Authorization: Bearer ${apiKey}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      ...headers,
    ];
    this.socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  }

  /** The claim in the only answer; undefined if no message was answered. */
  get claim(): { id: string; token: string; attempt: number } | undefined {
    const body = /\r\n\r\n(\{.*)$/s.exec(this.text)?.[1];
    return body === undefined ? undefined : JSON.parse(body);
  }
}

const fields = (queue: Queue, more: object = {}) => ({
  ...{ scopeId: queue.scopeId, holder: 'gone', holderSession: 's' },
  ...more,
});
const mcp = ['Accept: application/json, text/event-stream', 'MCP-Protocol-Version: 2025-03-26'];
const tool = (name: string, args: object, id = 1) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name, arguments: args },
});
/** Requests that claim the three messages of a queue. */
const ways: Record<string, (queue: Queue) => { path: string; body: object; headers?: readonly string[] }> = {
  'with max': (queue) => ({ path: `/mailboxes/${queue.id}/recv`, body: fields(queue, { max: 3 }) }),
  'in a batch': (queue) => ({
    path: '/batch',
    body: {
      calls: [{ max: 1 }, {}, { max: 2 }].map((more) => ({
        ...{ call: 'message.recv', mailboxId: queue.id },
        ...fields(queue, more),
      })),
    },
  }),
  'over MCP': (queue) => ({
    path: '/mcp',
    body: tool('message_recv', { mailboxId: queue.id, ...fields(queue, { max: 3 }) }),
    headers: mcp,
  }),
  'in a list of messages over MCP': (queue) => ({
    path: '/mcp',
    body: [1, 2, 3].map((id) => tool('message_recv', { mailboxId: queue.id, ...fields(queue) }, id)),
    headers: mcp,
  }),
  'in a batch over MCP': (queue) => ({
    path: '/mcp',
    body: tool('batch', {
      calls: [1, 2, 3].map(() => ({ call: 'message.recv', mailboxId: queue.id, ...fields(queue) })),
    }),
    headers: mcp,
  }),
};

describe('A claim whose caller has disconnected before the answer was written', () => {
  let world: World;
  before(async () => {
    world = await World.create();
  });
  /** Resolves once these messages are in that state. */
  async function all(queue: Queue, ids: readonly string[], state: string): Promise<void> {
    for (;;) {
      const { messages } = (await queue.list('?limit=200')).body;
      const reached = messages.filter(
        (one: { id: string; state: string }) => ids.includes(one.id) && one.state === state,
      );
      if (reached.length === ids.length) return;
      await sleep(5);
    }
  }
  /** A connection on which no answer can be written, as that of its first request is still to come. */
  async function blocked(on: World): Promise<Caller> {
    const empty = await Queue.create({ name: 'empty' }, on);
    const caller = new Caller(on);
    caller.post(`/mailboxes/${empty.id}/recv`, fields(empty, { waitSeconds: 30 }));
    return caller;
  }
  async function expectBack(queue: Queue, ids: readonly string[]): Promise<void> {
    await all(queue, ids, 'READY');
    for (const id of ids) {
      expect(await queue.message(id)).to.include({ state: 'READY', attempts: 0, holder: null, lastError: null });
      const { body } = await queue.world.get(`/messages/${id}/attempts`);
      expect(body.attempts).to.have.length(1);
      expect(body.attempts[0]).to.include({ outcome: 'UNTRIED', holder: 'gone' });
    }
    for (const _ of ids) expect(await queue.claim()).to.include({ attempt: 1 });
  }

  async function isHeld(queue: Queue): Promise<boolean> {
    const { receives } = await world.service.wake.receives(channelOf(world.org, world.spaceId), `${queue.id}/`);
    return receives.length > 0;
  }
  /** Resolves with what became of a message: the caller heard of its claim, it was given back, or nobody claimed it. */
  async function outcomeOf(queue: Queue, id: string, { claim }: Caller): Promise<'heard' | 'returned' | 'unclaimed'> {
    const { attempts } = (await queue.world.get(`/messages/${id}/attempts`)).body;
    const known = claim ?? (await queue.claim({ waitSeconds: 20 }));
    expect(known).to.include({ id, attempt: 1 });
    expect((await queue.act('complete', known)).status).to.equal(200);
    if (claim) return 'heard';
    return attempts.length > 0 ? 'returned' : 'unclaimed';
  }

  it('is free again, untried, whenever during a send the connection closes', async () => {
    const queue = await Queue.create({}, world);
    const { scripts, wake } = world.service;
    const { around } = scripts;
    const outcomes = { heard: 0, returned: 0, unclaimed: 0 };
    let reached: (stage: string) => void = () => undefined;
    scripts.around = async (name, run) => {
      reached(`${name} begins`);
      const reply = await run();
      reached(`${name} ends`);
      return reply;
    };
    try {
      // On a busy machine the first moments may all miss.
      for (let look = 0; look < moments || outcomes.returned === 0; look++) {
        const moment = look % moments;
        const caller = new Caller(world);
        caller.post(`/mailboxes/${queue.id}/recv`, fields(queue, { waitSeconds: 30 }));
        while (wake.size === 0) await turn();
        const stage = stages[moment % stages.length];
        reached = async (at) => {
          if (at !== stage) return;
          reached = () => undefined;
          for (let turns = 0; turns < (moment * turnsBetween) / stages.length; turns += 4) await turn();
          caller.socket.end();
        };
        const id = await queue.sent();
        await caller.closed;
        outcomes[await outcomeOf(queue, id, caller)]++;
      }
    } finally {
      scripts.around = around;
    }
    expect(outcomes.returned).to.be.above(0);
  });

  it('is free again, untried, whenever the connection closes around a send, behind a proxy of 30 ms', async () => {
    const proxy = await slowProxy(world.url, 30);
    const port = Number(new URL(proxy.url).port);
    const outcomes = { heard: 0, returned: 0, unclaimed: 0 };
    try {
      await Promise.all(
        Array.from({ length: lanes }, async (_, lane) => {
          const queue = await Queue.create({}, world);
          for (let look = lane; look < moments || outcomes.returned === 0; look += lanes) {
            const moment = look % moments;
            const [caller, sender] = [new Caller(world, port), new Caller(world, port)];
            caller.post(`/mailboxes/${queue.id}/recv`, fields(queue, { waitSeconds: 30 }));
            while (!(await isHeld(queue))) await sleep(1);
            sender.post(`/mailboxes/${queue.id}/messages`, { scopeId: queue.scopeId, payload: 1 }, [
              'Connection: close',
              `Idempotency-Key: ${randomUUID()}`,
            ]);
            for (let turns = 0; turns < moment * turnsBetween; turns += 8) await turn();
            caller.socket.end();
            await Promise.all([caller.closed, sender.closed]);
            const { id } = JSON.parse(/\{.*$/s.exec(sender.text)?.[0] ?? '');
            outcomes[await outcomeOf(queue, id, caller)]++;
          }
        }),
      );
    } finally {
      proxy.close();
    }
    expect(outcomes.returned).to.be.above(0);
  });
  for (const [what, call] of Object.entries(ways))
    it(`goes back whole if it was made ${what}, while the answer waited behind that of an earlier request`, async () => {
      const queue = await Queue.create({}, world);
      const ids = [await queue.sent(), await queue.sent(), await queue.sent()];
      const caller = await blocked(world);
      const { path, body, headers } = call(queue);
      caller.post(path, body, headers);
      await all(queue, ids, 'CLAIMED');
      caller.socket.destroy();
      await expectBack(queue, ids);
    });

  it('is free before the process has stopped', async () => {
    const service = await startService({
      ...{ redisUrl: await redisUrl(), role: 'api', host: '127.0.0.1', port: 0 },
      ...{ log: pino({ level: 'silent' }), overrides },
    });
    const stopping = new World(service, world.org, world.spaceId, world.apiKey);
    const queue = await Queue.create({}, world);
    const id = await queue.sent();
    const caller = await blocked(stopping);
    caller.post(`/mailboxes/${queue.id}/recv`, fields(queue));
    await all(queue, [id], 'CLAIMED');
    const begun = new Promise<void>((resolve) => {
      service.scripts.around = async (name, run) => {
        if (name !== 'mailbox/giveBack') return run();
        resolve();
        // The stop begins meanwhile.
        await sleep(50);
        return run();
      };
    });
    caller.socket.destroy();
    await begun;
    await service.stop();
    expect(await queue.message(id)).to.include({ state: 'READY', attempts: 0 });
  });

  it('stays until its lease ends if the answer was written, since it may have arrived', async () => {
    const queue = await Queue.create({}, world);
    const id = await queue.sent();
    const caller = new Caller(world);
    caller.post(`/mailboxes/${queue.id}/recv`, fields(queue));
    while (!caller.claim) await turn();
    caller.socket.destroy();
    await caller.closed;
    expect((await queue.recv()).status).to.equal(204);
    expect(await queue.message(id)).to.include({ state: 'CLAIMED', attempts: 1, holder: 'gone' });
  });
});
