import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type Store, shardsOf } from '../../src/engine/redis/cluster.ts';

/**
 * A MONITOR that copes with a line arriving together with MONITOR's answer. ioredis takes that line for an unexpected reply
 * and reports an error, which would end its own monitor(). The line belongs to an earlier command and is skipped.
 */
export function monitorOf(shard: Redis): Promise<Redis> {
  const monitor = shard.duplicate({ monitor: true, lazyConnect: false });
  monitor.on('error', () => undefined);
  return new Promise((resolve) => {
    monitor.once('monitoring', () => resolve(monitor));
  });
}

/** A client's command with its arguments and, for a script, the commands it ran. */
export interface Sent {
  readonly words: readonly string[];
  readonly inside: (readonly string[])[];
}

/** Monitors every command that a store runs. */
export class Commands {
  readonly #shards: readonly Redis[];
  readonly #monitors: readonly Redis[];
  #sent: Sent[] = [];
  #mark = '';
  /** How many shards have reported the mark. */
  #marked = 0;
  #isStopped = false;

  private constructor(shards: readonly Redis[], monitors: readonly Redis[]) {
    this.#shards = shards;
    this.#monitors = monitors;
    for (const monitor of monitors) this.#hear(monitor);
  }

  static async hear(store: Store): Promise<Commands> {
    const shards = shardsOf(store);
    return new Commands(shards, await Promise.all(shards.map(monitorOf)));
  }

  #hear(monitor: Redis): void {
    let last: Sent | undefined;
    monitor.on('monitor', (_: string, [name = '', ...args]: string[], source: string) => {
      const words = [name.toUpperCase(), ...args];
      if (source === 'lua') last?.inside.push(words);
      else if (args[0] === this.#mark) this.#marked++;
      else {
        last = { words, inside: [] };
        this.#sent.push(last);
      }
    });
  }

  /** The commands since the last call, in order. */
  async take(): Promise<Sent[]> {
    this.#mark = randomUUID();
    this.#marked = 0;
    // Commands are reported in order, so once the mark is there, all earlier ones are.
    await Promise.all(this.#shards.map((shard) => shard.echo(this.#mark)));
    while (this.#marked < this.#shards.length) {
      if (this.#isStopped) throw new Error('nothing is heard any more');
      await sleep(1);
    }
    return this.#sent.splice(0);
  }

  stop(): void {
    this.#isStopped = true;
    for (const monitor of this.#monitors) monitor.disconnect();
  }
}

/** The commands, with arguments, that the store runs during `action`, including those of scripts. */
export async function readCommands(store: Store, action: () => Promise<unknown>): Promise<(readonly string[])[]> {
  const commands = await Commands.hear(store);
  await action();
  const sent = await commands.take();
  commands.stop();
  return sent.flatMap(({ words, inside }) => [words, ...inside]);
}
