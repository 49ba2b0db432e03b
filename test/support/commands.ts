import type { Redis } from 'ioredis';
import { type Store, shardsOf } from '../../src/redis/connection.ts';

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

/** The commands, each with its arguments, that the store runs meanwhile: those inside scripts, too. */
export async function readCommands(store: Store, action: () => Promise<unknown>): Promise<string[][]> {
  const commands: string[][] = [];
  const monitors = await Promise.all(shardsOf(store).map(monitorOf));
  for (const monitor of monitors)
    monitor.on('monitor', (_: string, [name = '', ...args]: string[]) => commands.push([name.toUpperCase(), ...args]));
  await action();
  // It is told of in order: once the last command is there, all are.
  await Promise.all(shardsOf(store).map((shard) => shard.echo('told')));
  while (!commands.some(([name]) => name === 'ECHO')) await new Promise((resolve) => setImmediate(resolve));
  for (const monitor of monitors) monitor.disconnect();
  return commands;
}
