import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { cpuMicros } from '../cpu.ts';
import { RedisProbe } from '../redis-cost.ts';
import type { Caller } from './caller.ts';
import type { Operation } from './sequence.ts';

/** The costs of one call: times in µs, the rest in bytes. */
export interface Cost {
  redisMicros: number;
  redisCpuMicros: number;
  apiMicros: number;
  /** Memory that it leaves behind, by how long it stays. */
  journal: number;
  replay: number;
  record: number;
  aof: number;
  redisIn: number;
  redisOut: number;
  httpIn: number;
  httpOut: number;
}

export const COST_NAMES = [
  ...(['redisMicros', 'redisCpuMicros', 'apiMicros', 'journal', 'replay', 'record', 'aof'] as const),
  ...(['redisIn', 'redisOut', 'httpIn', 'httpOut'] as const),
];

/** The time until buffers have shrunk and the append-only file is written. */
export const SETTLE_MS = 150;

type Reading = Omit<Cost, 'record'> & { memory: number };

const fieldsOf = (info: string) => (name: string) => Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1] ?? 0);

/** Memory that data takes, from INFO memory. */
export function usedBytes(info: string): number {
  const field = fieldsOf(info);
  return field('used_memory') - field('mem_clients_normal') - field('mem_aof_buffer');
}

/** The keys of a space's answers to requests with an Idempotency-Key. */
export function replayKeys(keys: string): string[] {
  const today = Math.floor(Date.now() / 86_400_000);
  return [today - 1, today].map((day) => `${keys}:idempotency:${day}`);
}

async function replayBytes(redis: Redis, keys: string): Promise<number> {
  const sizes = replayKeys(keys).map((key) => redis.memory('USAGE', key, 'SAMPLES', 0));
  return (await Promise.all(sizes)).reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/** Measures the costs of a call: reads all of them before and after many calls. */
export class Meter {
  readonly #redis: Redis;
  readonly #probe: RedisProbe;
  readonly #caller: Caller;
  readonly #apiPid: number;
  readonly #space: string;
  /** The bytes that two readings themselves send and receive. */
  #overhead = { redisIn: 0, redisOut: 0 };

  /** `space` is the prefix of the space's keys. */
  constructor(socketPath: string, space: string, caller: Caller, apiPid: number) {
    this.#redis = new Redis({ path: socketPath });
    this.#probe = new RedisProbe(socketPath);
    this.#space = space;
    this.#caller = caller;
    this.#apiPid = apiPid;
  }

  /** Learns who issues which command, from calls that are not measured. */
  async learnFrom(traffic: () => Promise<unknown>): Promise<void> {
    // A rewrite in the middle would make the append-only file shorter.
    await this.#redis.config('SET', 'auto-aof-rewrite-percentage', '0');
    await this.#probe.learnFrom(traffic);
    this.#overhead = await this.cost(1, async () => undefined);
  }

  async #read(): Promise<{ reading: Reading; micros: Awaited<ReturnType<RedisProbe['read']>> }> {
    const info = await this.#redis.info('everything');
    const field = fieldsOf(info);
    const traffic = this.#caller.traffic();
    const micros = await this.#probe.read();
    return {
      micros,
      reading: {
        redisMicros: 0,
        redisCpuMicros: micros.cpuMicros,
        apiMicros: cpuMicros(this.#apiPid),
        memory: usedBytes(info),
        journal: (await this.#redis.memory('USAGE', `${this.#space}:events`, 'SAMPLES', 0)) ?? 0,
        replay: await replayBytes(this.#redis, this.#space),
        aof: field('aof_current_size'),
        redisIn: field('total_net_input_bytes'),
        redisOut: field('total_net_output_bytes'),
        httpIn: traffic.in,
        httpOut: traffic.out,
      },
    };
  }

  /** The mean over all calls that `action` makes. */
  async cost(times: number, action: () => Promise<void>): Promise<Cost> {
    await sleep(SETTLE_MS);
    const before = await this.#read();
    await action();
    await sleep(SETTLE_MS);
    const after = await this.#read();
    const each = (name: keyof Reading) => (after.reading[name] - before.reading[name]) / times;
    const [journal, replay] = [each('journal'), each('replay')];
    return {
      redisMicros: this.#probe.commandMicros(before.micros, after.micros) / times,
      redisCpuMicros: each('redisCpuMicros'),
      apiMicros: each('apiMicros'),
      journal,
      replay,
      record: each('memory') - journal - replay,
      aof: each('aof'),
      redisIn: each('redisIn') - this.#overhead.redisIn / times,
      redisOut: each('redisOut') - this.#overhead.redisOut / times,
      httpIn: each('httpIn'),
      httpOut: each('httpOut'),
    };
  }

  stop(): void {
    this.#redis.disconnect();
    this.#probe.stop();
  }
}

/** Makes an operation's calls, `atOnce` at a time. */
export async function perform(caller: Caller, operation: Operation, atOnce: number): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < operation.times) {
      const answer = await caller.call(operation.call(next++));
      operation.keep?.(answer as Record<string, string>);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
