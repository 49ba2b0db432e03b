// A peer without HTTP: this process sends and completes messages; its parent sets their number.
import { answer, endWithParent } from '../servers/child.ts';
import { clientOfThisProcess } from './clients/all.ts';

export interface ThroughCommand {
  messages: number;
  body: unknown;
}

export interface ThroughResult {
  seconds: number;
}

const { client, address } = await clientOfThisProcess();
const atOnce = Number(process.env['BENCH_AT_ONCE']);
const worker = await client.worker?.(address, atOnce);

answer<ThroughCommand>(async ({ messages, body }) => {
  const startedAt = performance.now();
  await worker?.through(messages, atOnce, body);
  return { seconds: (performance.now() - startedAt) / 1000 } satisfies ThroughResult;
});

endWithParent();
process.send?.({ url: '' });
