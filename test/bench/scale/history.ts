// What packing makes of the journal that the calls have left behind.
import pino from 'pino';
import { Journal } from '../../../src/event/journal.ts';
import { Segments } from '../../../src/event/segments.ts';
import { product } from '../../../src/primitives.ts';
import { connect } from '../../../src/redis/connection.ts';
import { Scripts } from '../../../src/redis/scripts.ts';
import { Packing } from '../../../src/workers/packing.ts';
import { cpuMicros } from '../cpu.ts';
import { fixed, table, whole } from '../report.ts';

interface History {
  events: number;
  /** Of memory, before and after. */
  bytes: number;
  packedBytes: number;
  /** Processor time of packing them. */
  redisMicros: number;
  workerMicros: number;
}

/** Packs all events of a space; `keys`: the prefix of its keys. */
export async function packHistory(
  socketPath: string,
  redisPid: number,
  { org, spaceId, keys }: { org: string; spaceId: string; keys: string },
): Promise<History> {
  const log = pino({ level: 'error' });
  const store = await connect(socketPath);
  try {
    const scripts = new Scripts(store, product.words);
    const journal = new Journal(scripts, new Segments(store), log);
    const packing = new Packing({ store, scripts, journal, log }, { sealAfterSeconds: 1 });
    const memoryOf = async (): Promise<number> => {
      const index = await store.xrange(`${keys}:eventSegments`, '-', '+');
      const all = [`${keys}:events`, `${keys}:eventSegments`, ...index.map(([last]) => `${keys}:eventSegment:${last}`)];
      const sizes = await Promise.all(all.map((key) => store.memory('USAGE', key, 'SAMPLES', 0)));
      return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    };
    const events = await store.xlen(`${keys}:events`);
    const bytes = await memoryOf();
    const [redis, worker] = [cpuMicros(redisPid), cpuMicros(process.pid)];
    await packing.packSpace(org, spaceId, undefined, { sealAfterMs: 0, isAll: true });
    const [redisMicros, workerMicros] = [cpuMicros(redisPid) - redis, cpuMicros(process.pid) - worker];
    return { events, bytes, packedBytes: await memoryOf(), redisMicros, workerMicros };
  } finally {
    store.disconnect();
  }
}

export function historyTable({ events, bytes, packedBytes, redisMicros, workerMicros }: History): string {
  const each = (value: number, digits: number): string => fixed(value / events, digits);
  const header = ['', 'events', 'bytes', 'bytes, packed', 'redis cpu µs', 'worker cpu µs'];
  const row = [whole(events), each(bytes, 1), each(packedBytes, 1), each(redisMicros, 1), each(workerMicros, 1)];
  return table('Measured, per event of the journal: memory before and after packing, and what packing takes', header, [
    ['event', ...row],
  ]);
}
