import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedRedis, startEmbedded } from '../../../src/embedded/embedded.ts';
import { connect, type Store } from '../../../src/engine/redis/connection.ts';
import { Scripts } from '../../../src/engine/redis/scripts.ts';
import { createKey, createOrganization, createSpace } from '../../../src/primitives/org/admin.ts';
import { product } from '../../../src/primitives/primitives.ts';
import type { LimitValues } from '../../../src/primitives/space/limits.ts';
import type { MusterService } from '../../../src/service.ts';
import { type MusterProcess, Processes, until } from '../../support/processes.ts';
import { allPermissions, World } from '../../support/world.ts';
import { Prometheus } from './prometheus.ts';
import { shortRules } from './short.ts';

/** An alert that has not fired or resolved by then never will. */
const patienceMs = 200_000;

/** Processes on a Redis of their own, and a Prometheus with the shipped alerts, made to fire sooner. */
export class Fleet {
  readonly prometheus: Prometheus;
  /** Every alert that has fired. */
  readonly fired = new Set<string>();
  readonly dataDir: string;
  readonly processes = new Processes();
  readonly #targets = new Set<string>();
  readonly #stopping = new AbortController();
  readonly #seconds: Promise<void>[] = [];
  store!: Store;
  #redis!: EmbeddedRedis;
  #folder = '';

  private constructor(prometheus: Prometheus, dataDir: string) {
    this.prometheus = prometheus;
    this.dataDir = dataDir;
  }

  static async start(): Promise<Fleet> {
    const fleet = new Fleet(await Prometheus.start(shortRules()), await mkdtemp(join(tmpdir(), 'muster-fleet-')));
    await fleet.startRedis();
    fleet.store = await connect(fleet.#redis.socketPath);
    fleet.#folder = await fleet.processes.folder();
    return fleet;
  }

  async startRedis(): Promise<void> {
    this.#redis = await startEmbedded({ dataDir: this.dataDir, log: () => undefined });
  }

  stopRedis(): Promise<void> {
    return this.#redis.stop();
  }

  /** A process that Prometheus scrapes. */
  async run(role: 'api' | 'worker', settings: Record<string, string> = {}): Promise<MusterProcess> {
    const fixed = { REDIS_URL: this.#redis.socketPath, ROLE: role, METRICS_PORT: '0', DATA_DIR: this.#folder };
    const process = await this.processes
      .start({
        ...fixed,
        WEBHOOK_ALLOW_PRIVATE: 'true',
        SNAPSHOT_INTERVAL_SECONDS: '3',
        LOG_LEVEL: 'fatal',
        ...settings,
      })
      .ready();
    this.#targets.add(hostOf(process));
    await this.prometheus.scrape([...this.#targets]);
    return process;
  }

  /** As service discovery does when a process is gone. */
  async forget(process: MusterProcess): Promise<void> {
    this.#targets.delete(hostOf(process));
    await this.prometheus.scrape([...this.#targets]);
  }

  /** A space of an organization, called through this process. */
  async space(url: string, limits: LimitValues = {}, org = 'acme'): Promise<World> {
    const admin = { store: this.store, scripts: new Scripts(this.store, product.words), limits: product.limits };
    if (!(await this.store.sismember('muster:orgs', org))) await createOrganization(admin, { org, plan: 'enterprise' });
    const { spaceId } = await createSpace(admin, { org, limits: { requestsPerMinute: 100_000, ...limits } });
    const { apiKey } = await createKey(admin, { org, permissions: allPermissions });
    const number = (await this.store.hget(`muster:{${org}}:${spaceId}`, 'number')) ?? '';
    return new World({ url, store: this.store } as unknown as MusterService, org, spaceId, apiKey, number);
  }

  /** Repeats something until the end of the test, or until it is told to stop. Failures are part of an incident. */
  keep(everyMs: number, act: () => Promise<unknown>): () => Promise<void> {
    const stopping = new AbortController();
    const signal = AbortSignal.any([stopping.signal, this.#stopping.signal]);
    const running = (async () => {
      while (!signal.aborted) {
        await act().catch(() => undefined);
        await sleep(everyMs);
      }
    })();
    this.#seconds.push(running);
    return async () => {
      stopping.abort();
      await running;
    };
  }

  async firing(): Promise<Set<string>> {
    const names = new Set((await this.prometheus.firing()).map(({ alertname = '' }) => alertname));
    for (const name of names) this.fired.add(name);
    return names;
  }

  async fires(...alerts: readonly string[]): Promise<void> {
    await this.#until('did not fire', async () => {
      await this.firing();
      return alerts.filter((alert) => !this.fired.has(alert));
    });
  }

  async resolves(...alerts: readonly string[]): Promise<void> {
    await this.#until('did not resolve', async () => {
      const names = await this.firing();
      return alerts.filter((alert) => names.has(alert));
    });
  }

  async #until(complaint: string, missing: () => Promise<readonly string[]>): Promise<void> {
    const deadline = performance.now() + patienceMs;
    await until(async () => {
      const found = await missing();
      if (found.length > 0 && performance.now() > deadline) throw new Error(`${found.join(', ')} ${complaint}`);
      return found.length === 0;
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#seconds);
    await this.prometheus.stop();
    await this.processes.clear();
    this.store.disconnect();
    await this.#redis.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

function hostOf({ stdout }: MusterProcess): string {
  const [, url = ''] = /^metrics on (.*)$/m.exec(stdout) ?? [];
  return new URL(url).host;
}
