import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { cpuMicros } from '../cpu.ts';
import type { Driver, JobResult } from '../driver.ts';
import type { Phase } from '../phases.ts';
import { RedisProbe } from '../redis-cost.ts';

export interface Settings {
  driver: Driver;
  connections: number;
  spaces: number;
  seconds: number;
}

/** The result of one phase of one round. Rate and times are per message or per request, as the phase counts. */
export interface Sample {
  count: number;
  perSecond: number;
  http?: JobResult;
  redisCommandMicros: number;
  redisCpuMicros: number;
  serverCpuMicros: number;
}

export interface Work {
  /** Messages or requests, as the phase counts. */
  count: number;
  seconds: number;
  http?: JobResult;
}

export const PAYLOAD = {
  kind: 'resize-image',
  url: 'https://images.example.com/2025/06/01/4711.jpg',
  width: 1280,
  height: 720,
};

const started = new Set<Contender>();

/** Stops every server and Redis and removes their data folders, at the end and on Ctrl-C. */
export async function stopAll(): Promise<void> {
  for (const contender of started) await contender.stop();
}

/** A system under test, with a Redis of its own. */
export abstract class Contender {
  abstract readonly name: string;
  abstract readonly phases: readonly Phase[];
  readonly settings: Settings;
  #dataDir = '';
  #redis: { socketPath: string; stop(): Promise<void> } | undefined;
  #probe: RedisProbe | undefined;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  protected abstract startServer(redisSocket: string): Promise<void>;
  protected abstract stopServer(): Promise<void> | void;
  protected abstract pid(): number;
  protected abstract work(phase: Phase, seconds: number): Promise<Work>;

  get probe(): RedisProbe {
    if (!this.#probe) throw new Error(`${this.name} is not started`);
    return this.#probe;
  }

  async start(): Promise<void> {
    started.add(this);
    this.#dataDir = await mkdtemp(join(tmpdir(), 'muster-bench-'));
    this.#redis = await startEmbedded({ dataDir: this.#dataDir, log: (line) => console.error(line) });
    this.#probe = new RedisProbe(this.#redis.socketPath);
    await this.startServer(this.#redis.socketPath);
  }

  /** One run with MONITOR to learn who issues which command, one without to warm up. */
  async warmUp(): Promise<void> {
    await this.probe.learnFrom(async () => {
      for (const phase of this.phases) await this.work(phase, 0.3);
    });
    for (const phase of this.phases) await this.work(phase, 1);
  }

  run(phase: Phase): Promise<Sample> {
    return this.sample(() => this.work(phase, this.settings.seconds));
  }

  async sample(action: () => Promise<Work>): Promise<Sample> {
    const cpu = cpuMicros(this.pid());
    const before = await this.probe.read();
    const { count, seconds, http } = await action();
    const after = await this.probe.read();
    return {
      count,
      perSecond: count / seconds,
      ...(http ? { http } : {}),
      redisCommandMicros: this.probe.commandMicros(before, after) / count,
      redisCpuMicros: (after.cpuMicros - before.cpuMicros) / count,
      serverCpuMicros: (cpuMicros(this.pid()) - cpu) / count,
    };
  }

  async stop(): Promise<void> {
    if (!started.delete(this)) return;
    this.#probe?.stop();
    await this.stopServer();
    await this.#redis?.stop();
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
