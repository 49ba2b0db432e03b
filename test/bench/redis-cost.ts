import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { monitorOf } from '../support/commands.ts';

interface CommandUse {
  calls: number;
  usec: number;
}

interface RedisReading {
  commands: Map<string, CommandUse>;
  usedMemory: number;
  /** Processor time of the whole server process: commands, parsing, replying, the append-only file. */
  cpuMicros: number;
}

/** The probe's own commands, which never count as a contender's. */
const OWN = new Set(['info', 'monitor', 'config', 'hello', 'auth', 'select', 'memory']);
const SCRIPT_CALLS = ['evalsha', 'eval', 'fcall'];

/**
 * Reads what a Redis server spent. INFO commandstats counts a command run inside a script twice: under its own name and
 * in the script's time. So a short MONITOR sample first shows, for each command, which share of its calls came from a
 * client.
 */
export class RedisProbe {
  readonly #redis: Redis;
  readonly #fromClient = new Map<string, number>();
  readonly #fromScript = new Map<string, number>();

  constructor(socketPath: string) {
    this.#redis = new Redis({ path: socketPath, connectionName: 'bench-probe' });
  }

  async read(): Promise<RedisReading> {
    const info = await this.#redis.info('everything');
    const field = (name: string) => Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1] ?? 0);
    const commands = new Map<string, CommandUse>();
    for (const [, name = '', calls, usec] of info.matchAll(/^cmdstat_([^:|]+)(?:\|[^:]+)?:calls=(\d+),usec=(\d+)/gm)) {
      const sum = commands.get(name) ?? { calls: 0, usec: 0 };
      commands.set(name, { calls: sum.calls + Number(calls), usec: sum.usec + Number(usec) });
    }
    return {
      commands,
      usedMemory: field('used_memory'),
      cpuMicros: (field('used_cpu_user') + field('used_cpu_sys')) * 1e6,
    };
  }

  /** Waits until the server is not rewriting its append-only file, because that cost belongs to no call. */
  async settled(): Promise<void> {
    const busy = /^(aof_rewrite_in_progress|aof_rewrite_scheduled|rdb_bgsave_in_progress):1/m;
    do await sleep(1_500);
    while (busy.test(await this.#redis.info('persistence')));
  }

  /** Learns who issues which command while `traffic` runs. Never call it during a measurement. */
  async learnFrom(traffic: () => Promise<unknown>): Promise<void> {
    const monitor = await monitorOf(this.#redis);
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      const name = (args[0] ?? '').toLowerCase();
      const counts = source === 'lua' ? this.#fromScript : this.#fromClient;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    });
    await traffic();
    await sleep(50);
    monitor.disconnect();
  }

  /** The commands that count, for the report. */
  topLevel(): string[] {
    return [...new Set([...this.#fromClient.keys()])].filter((name) => !OWN.has(name)).sort();
  }

  #share(name: string): number {
    if (OWN.has(name)) return 0;
    if (SCRIPT_CALLS.includes(name)) return 1;
    const client = this.#fromClient.get(name) ?? 0;
    return client === 0 ? 0 : client / (client + (this.#fromScript.get(name) ?? 0));
  }

  /** The microseconds of command time that the contender's connections caused between two readings. */
  commandMicros(before: RedisReading, after: RedisReading): number {
    let total = 0;
    for (const [name, { usec }] of after.commands) {
      total += (usec - (before.commands.get(name)?.usec ?? 0)) * this.#share(name);
    }
    return total;
  }

  stop(): void {
    this.#redis.disconnect();
  }
}
