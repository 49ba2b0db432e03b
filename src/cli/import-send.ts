import { setTimeout as sleep } from 'node:timers/promises';
import { type Muster, MusterError } from '../clients/typescript/index.ts';
import type { JobMessage } from './bullmq-message.ts';

/** Where messages go. */
export interface Target {
  readonly mailboxId: string;
  readonly scopeId: string;
}

/** What became of a message: its id, or why it was refused. */
export type Sent = { readonly id: string; readonly replay: boolean } | { readonly refusal: string };

const maxCalls = 100;
/** A batch may have 2 MiB. */
const maxBatchBytes = 1_500_000;
/** Refusals of one message. All others concern those that follow as well. */
const ofOne = ['PAYLOAD_TOO_LARGE', 'VALIDATION_FAILED'];

/** Splits messages into batches, in their order. */
export function batchesOf(messages: readonly JobMessage[]): JobMessage[][] {
  const batches: JobMessage[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = Buffer.byteLength(JSON.stringify(message));
    const last = batches.at(-1);
    if (last && last.length < maxCalls && bytes + size <= maxBatchBytes) last.push(message);
    else batches.push([message]);
    bytes = batches.at(-1)?.length === 1 ? size : bytes + size;
  }
  return batches;
}

/**
 * Sends a batch; those that a rate refuses again, when it allows. Resolves with the outcome of each, by its work key.
 *
 * @throws MusterError a refusal that the messages behind it would get, too
 */
export async function sendBatch(
  muster: Muster,
  target: Target,
  batch: readonly JobMessage[],
  onWait: (seconds: number) => void,
): Promise<Map<string, Sent>> {
  const outcomes = new Map<string, Sent>();
  for (let left = batch; left.length > 0; ) {
    const results = await muster.batch(left.map((message) => muster.call.message.send({ ...message, ...target })));
    const again: JobMessage[] = [];
    let seconds = 1;
    for (const [index, result] of results.entries()) {
      const message = left[index] as JobMessage;
      if (result.ok) outcomes.set(message.workKey, result.answer);
      else if (result.status === 429 || result.status === 503) {
        again.push(message);
        seconds = Math.max(seconds, result.error.retryAfterSeconds ?? 0);
      } else if (ofOne.includes(result.error.code)) outcomes.set(message.workKey, { refusal: result.error.message });
      else throw stopped(result.error);
    }
    if (again.length > 0) {
      onWait(seconds);
      await sleep(seconds * 1000);
    }
    left = again;
  }
  return outcomes;
}

function stopped({ code, message, status, requestId }: MusterError): MusterError {
  const text = `${message}. What was sent stays there: then run the import again, which sends the rest`;
  return new MusterError(code, text, { status, requestId });
}
