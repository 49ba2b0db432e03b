import { Agent } from 'node:http';
import fc from 'fast-check';
import { createSpace } from '../../../src/org/admin.ts';
import { defaultLimits } from '../../../src/org/plans.ts';
import type { MusterService } from '../../../src/service.ts';
import { Sink } from '../../support/sink.ts';
import { delivering } from '../../support/webhooks.ts';
import { allPermissions, type Reply, World } from '../../support/world.ts';
import { Document } from './document.ts';
import { type Draft, drafts } from './drafts.ts';
import { makeObjects } from './objects.ts';
import { curlLine, type Request, sendRaw } from './wire.ts';

/** Objects wear out as they are used: so many requests, then new ones. */
const renewEvery = 250;

export interface Outcome {
  readonly requests: number;
  /** Declared outcomes, and those of them that were seen: operation, status and code. */
  readonly declared: readonly string[];
  readonly seen: ReadonlySet<string>;
  /** Statuses by operation of a space. */
  readonly statuses: ReadonlyMap<string, ReadonlySet<number>>;
}

/** Sends so many requests made from the service's own document; throws the smallest that is answered wrongly. */
export async function fuzz(numRuns: number, seed: number): Promise<Outcome> {
  const sink = await Sink.start();
  const resolve = async (name: string) => (name === 'sink.test' ? [{ address: '127.0.0.1', family: 4 }] : []);
  const service = await delivering({ resolve });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const fuzzer = await Fuzzer.start(service, sink, agent);
    const all = fuzzer.document.operations.map((operation) => drafts(operation));
    const property = fc.asyncProperty(fc.oneof(...all), (draft) => fuzzer.send(draft));
    await fc.assert(property, { numRuns, seed, includeErrorInReport: true });
    return fuzzer.outcome();
  } finally {
    agent.destroy();
    await service.stop();
    await sink.stop();
  }
}

class Fuzzer {
  readonly document: Document;
  readonly #world: World;
  readonly #sink: Sink;
  readonly #agent: Agent;
  readonly #fixed: Record<string, string>;
  #slots: Record<string, string> = {};
  #requests = 0;
  readonly #seen = new Set<string>();
  readonly #statuses = new Map<string, Set<number>>();

  private constructor(world: World, sink: Sink, agent: Agent, document: Document, fixed: Record<string, string>) {
    this.#world = world;
    this.#sink = sink;
    this.#agent = agent;
    this.document = document;
    this.#fixed = fixed;
  }

  static async start(service: MusterService, sink: Sink, agent: Agent): Promise<Fuzzer> {
    const world = await World.create({ on: service });
    const other = await World.create({ on: service });
    const { spaceId } = await createSpace(service, { org: world.org, limits: { ...defaultLimits } });
    const fixed = {
      spaceId: world.spaceId,
      apiKey: world.apiKey,
      reader: await world.key(['coordination_read']),
      limited: await world.key(allPermissions, [spaceId]),
      otherKey: other.apiKey,
      otherSpaceId: other.spaceId,
      url: `http://sink.test:${sink.port}/`,
    };
    return new Fuzzer(world, sink, agent, await Document.fetch(world.url), fixed);
  }

  outcome(): Outcome {
    const declared = this.document.pairs();
    const seen = new Set([...this.#seen].filter((pair) => declared.includes(pair)));
    return { requests: this.#requests, declared, seen, statuses: this.#statuses };
  }

  /** Sends a draft with real things in its slots; throws where the answer is not as declared. */
  async send(draft: Draft): Promise<void> {
    if (this.#requests++ % renewEvery === 0) await this.#renew();
    const request = this.#filled(draft);
    try {
      const reply = await sendRaw(this.#world.url, this.#agent, request);
      this.document.check(request.method, request.target, reply);
      await this.#note(request, reply);
    } catch (error) {
      throw new Error(`${(error as Error).message}\nas a request:\n${curlLine(this.#world.url, request)}\n`);
    }
  }

  #filled({ method, target, headers, body, bytes }: Draft): Request {
    const fill = (text: string): string =>
      text
        .replaceAll(/⟨parentScopeId(\^?)⟩/g, '⟨scopeId$1⟩')
        .replaceAll(/⟨(\w+)\^⟩/g, (_, name: string) => (this.#slots[name] ?? name).toUpperCase())
        .replaceAll(/⟨(\w+)⟩/g, (_, name: string) => this.#slots[name] ?? name);
    return {
      method,
      target: fill(target),
      headers: headers.map(([name, value]) => [name, fill(value)] as const),
      body: body === undefined ? undefined : Buffer.from(fill(body), bytes ? 'latin1' : 'utf8'),
    };
  }

  async #note({ method, target }: Request, { status, body }: Reply): Promise<void> {
    const operation = this.document.find(method, target);
    const code: string | undefined = status < 400 ? undefined : body?.error.code;
    if (operation) {
      this.#seen.add([operation.id, status, code].filter((part) => part !== undefined).join(' '));
      if (operation.path.includes('{spaceId}'))
        this.#statuses.set(operation.id, (this.#statuses.get(operation.id) ?? new Set()).add(status));
    }
    // What a call has limited would refuse nearly all that follow it.
    if (code === 'RATE_LIMITED' || code === 'PAYLOAD_TOO_LARGE' || code === 'BACKLOG_FULL') await this.#widen();
  }

  async #widen(): Promise<void> {
    const none = { maxBacklog: null, maxPayloadBytes: null, maxLeaseSeconds: null, maxPendingWaiters: null };
    const limits = { requestsPerMinute: 100_000, maxArmedTimers: null, ...none };
    const { status, text } = await this.#world.call('PUT', '/limits', limits);
    if (status !== 200) throw new Error(`limits: ${text}`);
  }

  async #renew(): Promise<void> {
    await this.#widen();
    for (const { id } of (await this.#world.get('/destinations')).body.destinations)
      await this.#world.call('DELETE', `/destinations/${id}`);
    const objects = await makeObjects(this.#world, this.#sink);
    const cursor = (await this.#world.get('/events?limit=1')).body.nextCursor;
    this.#slots = { ...this.#fixed, ...objects, cursor };
  }
}
