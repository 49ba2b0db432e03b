import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../src/redis/embedded.ts';
import type { InProcessCommand, InProcessResult } from './bullmq-in-process.ts';
import type { Driver, JobResult, Plan } from './driver.ts';
import { RedisProbe } from './redis-cost.ts';
import type { BullmqCounts } from './servers/bullmq.ts';
import type { BullmqKoaCommand } from './servers/bullmq-koa.ts';
import { ForkedServer } from './servers/fork.ts';
import { MusterServer } from './servers/muster.ts';

export interface Settings {
  driver: Driver;
  connections: number;
  spaces: number;
  seconds: number;
}

/** What one phase of one round gave; times are per message. */
export interface Sample {
  messages: number;
  perSecond: number;
  http?: JobResult;
  redisCommandMicros: number;
  redisCpuMicros: number;
  serverCpuMicros: number;
}

interface Work {
  messages: number;
  seconds: number;
  http?: JobResult;
}

export const PAYLOAD = {
  kind: 'resize-image',
  url: 'https://images.example.com/2025/06/01/4711.jpg',
  width: 1280,
  height: 720,
};
const BODY = JSON.stringify({ scopeId: '0197f000-0000-7000-8000-000000000001', payload: PAYLOAD });
/** As long as a real one, so that every contender reads the same headers. */
const AUTHORIZATION = `Bearer mk_bench_${'x'.repeat(43)}`;
/** In-process contenders take a fixed number of messages, about what a second of HTTP brings. */
const IN_PROCESS_PER_SECOND = 5_000;
const BULK = 50;

const started = new Set<Contender>();

/** For the end and for Ctrl-C: no server, no Redis and no data folder is left behind. */
export async function stopAll(): Promise<void> {
  for (const contender of started) await contender.stop();
}

/** A system under test over a Redis of its own. */
export abstract class Contender {
  abstract readonly name: string;
  abstract readonly phases: readonly Plan[];
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
  protected abstract work(phase: Plan, seconds: number): Promise<Work>;

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

  run(phase: Plan): Promise<Sample> {
    return this.sample(() => this.work(phase, this.settings.seconds));
  }

  async sample(action: () => Promise<Work>): Promise<Sample> {
    const cpu = cpuMicros(this.pid());
    const before = await this.probe.read();
    const { messages, seconds, http } = await action();
    const after = await this.probe.read();
    return {
      messages,
      perSecond: messages / seconds,
      ...(http ? { http } : {}),
      redisCommandMicros: this.probe.commandMicros(before, after) / messages,
      redisCpuMicros: (after.cpuMicros - before.cpuMicros) / messages,
      serverCpuMicros: (cpuMicros(this.pid()) - cpu) / messages,
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

/** Linux only: user and system time of a process, in ticks of 10 ms. NaN elsewhere, which prints as "-". */
function cpuMicros(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return Number.NaN;
  }
}

abstract class Forked extends Contender {
  protected abstract readonly file: string;
  protected readonly env: Record<string, string> = {};
  #server: ForkedServer | undefined;

  protected get server(): ForkedServer {
    if (!this.#server) throw new Error(`${this.name} is not started`);
    return this.#server;
  }

  protected async startServer(redisSocket: string): Promise<void> {
    this.#server = await ForkedServer.start(this.file, redisSocket, this.env);
  }

  protected stopServer(): void {
    this.#server?.stop();
  }

  protected pid(): number {
    return this.server.pid;
  }

  protected async post(seconds: number): Promise<Work & { http: JobResult }> {
    const { driver, connections } = this.settings;
    const headers = { authorization: AUTHORIZATION };
    const targets = [{ sendPath: '/', sendBody: BODY }];
    const http = await driver.run({ url: this.server.url, plan: 'send', targets, headers, connections, seconds });
    return { messages: http.messages, seconds: http.seconds, http };
  }
}

class Bare extends Forked {
  readonly name: string;
  readonly phases = ['send'] as const;
  protected readonly file: string;

  constructor(settings: Settings, name: string, file: string) {
    super(settings);
    this.name = name;
    this.file = file;
  }

  protected work(_phase: Plan, seconds: number): Promise<Work> {
    return this.post(seconds);
  }
}

class BullmqKoa extends Forked {
  readonly name = 'BullMQ, Koa';
  readonly phases = ['send', 'drain', 'through'] as const;
  protected readonly file = 'servers/bullmq-koa.ts';

  #tell(command: BullmqKoaCommand['do']): Promise<BullmqCounts> {
    return this.server.ask({ do: command });
  }

  protected async work(phase: Plan, seconds: number): Promise<Work> {
    if (phase === 'send') return this.post(seconds);
    const startedAt = performance.now();
    const before = await this.#tell('release');
    const work = phase === 'through' ? await this.post(seconds) : undefined;
    const after = await this.#tell('wait');
    const total = (performance.now() - startedAt) / 1000;
    await this.#tell('hold');
    return { messages: after.processed - before.processed, seconds: total, ...(work ? { http: work.http } : {}) };
  }
}

export class BullmqInProcess extends Forked {
  readonly name: string;
  readonly phases = ['send', 'drain', 'through'] as const;
  protected readonly file = 'bullmq-in-process.ts';
  protected override readonly env: Record<string, string>;
  readonly #bulk: boolean;
  #queued = 0;

  constructor(settings: Settings, name: string, options: { keep?: boolean; bulk?: boolean } = {}) {
    super(settings);
    this.name = name;
    this.env = options.keep ? { BENCH_BULLMQ_KEEP: '1' } : {};
    this.#bulk = options.bulk ?? false;
  }

  async tell(action: InProcessCommand['do'], messages: number, atOnce: number): Promise<Work> {
    const command: InProcessCommand = { do: action, messages, atOnce, body: BODY };
    const { seconds } = await this.server.ask<InProcessCommand, InProcessResult>(command);
    return { messages, seconds };
  }

  protected async work(phase: Plan, seconds: number): Promise<Work> {
    const messages = Math.ceil(IN_PROCESS_PER_SECOND * seconds);
    const { connections } = this.settings;
    if (phase === 'through') return this.tell('through', messages, connections);
    if (phase === 'send') {
      this.#queued += messages;
      return this.#bulk ? this.tell('bulk', messages, BULK) : this.tell('add', messages, connections);
    }
    const queued = this.#queued;
    this.#queued = 0;
    return this.tell('process', queued, connections);
  }
}

export class Muster extends Contender {
  readonly name = 'Muster';
  readonly phases = ['send', 'drain', 'through'] as const;
  #server: MusterServer | undefined;

  protected async startServer(redisSocket: string): Promise<void> {
    this.#server = await MusterServer.start(redisSocket, this.settings.spaces, PAYLOAD);
  }

  protected async stopServer(): Promise<void> {
    await this.#server?.stop();
  }

  protected pid(): number {
    return this.#server?.pid ?? 0;
  }

  protected work(phase: Plan, seconds: number): Promise<Work> {
    return this.drive(phase, { seconds });
  }

  async drive(plan: Plan, length: { seconds: number } | { amount: number }): Promise<Work> {
    if (!this.#server) throw new Error('Muster is not started');
    const { url, headers, targets } = this.#server;
    const { driver, connections } = this.settings;
    const http = await driver.run({ url, plan, targets, headers, connections, ...length });
    return { messages: http.messages, seconds: http.seconds, http };
  }
}

export const CONTENDERS: Record<string, (settings: Settings) => Contender> = {
  'bare-http': (settings) => new Bare(settings, '(a) node:http', 'servers/bare-http.ts'),
  'bare-koa': (settings) => new Bare(settings, '(b) Koa', 'servers/bare-koa.ts'),
  'bullmq-koa': (settings) => new BullmqKoa(settings),
  'bullmq-in-process': (settings) => new BullmqInProcess(settings, 'BullMQ, in process'),
  'bullmq-keep': (settings) => new BullmqInProcess(settings, 'BullMQ, in process, kept', { keep: true }),
  'bullmq-bulk': (settings) => new BullmqInProcess(settings, 'BullMQ, in process, addBulk', { bulk: true }),
  muster: (settings) => new Muster(settings),
};
