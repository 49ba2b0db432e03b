import { type Job, Queue, type QueueOptions, Worker } from 'bullmq';
import { type Client, Tally } from './client.ts';

const QUEUE = 'messages';
/** BullMQ's fast path: completed jobs are removed. */
const removeOnComplete = { count: 0 };

function connection(path: string): QueueOptions['connection'] {
  return { path, maxRetriesPerRequest: null };
}

/** addBulk, and a worker that fetches the next job with each completion. */
const worker: Client['worker'] = async (address, atOnce) => {
  const queue = new Queue(QUEUE, { connection: connection(address) });
  const tally = new Tally();
  const jobs = new Worker(QUEUE, async () => undefined, {
    connection: connection(address),
    concurrency: atOnce,
    removeOnComplete,
  });
  jobs.on('completed', () => tally.done());
  jobs.on('error', (error) => console.error(error));
  await jobs.waitUntilReady();
  return {
    through: async (messages, bulk, body) => {
      const finished = tally.next(messages);
      for (let left = messages; left > 0; left -= bulk) {
        await queue.addBulk(Array.from({ length: Math.min(left, bulk) }, () => ({ name: 'message', data: body })));
      }
      await finished;
    },
  };
};

/** Its documented way of processing jobs by hand: getNextJob, moveToCompleted. */
const service: Client['service'] = async (address) => {
  const queue = new Queue(QUEUE, { connection: connection(address) });
  const fetcher = new Worker(QUEUE, null, { connection: connection(address), autorun: false, removeOnComplete });
  const claimed = new Map<string, Job>();
  await fetcher.waitUntilReady();
  return {
    send: async (body) => (await queue.add('message', body)).id ?? '',
    recv: async () => {
      const token = crypto.randomUUID();
      const job = await fetcher.getNextJob(token, { block: false });
      if (!job?.id) return null;
      claimed.set(job.id, job);
      return { id: job.id, token, payload: job.data };
    },
    complete: async (id, token) => {
      const job = claimed.get(id);
      claimed.delete(id);
      await job?.moveToCompleted(null, token, false);
    },
  };
};

export const client: Client = { worker, service };
