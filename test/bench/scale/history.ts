// The memory that finished messages and their events take, before and after they are packed.
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import type { Store } from '../../../src/engine/redis/cluster.ts';
import { connect } from '../../../src/engine/redis/connection.ts';
import { Scripts } from '../../../src/engine/redis/scripts.ts';
import { Packing } from '../../../src/jobs/workers/packing.ts';
import { Journal } from '../../../src/primitives/event/journal.ts';
import { Segments } from '../../../src/primitives/event/segments.ts';
import { product } from '../../../src/primitives/primitives.ts';
import { cpuMicros } from '../cpu.ts';
import { fixed, table, whole } from '../report.ts';
import type { Caller } from './caller.ts';
import { replayKeys, SETTLE_MS, usedBytes } from './cost.ts';
import { LIFE } from './plan.ts';
import type { Answer } from './sequence.ts';

const ORG = 'bench';
const RUN_MESSAGES = 100;
/** In each space. */
export const AGENTS = 4;

export interface HistorySpace {
  readonly spaceId: string;
  /** The prefix of its keys. */
  readonly keys: string;
  readonly caller: Caller;
}

export interface History {
  readonly payload: string;
  readonly messages: number;
  /** Bytes of memory, without the records for replays: of a message with its events, and of the events alone. */
  readonly bytes: number;
  readonly eventBytes: number;
  readonly packedBytes: number;
  readonly packedEventBytes: number;
  /** Processor time of packing a message and its events. */
  readonly redisMicros: number;
  readonly workerMicros: number;
  /** Of the whole store, before and after. */
  readonly snapshot: Snapshot;
  readonly packedSnapshot: Snapshot;
}

interface Snapshot {
  readonly bytes: number;
  readonly millis: number;
}

/** Payload texts of a given length: one that compresses well, and one that does not compress at all. */
export const PAYLOADS = {
  'the same text': (bytes: number) =>
    'Read the page, and say in a sentence what is new in it. '.repeat(bytes).slice(0, bytes),
  'random characters': (bytes: number) => randomBytes(bytes).toString('base64').slice(0, bytes),
} as const;

/** Sends, receives and completes this many messages, 100 in a run, with several runs at once in each of the spaces. */
async function fill(spaces: readonly HistorySpace[], messages: number, payload: () => unknown): Promise<void> {
  let left = Math.ceil(messages / RUN_MESSAGES);
  const agent = async ({ caller }: HistorySpace): Promise<void> => {
    const post = async (path: string, body: object): Promise<Answer> =>
      (await caller.call({ method: 'POST', path, body })) as Answer;
    const { id: mailboxId } = await post('/mailboxes', { name: crypto.randomUUID() });
    while (left-- > 0) {
      const scopeId = crypto.randomUUID();
      const claim = { scopeId, holder: 'bench', holderSession: 's-1', leaseSeconds: 600 };
      for (let n = 0; n < RUN_MESSAGES; n++) {
        await post(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: payload() });
        const { id, token } = await post(`/mailboxes/${mailboxId}/recv`, claim);
        await post(`/messages/${id}/complete`, { token });
      }
    }
  };
  await Promise.all(spaces.flatMap((space) => Array.from({ length: AGENTS }, () => agent(space))));
}

/** Packs all events and finished messages of these spaces. */
export async function packSpaces(store: Store, spaceIds: readonly string[]): Promise<void> {
  const log = pino({ level: 'error' });
  const scripts = new Scripts(store, product.words);
  const journal = new Journal(scripts, new Segments(store), log);
  const packing = new Packing({ store, scripts, journal, log }, { sealAfterSeconds: 1, packsMessages: true });
  for (const spaceId of spaceIds) {
    await packing.packSpace(ORG, spaceId, undefined, { sealAfterMs: 0, isAll: true });
    await packing.packMessages(ORG, spaceId, undefined, { sealAfterMs: 0, isAll: true });
  }
}

/** Fills the spaces and packs them. */
export async function measureHistory(
  address: string,
  redisPid: number,
  spaces: readonly HistorySpace[],
  { payload, messages, bytes }: { payload: keyof typeof PAYLOADS; messages: number; bytes: number },
): Promise<History> {
  const store = await connect(address);
  const sum = async (of: (space: HistorySpace) => Promise<number>) =>
    (await Promise.all(spaces.map(of))).reduce((total, one) => total + one, 0);
  const read = async () => {
    // MEMORY USAGE leaves out what the allocator adds to the entries of such a large hash.
    for (const { keys } of spaces) await store.del(...replayKeys(keys));
    await sleep(SETTLE_MS);
    return { all: usedBytes(await store.info('memory')), events: await sum(({ keys }) => eventBytes(store, keys)) };
  };
  try {
    const empty = await read();
    await fill(spaces, messages, () => ({ text: PAYLOADS[payload](bytes - '{"text":""}'.length) }));
    const live = await read();
    const before = await snapshotOf(store);
    const [redis, worker] = [cpuMicros(redisPid), cpuMicros(process.pid)];
    await packSpaces(
      store,
      spaces.map(({ spaceId }) => spaceId),
    );
    const [redisMicros, workerMicros] = [cpuMicros(redisPid) - redis, cpuMicros(process.pid) - worker];
    const packed = await read();
    return {
      ...{ payload, messages },
      bytes: (live.all - empty.all) / messages,
      eventBytes: (live.events - empty.events) / messages,
      packedBytes: (packed.all - empty.all) / messages,
      packedEventBytes: (packed.events - empty.events) / messages,
      redisMicros: redisMicros / messages,
      workerMicros: workerMicros / messages,
      snapshot: before,
      packedSnapshot: await snapshotOf(store),
    };
  } finally {
    store.disconnect();
  }
}

async function snapshotOf(store: Store): Promise<Snapshot> {
  const begun = performance.now();
  await store.bgsave();
  while (/^rdb_bgsave_in_progress:1/m.test(await store.info('persistence'))) await sleep(10);
  const millis = performance.now() - begun;
  const setting = async (name: string) => ((await store.config('GET', name)) as string[])[1] ?? '';
  return { bytes: (await stat(join(await setting('dir'), await setting('dbfilename')))).size, millis };
}

async function eventBytes(store: Store, keys: string): Promise<number> {
  const index = await store.xrange(`${keys}:eventSegments`, '-', '+');
  const all = [`${keys}:events`, `${keys}:eventSegments`, ...index.map(([last]) => `${keys}:eventSegment:${last}`)];
  const sizes = await Promise.all(all.map((key) => store.memory('USAGE', key, 'SAMPLES', 0)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

export function historyTable(list: readonly History[]): string {
  const [first] = list;
  if (!first) return '';
  const megabytes = (bytes: number) => `${fixed(bytes / 1e6, 1)} MB`;
  const event = (bytes: number) => fixed(bytes / LIFE, 1);
  const rows = list.map((one) => [
    `message, ${one.payload}`,
    ...[one.bytes - one.eventBytes, one.packedBytes - one.packedEventBytes].map(whole),
    ...[one.redisMicros, one.workerMicros].map((micros) => fixed(micros, 1)),
  ]);
  const snapshots = list.map(({ payload, snapshot, packedSnapshot }) => {
    const [live, packed] = [snapshot, packedSnapshot].map(
      ({ bytes, millis: took }) => `${megabytes(bytes)} in ${whole(took)} ms`,
    );
    return `snapshot of the store, ${payload}: ${live}; packed ${packed}`;
  });
  const footprint = table(
    `Measured over ${whole(first.messages)} finished messages, 100 a run, and their ${LIFE} events each: bytes of memory, all ` +
      'indexes in; processor time of packing a message with its events',
    ['', 'bytes', 'bytes, packed', 'redis cpu µs', 'worker cpu µs'],
    [['event', event(first.eventBytes), event(first.packedEventBytes), '', ''], ...rows],
  );
  return [footprint, ...snapshots].join('\n');
}
