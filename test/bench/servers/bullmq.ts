// The parts that both BullMQ contenders share: a queue, and a worker with an empty processor that can be paused.
import { Queue, type QueueOptions, Worker } from 'bullmq';
import { redisSocket } from './child.ts';

const WORKER_CONCURRENCY = 50;
const QUEUE = 'messages';

export interface BullmqCounts {
  added: number;
  processed: number;
}

const connection: QueueOptions['connection'] = { path: redisSocket(), maxRetriesPerRequest: null };

export const queue = new Queue(QUEUE, { connection });

/** BullMQ's fast path removes a job when it completes; BENCH_BULLMQ_KEEP=1 keeps it, as Muster keeps its messages. */
export const worker = new Worker(QUEUE, async () => undefined, {
  connection,
  concurrency: WORKER_CONCURRENCY,
  autorun: false,
  ...(process.env['BENCH_BULLMQ_KEEP'] ? {} : { removeOnComplete: { count: 0 } }),
});

export const counts: BullmqCounts = { added: 0, processed: 0 };
worker.on('completed', () => {
  counts.processed++;
});
worker.on('error', (error) => console.error(error));

let started = false;

export async function holdWorker(): Promise<void> {
  if (started) await worker.pause();
}

export function releaseWorker(): void {
  if (started) worker.resume();
  else void worker.run();
  started = true;
}

/** Waits until every job that was added has completed. */
export async function waitForAll(): Promise<void> {
  while (counts.processed < counts.added) await new Promise((resolve) => setTimeout(resolve, 2));
}

await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
