import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import fc from 'fast-check';
import type { Route } from '../../../src/engine/route/route.ts';
import { createSpace } from '../../../src/primitives/org/admin.ts';
import { allRoutes } from '../../../src/primitives/primitives.ts';
import type { MusterService } from '../../../src/service.ts';
import { Commands } from '../../support/commands.ts';
import { spaceLimits } from '../../support/limits.ts';
import { Sink } from '../../support/sink.ts';
import { delivering } from '../../support/webhooks.ts';
import { allPermissions, type Reply, World } from '../../support/world.ts';
import { Document } from './document.ts';
import { type Draft, drafts } from './drafts.ts';
import { makeObjects, requestOf } from './objects.ts';
import { curlLine, type Request, sendRaw } from './wire.ts';

/** Objects wear out in use, and are renewed after this many requests. */
const renewEvery = 250;
const limiting = new Set(['RATE_LIMITED', 'PAYLOAD_TOO_LARGE', 'BACKLOG_FULL']);
/** Fields that a refused request may write in the records of its space and organization, as it counts for the rates. */
const rates = new Set(['usedRequests', 'usedRecovery', 'requestsMinute']);
const reading =
  /^(TIME|EXISTS|H?M?GET|HGETALL|HEXISTS|L(RANGE|LEN|INDEX|POS)|S(CARD|MEMBERS|M?ISMEMBER)|X(LEN|RANGE|REVRANGE|INFO)|Z(CARD|M?SCORE|RANK|REVRANK|COUNT|RANGE))$/;

export interface Outcome {
  readonly requests: number;
  /** Declared outcomes, and those that were seen: operation, status and code. */
  readonly declared: readonly string[];
  readonly seen: ReadonlySet<string>;
  /** Statuses by operation of a space. */
  readonly statuses: ReadonlyMap<string, ReadonlySet<number>>;
  /** Atomic batches that took effect, and batches refused because of one of their calls. */
  readonly atomic: { readonly done: number; readonly refused: number };
  /** Calls of a space that random requests left without a success or without a refusal. */
  readonly missed: readonly string[];
}

interface Options {
  /** The most requests of one operation that are sent in parallel. Left out: 1. */
  readonly together?: number;
  /** The name of the operation to call. Left out: all. */
  readonly only?: string;
  /** Whether each call that random requests missed is then sent once as it succeeds and once without a key. */
  readonly reachAll?: boolean;
}

/**
 * Sends requests generated from the service's own document, one by one or several of one operation in parallel. Throws
 * the smallest request that is answered wrongly, or that is refused but writes something (the latter only when sent one
 * by one).
 */
export async function fuzz(
  requests: number,
  seed: number,
  { together = 1, only, reachAll = false }: Options = {},
): Promise<Outcome> {
  const sink = await Sink.start();
  const resolve = async (name: string) => (name === 'sink.test' ? [{ address: '127.0.0.1', family: 4 }] : []);
  const service = await delivering({ resolve });
  const agent = new Agent({ keepAlive: true, maxSockets: together });
  const commands = together === 1 ? await Commands.hear(service.store) : undefined;
  try {
    const fuzzer = await Fuzzer.start(service, sink, agent, commands);
    const size = { minLength: 1, maxLength: together, size: 'max' } as const;
    const called = fuzzer.document.operations.filter(({ id }) => id === (only ?? id));
    const all = called.map((operation) => fc.array(drafts(operation), size));
    const property = fc.asyncProperty(fc.oneof(...all), (some) => fuzzer.send(some));
    // Bursts have half the maximum length on average; 5 % more make up for chance.
    const numRuns = together === 1 ? requests : Math.ceil((requests / ((1 + together) / 2)) * 1.05);
    await fc.assert(property, { numRuns, seed, includeErrorInReport: true });
    const missed = fuzzer.missed();
    if (reachAll) for (const route of missed) await fuzzer.reach(route);
    return fuzzer.outcome(missed.map(({ call }) => call));
  } finally {
    commands?.stop();
    agent.destroy();
    await service.stop();
    await sink.stop();
  }
}

const callerOf = (headers: Request['headers']): string | undefined =>
  headers.find(([name]) => name === 'Authorization')?.[1].replace(/^bearer +/i, '');

/** Whether a command inside a script only reads, or counts the request. */
function isOfRates([name = '', key = '', ...pairs]: readonly string[]): boolean {
  if (reading.test(name) || key.endsWith(':clock:ticks')) return true;
  return name === 'HSET' && pairs.every((field, index) => index % 2 === 1 || rates.has(field));
}

class Fuzzer {
  readonly document: Document;
  readonly #world: World;
  readonly #sink: Sink;
  readonly #agent: Agent;
  readonly #commands: Commands | undefined;
  readonly #fixed: Record<string, string>;
  #slots: Record<string, string> = {};
  #requests = 0;
  #renewAt = 0;
  readonly #seen = new Set<string>();
  readonly #statuses = new Map<string, Set<number>>();
  readonly #atomic = { done: 0, refused: 0 };

  private constructor(
    world: World,
    sink: Sink,
    agent: Agent,
    commands: Commands | undefined,
    document: Document,
    fixed: Record<string, string>,
  ) {
    this.#world = world;
    this.#sink = sink;
    this.#agent = agent;
    this.#commands = commands;
    this.document = document;
    this.#fixed = fixed;
  }

  static async start(service: MusterService, sink: Sink, agent: Agent, commands?: Commands): Promise<Fuzzer> {
    const world = await World.create({ on: service });
    const other = await World.create({ on: service });
    const { spaceId } = await createSpace(service, { org: world.org });
    const fixed = {
      spaceId: world.spaceId,
      apiKey: world.apiKey,
      reader: await world.key(['coordination_read']),
      limited: await world.key(allPermissions, [spaceId]),
      otherKey: other.apiKey,
      otherSpaceId: other.spaceId,
      url: `http://sink.test:${sink.port}/`,
    };
    return new Fuzzer(world, sink, agent, commands, await Document.fetch(world.url), fixed);
  }

  outcome(missed: readonly string[]): Outcome {
    const declared = this.document.pairs();
    const seen = new Set([...this.#seen].filter((pair) => declared.includes(pair)));
    return { requests: this.#requests, declared, seen, statuses: this.#statuses, atomic: this.#atomic, missed };
  }

  /** The routes that have not both succeeded and refused. */
  missed(): readonly Route[] {
    return allRoutes.filter(({ call }) => {
      const all = [...(this.#statuses.get(call) ?? [])];
      return !all.some((status) => status < 300) || !all.some((status) => status >= 400);
    });
  }

  /** Sends a request that the route accepts, on new objects, then the same request without a key. */
  async reach(route: Route): Promise<void> {
    await this.#renew();
    const { path, body } = requestOf(route, this.#slots);
    const caller = ['Authorization', `Bearer ${this.#fixed['apiKey']}`] as const;
    for (const by of [[caller], []])
      await this.#sendOne({
        method: route.method,
        target: `/v1/spaces/${this.#fixed['spaceId']}${path}`,
        headers: [...by, ['Content-Type', 'application/json'], ['Idempotency-Key', randomUUID()]],
        body: body === undefined ? undefined : Buffer.from(body),
      });
  }

  /** Sends drafts in parallel, with real values in their slots; throws if an answer is not as declared. */
  async send(some: readonly Draft[]): Promise<void> {
    if (this.#requests >= this.#renewAt) await this.#renew();
    this.#requests += some.length;
    const codes = await Promise.all(some.map((draft) => this.#sendOne(this.#filled(draft))));
    // Limits that a call has set would refuse nearly all later ones.
    if (codes.some((code) => limiting.has(code))) await this.#widen();
  }

  async #sendOne(request: Request): Promise<string> {
    try {
      const reply = await sendRaw(this.#world.url, this.#agent, request);
      this.document.check(request.method, request.target, reply);
      const limited = this.#checkResults(request, reply);
      if (reply.status >= 400) await this.#checkWrites(reply.headers.get('X-Request-Id') ?? '');
      const code = this.#note(request, reply);
      return limited ?? code;
    } catch (error) {
      throw new Error(`${(error as Error).message}\nas a request:\n${curlLine(this.#world.url, request)}\n`);
    }
  }

  /**
   * Checks that each result of a batch is possible for its single request and its caller; returns a code that limits.
   */
  #checkResults({ method, target, headers, body }: Request, reply: Reply): string | undefined {
    if (this.document.find(method, target)?.id !== 'batch') return undefined;
    if (reply.body?.error?.index !== undefined) this.#atomic.refused++;
    if (reply.status !== 200) return undefined;
    const { calls, atomic } = JSON.parse(String(body)) as { calls: { call: unknown }[]; atomic?: unknown };
    if (atomic === true) this.#atomic.done++;
    const isOwner = this.#isOwner(target, headers);
    const isReader = callerOf(headers) === this.#fixed['reader'];
    const codes: string[] = [];
    for (const [index, result] of reply.body.results.entries()) {
      const { call } = calls[index] ?? {};
      // A replay does not read again.
      const isUnread = atomic === true && result.replayed && result.body === null;
      if (!isUnread) this.document.checkResult(call, result, atomic === true);
      const mayRead = isReader && this.document.isRead(call);
      if (result.status < 300 && !isOwner && !mayRead) throw new Error(`a stranger got ${result.status} in a batch`);
      if (result.status === 401 || (result.status === 403 && isOwner))
        throw new Error(`the owner got ${result.status}`);
      codes.push(result.body?.error?.code ?? '');
    }
    return codes.find((code) => limiting.has(code));
  }

  /**
   * Throws if a refused request wrote something: refusals must come before the first write, as Redis has no rollback.
   */
  async #checkWrites(requestId: string): Promise<void> {
    const sent = (await this.#commands?.take()) ?? [];
    const ofRequest = sent.filter(({ words }) => words.some((word) => word.includes(`\\x00${requestId}\\x00`)));
    const written = ofRequest.flatMap(({ inside }) => inside).filter((words) => !isOfRates(words));
    if (written.length > 0) throw new Error(`it is refused, and wrote ${JSON.stringify(written)}`);
  }

  #filled({ method, target, headers, body, bytes }: Draft): Request {
    const fill = (text: string): string =>
      text
        .replaceAll(/⟨parentScopeId(\^?)⟩/g, '⟨scopeId$1⟩')
        .replaceAll('⟨request⟩', String(this.#requests))
        .replaceAll(/⟨(\w+)\^⟩/g, (_, name: string) => (this.#slots[name] ?? name).toUpperCase())
        .replaceAll(/⟨(\w+)⟩/g, (_, name: string) => this.#slots[name] ?? name);
    return {
      method,
      target: fill(target),
      headers: headers.map(([name, value]) => [name, fill(value)] as const),
      body: body === undefined ? undefined : Buffer.from(fill(body), bytes ? 'latin1' : 'utf8'),
    };
  }

  /** Records the outcome; throws if a caller got more than its key allows. */
  #note({ method, target, headers }: Request, { status, body }: Reply): string {
    const operation = this.document.find(method, target);
    const code: string | undefined = status < 400 ? undefined : body?.error.code;
    const isOwner = this.#isOwner(target, headers);
    const isRead = method === 'GET' || method === 'HEAD' || operation?.id === 'batch';
    const mayRead = callerOf(headers) === this.#fixed['reader'] && isRead;
    if (isOwner && (status === 401 || status === 403)) throw new Error(`the owner got ${status} ${code}`);
    // The list of spaces answers every key with its own.
    const isOfSpace = target.startsWith('/v1/spaces/');
    if (status < 300 && !isOwner && !mayRead && isOfSpace) throw new Error(`a stranger got ${status}`);
    if (operation) {
      this.#seen.add([operation.id, status, code].filter((part) => part !== undefined).join(' '));
      if (operation.path.includes('{spaceId}'))
        this.#statuses.set(operation.id, (this.#statuses.get(operation.id) ?? new Set()).add(status));
    }
    return code ?? '';
  }

  /** Whether the caller's key has every permission in the space of this target. */
  #isOwner(target: string, headers: Request['headers']): boolean {
    const { apiKey, otherKey, otherSpaceId } = this.#fixed;
    return callerOf(headers) === (target.startsWith(`/v1/spaces/${otherSpaceId}`) ? otherKey : apiKey);
  }

  async #widen(): Promise<void> {
    const none = Object.fromEntries(Object.keys(spaceLimits).map((name) => [name, null]));
    const limits = { ...none, requestsPerMinute: 100_000 };
    const { status, text } = await this.#world.call('PUT', '/limits', limits);
    if (status !== 200) throw new Error(`limits: ${text}`);
  }

  async #renew(): Promise<void> {
    this.#renewAt = this.#requests + renewEvery;
    await this.#widen();
    for (const { id } of (await this.#world.get('/destinations')).body.destinations)
      await this.#world.call('DELETE', `/destinations/${id}`);
    const objects = await makeObjects(this.#world, this.#sink);
    const cursor = (await this.#world.get('/events?limit=1')).body.nextCursor;
    this.#slots = { ...this.#fixed, ...objects, cursor };
  }
}
