import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { type Store, shardsOf } from '../../src/redis/cluster.ts';

/**
 * ioredis takes a line that comes in one piece with the answer to MONITOR for a reply that nobody asked for, and says so
 * as an error, which would end its own monitor(): such a line, which was there before, is passed over.
 */
export function monitorOf(shard: Redis): Promise<Redis> {
  const monitor = shard.duplicate({ monitor: true, lazyConnect: false });
  monitor.on('error', () => undefined);
  return new Promise((resolve) => {
    monitor.once('monitoring', () => resolve(monitor));
  });
}

/** A command as a client sent it, each with its arguments, and those that it ran inside, if it was a script. */
export interface Sent {
  readonly words: readonly string[];
  readonly inside: (readonly string[])[];
}

/** Hears every command that a store runs. */
export class Commands {
  readonly #shards: readonly Redis[];
  readonly #monitors: readonly Redis[];
  #sent: Sent[] = [];
  #mark = '';
  /** Shards that have told of the mark. */
  #marked = 0;

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

  /** What was run since the last time, in order. */
  async take(): Promise<Sent[]> {
    this.#mark = randomUUID();
    this.#marked = 0;
    // It is told of in order: once the last command is there, all are.
    await Promise.all(this.#shards.map((shard) => shard.echo(this.#mark)));
    while (this.#marked < this.#shards.length) await new Promise((resolve) => setImmediate(resolve));
    return this.#sent.splice(0);
  }

  stop(): void {
    for (const monitor of this.#monitors) monitor.disconnect();
  }
}

/** The commands, each with its arguments, that the store runs meanwhile: those inside scripts, too. */
export async function readCommands(store: Store, action: () => Promise<unknown>): Promise<(readonly string[])[]> {
  const commands = await Commands.hear(store);
  await action();
  const sent = await commands.take();
  commands.stop();
  return sent.flatMap(({ words, inside }) => [words, ...inside]);
}
