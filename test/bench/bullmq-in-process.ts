// BullMQ without HTTP: this process adds and processes jobs as its parent commands.
import { counts, holdWorker, queue, releaseWorker, waitForAll } from './servers/bullmq.ts';
import { answer, endWithParent } from './servers/child.ts';

export interface InProcessCommand {
  /**
   * `add` and `bulk` only add; `process` runs the worker over the jobs added so far; `through` and `bulkThrough` add
   * while the worker runs.
   */
  do: 'add' | 'bulk' | 'process' | 'through' | 'bulkThrough';
  messages: number;
  /** Concurrent adds; for `bulk`, the jobs of one addBulk. */
  atOnce: number;
  body: string;
}

export interface InProcessResult {
  seconds: number;
}

async function addAll(messages: number, atOnce: number, body: string): Promise<void> {
  let left = messages;
  const lane = async () => {
    while (left-- > 0) await queue.add('message', JSON.parse(body));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

async function bulkAll(messages: number, atOnce: number, body: string): Promise<void> {
  for (let left = messages; left > 0; left -= atOnce) {
    const jobs = Array.from({ length: Math.min(left, atOnce) }, () => ({ name: 'message', data: JSON.parse(body) }));
    await queue.addBulk(jobs);
  }
}

answer<InProcessCommand>(async (command) => {
  const { messages, atOnce, body } = command;
  const runsWorker = command.do !== 'add' && command.do !== 'bulk';
  if (runsWorker) releaseWorker();
  const startedAt = performance.now();
  if (command.do === 'add' || command.do === 'through') await addAll(messages, atOnce, body);
  if (command.do === 'bulk' || command.do === 'bulkThrough') await bulkAll(messages, atOnce, body);
  if (command.do !== 'process') counts.added += messages;
  if (runsWorker) await waitForAll();
  const seconds = (performance.now() - startedAt) / 1000;
  await holdWorker();
  return { seconds } satisfies InProcessResult;
});

endWithParent();
process.send?.({ url: '' });
