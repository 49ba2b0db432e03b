import { MusterError } from './error.ts';
import { LateId } from './late-id.ts';
import { type MusterOptions, send } from './send.ts';
import type { BatchedCall, BatchedOptions, BatchResult, BatchResults, CallOptions } from './types.ts';

interface Element {
  readonly status: number;
  readonly body: unknown;
  readonly replayed: boolean;
  /** Only for a 429. */
  readonly retryAfter?: number;
}

/** A call as an element of a batch. */
export function batched(call: string, args: object = {}, { idempotencyKey }: BatchedOptions = {}): BatchedCall {
  return { call, ...args, ...(idempotencyKey !== undefined && { idempotencyKey }) };
}

/** Sends the calls in one request. Each result tells whether its call succeeded. */
export async function sendBatch<const Calls extends readonly BatchedCall[]>(
  options: MusterOptions,
  list: Calls,
  callOptions: CallOptions = {},
): Promise<BatchResults<Calls>> {
  const calls = await LateId.found(list);
  const { results } = (await send(options, 'batch', { calls }, callOptions)) as { results: Element[] };
  return results.map(resultOf) as BatchResults<Calls>;
}

function resultOf({ status, body, replayed, retryAfter }: Element) {
  if (status < 300) return { ok: true, status, answer: body ?? undefined, replayed } satisfies BatchResult<unknown>;
  const { code, message, requestId } = (
    body as { error: { code: MusterError['code']; message: string; requestId: string } }
  ).error;
  const error = new MusterError(code, message, { status, requestId, retryAfterSeconds: retryAfter ?? null });
  return { ok: false, status, error } satisfies BatchResult<unknown>;
}
