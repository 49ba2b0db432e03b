import { BullmqInProcess } from './contenders/bullmq.ts';
import type { Sample, Settings } from './contenders/contender.ts';
import { Muster } from './contenders/muster.ts';
import { median } from './report.ts';

/** The cost of a call and the memory of a message, with this many messages queued. */
export interface QueuedRow {
  name: string;
  queued: number;
  bytesPerMessage: number;
  sendMicros: number;
  /** recv and complete together; undefined if only adding was measured. */
  drainMicros: number | undefined;
}

const FEW = 1_000;
/** Small compared with FEW, so that the queue's length hardly changes while it is measured. */
const BATCH = 500;
const BATCHES = 12;
const WARM = 200;
const BULK = 1_000;

async function usedMemory(contender: Muster | BullmqInProcess): Promise<number> {
  await contender.probe.settled();
  return (await contender.probe.read()).usedMemory;
}

function middle(samples: Sample[]): number {
  return median(samples.map(({ redisCommandMicros }) => redisCommandMicros));
}

/**
 * Loads to `FEW`, measures, loads on to `many`, measures again, on one server. Memory is the growth of used_memory
 * during each load alone, per loaded message. It includes everything that a send leaves behind (the journal, the
 * idempotency record).
 */
async function rows(
  contender: Muster | BullmqInProcess,
  many: number,
  load: (messages: number) => Promise<unknown>,
  batch: () => Promise<{ send: Sample; drain?: Sample }>,
): Promise<QueuedRow[]> {
  const result: QueuedRow[] = [];
  let queued = 0;
  for (const level of many > FEW ? [FEW, many] : [FEW]) {
    const before = await usedMemory(contender);
    await load(level - queued);
    const bytesPerMessage = ((await usedMemory(contender)) - before) / (level - queued);
    queued = level;
    const sends: Sample[] = [];
    const drains: Sample[] = [];
    for (let i = 0; i < BATCHES; i++) {
      const { send, drain } = await batch();
      sends.push(send);
      if (drain) drains.push(drain);
      else queued += send.count;
    }
    const drainMicros = drains.length > 0 ? middle(drains) : undefined;
    result.push({ name: contender.name, queued: level, bytesPerMessage, sendMicros: middle(sends), drainMicros });
  }
  return result;
}

export async function musterQueued(settings: Settings, many: number): Promise<QueuedRow[]> {
  const muster = new Muster(settings);
  try {
    await muster.start();
    await muster.probe.learnFrom(async () => {
      await muster.drive('send', { amount: WARM });
      await muster.drive('drain', { amount: 2 * WARM });
    });
    return await rows(
      muster,
      many,
      (messages) => muster.drive('send', { amount: messages }),
      async () => ({
        send: await muster.sample(() => muster.drive('send', { amount: BATCH })),
        drain: await muster.sample(() => muster.drive('drain', { amount: 2 * BATCH })),
      }),
    );
  } finally {
    await muster.stop();
  }
}

export async function bullmqQueued(settings: Settings, many: number): Promise<QueuedRow[]> {
  const bullmq = new BullmqInProcess(settings, 'BullMQ');
  try {
    await bullmq.start();
    await bullmq.probe.learnFrom(async () => {
      await bullmq.command('add', WARM, settings.connections);
      await bullmq.command('process', WARM, settings.connections);
    });
    return await rows(
      bullmq,
      many,
      (messages) => bullmq.command('bulk', messages, BULK),
      async () => ({ send: await bullmq.sample(() => bullmq.command('add', BATCH, settings.connections)) }),
    );
  } finally {
    await bullmq.stop();
  }
}
