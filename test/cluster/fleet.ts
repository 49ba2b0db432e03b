import pino from 'pino';
import { addressOf } from '../../src/engine/redis/cluster.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { type ClusterNode, TestCluster } from '../support/cluster.ts';
import { maximumLimits } from '../support/limits.ts';
import { type MusterProcess, Processes, until } from '../support/processes.ts';
import { allPermissions, World } from '../support/world.ts';
import { ownerOf, slotOf } from './slots.ts';
import { Tenant } from './tenant.ts';

const tenantsEach = 4;

/** Three masters with a replica each, two API processes and a worker, and organizations on every shard. */
export class Fleet {
  readonly cluster: TestCluster;
  readonly processes = new Processes();
  /** Asks the store and prepares it; carries no load. */
  service!: MusterService;
  apis: readonly MusterProcess[] = [];
  worker!: MusterProcess;
  tenants: readonly Tenant[] = [];
  /** One tenant on each shard, called only by tests. */
  quiet: readonly Tenant[] = [];

  private constructor(cluster: TestCluster) {
    this.cluster = cluster;
  }

  static async start(): Promise<Fleet> {
    const fleet = new Fleet(await TestCluster.start(3, 1));
    const { cluster, processes } = fleet;
    const REDIS_URL = fleet.#url;
    fleet.apis = ['api', 'api'].map((ROLE) => processes.start({ ROLE, REDIS_URL }));
    await Promise.all([fleet.startWorker(), ...fleet.apis.map((one) => one.ready())]);
    const log = pino({ level: 'silent' });
    const options = { role: 'api' as const, host: '127.0.0.1', port: 0, log, webhookAllowPrivate: true };
    fleet.service = await startService({ redisUrl: REDIS_URL, ...options });
    const byMaster = await Promise.all(cluster.masters.map((master) => fleet.#tenantsOn(master)));
    fleet.quiet = byMaster.flatMap((tenants) => tenants.slice(0, 1));
    fleet.tenants = byMaster.flatMap((tenants) => tenants.slice(1));
    return fleet;
  }

  get #url(): string {
    return this.cluster.nodes.map(({ port }) => `redis://127.0.0.1:${port}`).join();
  }

  async startWorker(): Promise<void> {
    const settings = { ROLE: 'worker', REDIS_URL: this.#url, WEBHOOK_ALLOW_PRIVATE: 'true' };
    this.worker = await this.processes.start(settings).ready();
  }

  async #tenantsOn(master: ClusterNode): Promise<Tenant[]> {
    const tenants: Tenant[] = [];
    for (let n = 0; tenants.length <= tenantsEach; n++) {
      const org = `org-${n}`;
      if ((await ownerOf(this.cluster, slotOf(`{${org}}`))) !== master) continue;
      const made = await World.create({ on: this.service, org, limits: { ...maximumLimits } });
      const key = await made.key(allPermissions, undefined, { expiresInDays: 1 });
      const world = new World(this.service, org, made.spaceId, key);
      const tenant = new Tenant(
        world,
        this.apis.map(({ url }) => url),
      );
      await tenant.prepare();
      tenants.push(tenant);
    }
    return tenants;
  }

  async nodeOf(tenant: Tenant): Promise<ClusterNode> {
    return ownerOf(this.cluster, slotOf(`{${tenant.world.org}}`));
  }

  /** The organizations of a master that has just been, or is about to be, lost. */
  async tenantsOf(master: ClusterNode): Promise<Set<Tenant>> {
    const found = new Set<Tenant>();
    for (const tenant of [...this.tenants, ...this.quiet])
      if ((await this.nodeOf(tenant)) === master) found.add(tenant);
    return found;
  }

  /**
   * Resolves when this process's own client, which checks the store, has found the nodes that now hold these
   * organizations.
   */
  async found(tenants: Iterable<Tenant>): Promise<void> {
    const { store } = this.service;
    for (const tenant of tenants) {
      const key = `{${tenant.world.org}}`;
      const { port } = await this.nodeOf(tenant);
      await until(async () => addressOf(store, key) === `127.0.0.1:${port}` && (await answers(store.exists(key))));
    }
  }

  /** Every organization repeats its round until `work` is done, and completes the last one. */
  async underLoad<T>(work: () => Promise<T>, tenants: Iterable<Tenant> = this.tenants): Promise<T> {
    let isOver = false;
    const loops = [...tenants].map(async (tenant) => {
      tenant.forget();
      do await tenant.round();
      while (!isOver);
    });
    try {
      return await work();
    } finally {
      isOver = true;
      await Promise.all(loops);
    }
  }

  async stop(): Promise<void> {
    await this.service?.stop();
    await this.processes.clear();
    await this.cluster.stop();
  }
}

function answers(reply: Promise<unknown>): Promise<boolean> {
  return reply.then(
    () => true,
    () => false,
  );
}

/** For the printed figures. */
export function longest(tenants: Iterable<Tenant>): { ms: number; slowest: number; failures: number } {
  const all = [...tenants];
  return {
    ms: Math.round(Math.max(0, ...all.map((tenant) => tenant.longestMs))),
    slowest: Math.round(Math.max(0, ...all.map((tenant) => tenant.slowestMs))),
    failures: all.reduce((sum, tenant) => sum + tenant.failures, 0),
  };
}
