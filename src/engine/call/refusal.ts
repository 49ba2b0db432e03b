import type { Logger } from 'pino';
import { type ReplyHead, readHead } from '../declare/reply.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import { ApiError, apiError, type ErrorTable, invalidApiKey } from '../route/errors.ts';
import { statusOf } from '../route/route-errors.ts';
import type { CallService } from '../route/service.ts';
import type { Response } from './call.ts';

/** Answers the error of a call, and counts it. Only here do errors become answers. */
export function refusalOf(
  thrown: unknown,
  { errors, metrics }: Pick<CallService, 'errors' | 'metrics'>,
  { requestId, route = '', log }: { readonly requestId: string; readonly route?: string; readonly log: Logger },
): { code: string; error: ApiError; answer: Response & { readonly text: string } } {
  const error = toApiError(thrown, errors);
  metrics.traffic.refusal(error.code);
  if (error.status === 500) {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    log.error({ requestId, error: text }, 'internal error');
  }
  const status = thrown instanceof Refusal ? statusOf(errors, error.code, route, thrown.detail) : error.status;
  return { code: error.code, error, answer: { status, headers: error.headers, text: envelope(error, requestId) } };
}

/** The API error for anything thrown. Refusals get the rate headers; an unexpected error is 500 INTERNAL. */
export function toApiError(error: unknown, errors: ErrorTable): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable)
    return apiError('STORE_UNAVAILABLE', '', { 'Retry-After': '1' }).with({ reason: error.reason });
  if (!(error instanceof Refusal)) return apiError('INTERNAL');
  if (error.code === 'INVALID_API_KEY') return invalidApiKey();
  const head = readHead(error.head);
  const known = apiError(error.code, error.detail, head.headers, errors);
  if (known.status !== 429) return known;
  const headers = { ...head.headers, 'Retry-After': String(retryAfter(error, head)) };
  return apiError(error.code, error.detail, headers, errors);
}

/** Whole seconds until the next minute (for the rates) or until the time the script named; otherwise 1. */
function retryAfter(error: Refusal, head: ReplyHead): number {
  if (error.code === 'RATE_LIMITED' || error.code === 'SERVICE_RATE_LIMITED')
    return 60 - Math.floor((head.now % 60_000) / 1000);
  const until = /\bat=(\d+)/.exec(error.detail)?.[1];
  return until === undefined ? 1 : Math.max(1, Math.ceil((Number(until) - head.now) / 1000));
}

/** The body of an error (docs/reference.md, "Requests"). */
export function envelope(error: ApiError, requestId: string): string {
  const { code, message, reason, inBatch } = error;
  return JSON.stringify({ error: { code, message, requestId, ...(reason !== undefined && { reason }), ...inBatch } });
}
