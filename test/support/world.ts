import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { libraryOf } from '../../src/engine/library/library.ts';
import {
  createKey,
  createOrganization,
  createSpace,
  listKeys,
  type NewKey,
  type PlanChoice,
} from '../../src/primitives/org/admin.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
import type { LimitValues } from '../../src/primitives/space/limits.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { checkDeclared } from './declared.ts';
import { dirt } from './dirt.ts';
import { exchange } from './exchange.ts';
import { lookLast, redisUrl } from './store.ts';

export const clockFile = fileURLToPath(new URL('clock.lua', import.meta.url));

/** The test clock, and a guard against scripts that write directly or read what their run has changed. */
export const overrides = {
  'lib/clock': clockFile,
  'lib/query': fileURLToPath(new URL('guard.lua', import.meta.url)),
};
export const allPermissions = [
  ...['coordination_read', 'coordination_write', 'resource_config', 'resource_spend', 'key_admin'],
];

/** An answer as seen by a client. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

/** `404 BUDGET_NOT_FOUND`, or just the status of a success. */
export const codeOf = ({ status, body }: Reply): string =>
  body?.error === undefined ? `${status}` : `${status} ${body.error.code}`;

/** A promise, so that concurrent tests start only one. */
let service: Promise<MusterService> | undefined;

async function start(): Promise<MusterService> {
  const starting = redisUrl();
  starting.catch(() => undefined);
  // Built meanwhile, as a new cluster accepts no writes for two seconds.
  libraryOf(luaNames, overrides);
  return startService({
    redisUrl: await starting,
    role: 'api',
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'silent' }),
    // No test names an address outside this machine.
    webhookAllowPrivate: true,
    overrides,
  });
}

/** The API of this test run, on the test clock and without a sweeper, so only calls fire due timers. */
export async function api(): Promise<MusterService> {
  service ??= start();
  return service;
}

export async function stopService(): Promise<void> {
  await (await service)?.stop();
  service = undefined;
}

lookLast(async (url, known) => {
  await stopService();
  return dirt(url, known);
});

/** An organization with one space and one key, and a client for them. */
export class World {
  readonly service: MusterService;
  readonly org: string;
  readonly spaceId: string;
  readonly apiKey: string;
  readonly url: string;
  readonly spaceNumber: string;
  /** The prefix of the space's keys, except the key of its record. */
  readonly prefix: string;

  /** spaceNumber: by default 1, the organization's first space. */
  constructor(running: MusterService, org: string, spaceId: string, apiKey: string, spaceNumber = '1') {
    this.service = running;
    this.org = org;
    this.spaceId = spaceId;
    this.apiKey = apiKey;
    this.url = running.url ?? '';
    this.spaceNumber = spaceNumber;
    this.prefix = `muster:{${org}}:${spaceNumber}`;
  }

  static async create(choice: Partial<PlanChoice> & { limits?: LimitValues; on?: MusterService } = {}): Promise<World> {
    const running = choice.on ?? (await api());
    const org = choice.org ?? `t-${randomUUID().slice(0, 13)}`;
    await createOrganization(running, { plan: 'enterprise', ...choice, org });
    const space = await createSpace(running, {
      org,
      limits: { requestsPerMinute: 100_000, ...choice.limits },
    });
    const key = await createKey(running, { org, permissions: allPermissions });
    return new World(running, org, space.spaceId, key.apiKey);
  }

  /** Another space of the organization, with the same key. By default it has the limits of a new space. */
  async anotherSpace(limits?: LimitValues): Promise<World> {
    const { spaceId } = await createSpace(this.service, { org: this.org, ...(limits && { limits }) });
    const spaceNumber = await this.service.store.hget(`muster:{${this.org}}:${spaceId}`, 'number');
    return new World(this.service, this.org, spaceId, this.apiKey, spaceNumber ?? '');
  }

  /** The id of its own key, which events name as their actor. */
  async keyId(): Promise<string | undefined> {
    return (await listKeys(this.service, this.org))[0]?.keyId;
  }

  /** Creates a key with other permissions, spaces or limits. */
  async key(permissions: string[], spaces?: string[], limits: Partial<NewKey> = {}): Promise<string> {
    const key = { org: this.org, permissions, ...(spaces !== undefined && { spaces }), ...limits };
    return (await createKey(this.service, key)).apiKey;
  }

  /** Sends exactly these bytes. Throws if the answer is not what its route declares. */
  async send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Reply> {
    const answer = await exchange(method, `${this.url}${path}`, headers, body);
    const reply: Reply = { ...answer, body: answer.text === '' ? undefined : JSON.parse(answer.text) };
    checkDeclared(method, path, reply);
    return reply;
  }

  /** A request as a well-behaved client sends it. path: below the space. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const allHeaders: Record<string, string> = { Authorization: `Bearer ${this.apiKey}`, ...headers };
    if (method !== 'GET') allHeaders['Idempotency-Key'] ??= randomUUID();
    if (body !== undefined) allHeaders['Content-Type'] = 'application/json';
    return this.send(
      method,
      `/v1/spaces/${this.spaceId}${path}`,
      body === undefined ? undefined : JSON.stringify(body),
      allHeaders,
    );
  }

  get(path: string): Promise<Reply> {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.call('POST', path, body, headers);
  }

  /** Posts, and expects a success; returns the body. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async mustPost(path: string, body?: unknown, headers?: Record<string, string>): Promise<any> {
    const reply = await this.post(path, body, headers);
    if (reply.status >= 300) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`);
    return reply.body;
  }

  /** Sets the organization's clock (epoch milliseconds). */
  async at(moment: number): Promise<void> {
    await this.service.store.set(`muster:{${this.org}}:clock`, String(moment));
  }

  /** The types of all events so far, oldest first. */
  async eventTypes(): Promise<string[]> {
    const { body } = await this.get('/events?limit=500');
    return body.events.map((event: { type: string }) => event.type);
  }
}
