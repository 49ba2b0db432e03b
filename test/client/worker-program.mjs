// A worker process, for tests that stop and kill it: works for as many milliseconds as the payload says.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster, Worker } from 'muster-client';

const { url, key, spaceId, budget, others = 0, flushMs, isKept, ...options } = JSON.parse(process.env.WORKER ?? '{}');
const muster = createMuster({ url, key, spaceId });
const workers = Array.from({ length: 1 + others }, () => {
  const worker = new Worker(muster, options, async ({ payload, attempt }, { signal, reserve, once }) => {
    if (budget) await reserve(budget, 1);
    if (payload.step) {
      const made = await once('step', () => `by attempt ${attempt}`);
      console.log(`attempt ${attempt} has what was made ${made}`);
    }
    await sleep(payload.ms, undefined, { signal });
    return { n: payload.n, attempt };
  });
  worker.on('received', () => console.log('received'));
  // Calls fail while the service is away.
  worker.on('error', ({ error, isFatal }) => isFatal && console.error(error));
  worker.on('closed', () => console.log('closed'));
  return worker;
});
if (isKept) setInterval(() => undefined, 60_000);
if (flushMs !== undefined) {
  await Promise.all(workers.map(({ closed }) => closed));
  await sleep(flushMs);
  console.log('flushed');
}
