import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { expect } from 'chai';
import type { World } from './world.ts';

interface Event {
  readonly eventId: string;
  readonly type: string;
  readonly aggregate: string;
  readonly aggregateId: string;
  readonly scopeId: string | null;
}

interface Filter {
  readonly query: string;
  readonly wants: (event: Event) => boolean;
}

/** A watcher: its cursor and the events it has received, without duplicate eventIds. */
class Watcher {
  readonly filter: Filter;
  readonly heard: string[] = [];
  cursor: string;
  polls = 0;
  disconnects = 0;

  constructor(filter: Filter, cursor: string) {
    this.filter = filter;
    this.cursor = cursor;
  }
}

/** Many watchers of one space that disconnect at random, and a writer. */
export class Watching {
  readonly watchers: readonly Watcher[];
  readonly #world: World;
  readonly #start: string;
  readonly #events: number;
  readonly #mailboxes: readonly string[];
  readonly #scopes: readonly string[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #running: Promise<void>[] = [];
  readonly #disconnectShare: number;
  #last: string | undefined;
  #isStopped = false;

  private constructor(
    world: World,
    start: string,
    filters: readonly Filter[],
    options: { watchers: number; events: number; disconnects?: number },
    mailboxes: readonly string[],
    scopes: readonly string[],
  ) {
    this.#world = world;
    this.#start = start;
    this.#events = options.events;
    this.#disconnectShare = options.disconnects ?? 0.1;
    this.#mailboxes = mailboxes;
    this.#scopes = scopes;
    this.watchers = Array.from({ length: options.watchers }, (_, i) => new Watcher(at(filters, i), start));
  }

  static async start(
    world: World,
    options: { watchers: number; events: number; disconnects?: number },
  ): Promise<Watching> {
    const mailboxes: string[] = [];
    for (let i = 0; i < 2; i++)
      mailboxes.push((await world.mustPost('/mailboxes', { name: `m${i}`, backlogLimit: 100_000 })).id);
    const scopes = Array.from({ length: 5 }, () => randomUUID());
    const { nextCursor } = (await world.get('/watch?cursor=latest')).body;
    const [scope = '', otherScope = ''] = scopes;
    const filters: Filter[] = [
      { query: '', wants: () => true },
      { query: 'types=message.sent', wants: (event) => event.type === 'message.sent' },
      {
        query: 'types=message.claimed,scope.*',
        wants: ({ type }) => type === 'message.claimed' || type === 'scope.created',
      },
      { query: 'aggregate=scope,budget', wants: ({ aggregate }) => aggregate === 'scope' },
      {
        query: `aggregate=scope:${scope}`,
        wants: (event) => event.aggregate === 'scope' && event.aggregateId === scope,
      },
      { query: `scopeId=${scope}`, wants: ({ scopeId }) => scopeId === scope },
      {
        query: `scopeId=${otherScope}&types=message.*&limit=20`,
        wants: (event) => event.scopeId === otherScope && event.aggregate === 'message',
      },
      { query: 'types=budget.*', wants: () => false },
    ];
    const watching = new Watching(world, nextCursor, filters, options, mailboxes, scopes);
    for (const watcher of watching.watchers) watching.#running.push(watching.#run(watcher));
    return watching;
  }

  /** Sends and receives messages until there are at least as many events as requested. */
  async produce(): Promise<void> {
    let count = this.#scopes.length;
    while (count < this.#events && !this.#isStopped) {
      const batch = Array.from({ length: 50 }, (_, i) => this.#message(count + i));
      for (const events of await Promise.all(batch)) count += events;
    }
    this.#last = (await this.#all()).at(-1)?.eventId;
  }

  async #message(n: number): Promise<number> {
    const mailbox = at(this.#mailboxes, n);
    const scopeId = at(this.#scopes, Math.floor(n / 2));
    await this.#world.mustPost(`/mailboxes/${mailbox}/messages`, { scopeId, payload: n });
    if (n % 3) return 1;
    const reply = await this.#world.post(`/mailboxes/${mailbox}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    return reply.status === 200 ? 2 : 1;
  }

  /** Waits until every watcher is at the end. Each must then have exactly the matching events, in order. */
  async finish(): Promise<void> {
    await Promise.all(this.#running);
    this.#agent.destroy();
    const all = await this.#all();
    expect(all.length).to.be.at.least(this.#events);
    for (const { filter, heard } of this.watchers) {
      const wanted = all.filter(filter.wants).map((event) => event.eventId);
      expect(heard, filter.query).to.deep.equal(wanted);
    }
  }

  async #all(): Promise<Event[]> {
    const all: Event[] = [];
    for (let cursor = this.#start; ; ) {
      const { body } = await this.#world.get(`/events?limit=500&cursor=${cursor}`);
      if (body.events.length === 0) return all;
      all.push(...body.events);
      cursor = body.nextCursor;
    }
  }

  /** Ends the watches in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#agent.destroy();
    await Promise.all(this.#running);
  }

  async #run(watcher: Watcher): Promise<void> {
    while (!this.#isStopped) {
      const done = this.#last !== undefined;
      const page = await this.#poll(watcher, done ? 0 : 1);
      if (!page) continue;
      for (const { eventId } of page.events) if ((watcher.heard.at(-1) ?? '') !== eventId) watcher.heard.push(eventId);
      if (done && page.nextCursor === watcher.cursor) return;
      watcher.cursor = page.nextCursor;
    }
  }

  /** One page; undefined if the watcher lost its connection, after which it continues from its old cursor. */
  async #poll(watcher: Watcher, waitSeconds: number): Promise<{ events: Event[]; nextCursor: string } | undefined> {
    const query = `${watcher.filter.query}${watcher.filter.query && '&'}cursor=${watcher.cursor}&waitSeconds=${waitSeconds}`;
    const { url, spaceId, apiKey } = this.#world;
    const lose = Math.random() < this.#disconnectShare ? Math.random() * 50 : undefined;
    watcher.polls++;
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, headers: { Authorization: `Bearer ${apiKey}` } };
      const outgoing = request(`${url}/v1/spaces/${spaceId}/watch?${query}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          if (response.statusCode !== 200) reject(new Error(Buffer.concat(chunks).toString()));
          else resolve(JSON.parse(Buffer.concat(chunks).toString()));
        });
        response.on('error', () => resolve(undefined));
      });
      outgoing.on('error', () => {
        watcher.disconnects++;
        resolve(undefined);
      });
      if (lose !== undefined) setTimeout(() => outgoing.destroy(), lose);
      outgoing.end();
    });
  }
}

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}
