import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createKey, createOrganization, createSpace } from '../../src/primitives/org/admin.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { maximumLimits } from '../support/limits.ts';
import { type Access, type MusterProcess, Processes } from '../support/processes.ts';
import { allPermissions, World } from '../support/world.ts';
import { EmbeddedServer } from './embedded-server.ts';
import { freePort, RedisServer } from './redis-server.ts';

/** One organization with one space, as an operator makes them. */
export interface Tenant extends Access {
  readonly org: string;
}

/**
 * The system that suffers a fault: Redis, two API processes and a worker, as an operator starts them, and three
 * tenants.
 */
export class Lab {
  readonly redis: RedisServer;
  tenants: Tenant[] = [];
  readonly processes = new Processes();
  readonly apis: MusterProcess[] = [];
  /** The addresses that clients use. A test may put proxies in front of the APIs. */
  urls: () => readonly string[] = () => this.apis.map(({ url }) => url);
  worker: MusterProcess | undefined;
  /** REDIS_URL of the processes; '' for an embedded store. */
  redisUrl: string;
  readonly #folders: string[] = [];

  private constructor(redis: RedisServer, dir: string) {
    this.redis = redis;
    this.redisUrl = redis.url;
    this.#folders.push(dir);
  }

  static async start(settings: Record<string, string> = {}, env: NodeJS.ProcessEnv = {}): Promise<Lab> {
    const dir = await mkdtemp(join(tmpdir(), 'muster-fault-'));
    const redis = new RedisServer(dir, await freePort(), { appendfsync: 'always', ...settings }, env);
    return new Lab(await redis.start(), dir);
  }

  /** Starts a lab with all its processes. */
  static async opened(...how: Parameters<typeof Lab.start>): Promise<Lab> {
    const lab = await Lab.start(...how);
    await lab.open();
    return lab;
  }

  async folder(): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), 'muster-fault-'));
    this.#folders.push(dir);
    return dir;
  }

  /** Starts a lab with one process, on the embedded store that it starts itself. */
  static async embedded(): Promise<Lab> {
    const dir = await realpath(await mkdtemp(join(tmpdir(), 'muster-fault-')));
    const lab = new Lab(new EmbeddedServer(dir), dir);
    lab.redisUrl = '';
    await lab.open();
    await lab.redis.start();
    return lab;
  }

  /** Creates new tenants, which have no data yet. */
  async admit(tenants = 3): Promise<void> {
    const service = await this.service(this.redis.url);
    this.tenants = [];
    for (let i = 0; i < tenants; i++) {
      const org = `fault-${randomUUID().slice(0, 8)}`;
      await createOrganization(service, { org, plan: 'enterprise' });
      const { spaceId } = await createSpace(service, { org, limits: maximumLimits });
      const { apiKey } = await createKey(service, { org, permissions: allPermissions, expiresInDays: 2 });
      this.tenants.push({ org, spaceId, apiKey });
    }
    await service.stop();
  }

  /** An embedded store belongs to one process, which does everything. */
  async open(apis = 2): Promise<void> {
    if (this.redisUrl === '') {
      this.apis.push(await this.#start('all'));
      return;
    }
    const started = Array.from({ length: apis }, () => this.api());
    this.worker = await this.startWorker();
    this.apis.push(...(await Promise.all(started)));
  }

  /** main: the main file of another build. */
  api(main?: string): Promise<MusterProcess> {
    return this.#start('api', main);
  }

  startWorker(main?: string): Promise<MusterProcess> {
    return this.#start('worker', main);
  }

  async #start(ROLE: string, main?: string): Promise<MusterProcess> {
    const settings = { REDIS_URL: this.redisUrl, DATA_DIR: this.redis.dir, ROLE, WEBHOOK_ALLOW_PRIVATE: 'true' };
    // The build: compiling the sources would take longer than most faults do.
    return this.processes.start(settings, [], main === undefined ? undefined : [process.execPath, main]).ready();
  }

  /** An API in this process, for checks that read the store. */
  service(redisUrl = this.redisUrl || this.redis.url): Promise<MusterService> {
    const log = pino({ level: 'silent' });
    return startService({ redisUrl, role: 'api', host: '127.0.0.1', port: 0, log });
  }

  worlds(service: MusterService): World[] {
    return this.tenants.map(({ org, spaceId, apiKey }) => new World(service, org, spaceId, apiKey));
  }

  async stop(): Promise<void> {
    await this.processes.clear();
    await this.redis.stop();
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }
}
