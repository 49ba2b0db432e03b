import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Sent, Service, State, Step } from './context.ts';
import { ApiError, apiError, type ErrorTable, invalidApiKey } from './errors.ts';
import { notFound } from './people.ts';
import { statusOf } from './route-errors.ts';

/** Answers errors of later steps. */
export function answerErrors(service: Service): Step {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const { state } = ctx;
      const refused = refusalOf(thrown, service, state);
      state.code = refused.code;
      if (thrown instanceof StoreUnavailable) state.reason = thrown.message;
      const text = state.match?.endpoint.errorBody?.(refused.error) ?? refused.answer.text;
      const answer = { ...refused.answer, text };
      const isPage = refused.code === 'ROUTE_NOT_FOUND' && service.routes.length > 0;
      state.answer = isPage ? notFound(ctx, answer) : answer;
    }
  };
}

/** The answer to the error of a request, or of a call of a batch, which is counted: the only place where errors become answers. */
export function refusalOf(
  thrown: unknown,
  { errors, metrics }: Pick<Service, 'errors' | 'metrics'>,
  { requestId, route = '', log }: Pick<State, 'requestId' | 'route' | 'log'>,
): { code: string; error: ApiError; answer: Sent & { readonly text: string } } {
  const error = toApiError(thrown, errors);
  metrics.traffic.refusal(error.code);
  if (error.status === 500) {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    log.error({ requestId, error: text }, 'internal error');
  }
  const status = thrown instanceof Refusal ? statusOf(errors, error.code, route) : error.status;
  return { code: error.code, error, answer: { status, headers: error.headers, text: envelope(error, requestId) } };
}

/**
 * The note at the start of every reply and refusal of lib/call: now, wake, replayed, space quota, left, org quota,
 * left.
 */
export interface Note {
  readonly now: number;
  /** A due time to announce to the index of organizations; '' for none. */
  readonly wake: string;
  readonly replayed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Parses the note, and builds its rate headers (docs/reference.md, "Requests"). */
export function readNote(note: string): Note {
  const [now, wake = '', replayed = '', spaceQuota = '', spaceLeft, orgQuota = '', orgLeft] = note.split(',');
  const at = Number(now);
  const reset = 60 - Math.floor((at % 60_000) / 1000);
  let policy = '';
  let rate = '';
  if (spaceQuota !== '') {
    policy = `"space";q=${spaceQuota};w=60`;
    rate = `"space";r=${spaceLeft};t=${reset}`;
  }
  if (orgQuota !== '') {
    policy += `${policy && ', '}"org";q=${orgQuota};w=60`;
    rate += `${rate && ', '}"org";r=${orgLeft};t=${reset}`;
  }
  const headers: Record<string, string> = {};
  if (policy !== '') {
    headers['RateLimit-Policy'] = policy;
    headers['RateLimit'] = rate;
  }
  if (replayed !== '') headers['Idempotent-Replayed'] = 'true';
  return { now: at, wake, replayed: replayed !== '', headers };
}

/** The answer to a failed call. Refusals have the rate headers; an unexpected error is 500 INTERNAL. */
export function toApiError(error: unknown, errors: ErrorTable): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) return apiError('STORE_UNAVAILABLE', '', { 'Retry-After': '1' });
  if (!(error instanceof Refusal)) return apiError('INTERNAL');
  if (error.code === 'INVALID_API_KEY') return invalidApiKey();
  const note = readNote(error.note);
  const known = apiError(error.code, error.detail, note.headers, errors);
  if (known.status !== 429) return known;
  const headers = { ...note.headers, 'Retry-After': String(retryAfter(error, note)) };
  return apiError(error.code, error.detail, headers, errors);
}

/** Whole seconds until the next minute (for the rates) or the time that the script named; otherwise 1. */
function retryAfter(error: Refusal, note: Note): number {
  if (error.code === 'RATE_LIMITED' || error.code === 'SERVICE_RATE_LIMITED')
    return 60 - Math.floor((note.now % 60_000) / 1000);
  const until = /\bat=(\d+)/.exec(error.detail)?.[1];
  return until === undefined ? 1 : Math.max(1, Math.ceil((Number(until) - note.now) / 1000));
}

/** The body of an error (docs/reference.md, "Requests"). */
export function envelope(error: ApiError, requestId: string): string {
  return JSON.stringify({ error: { code: error.code, message: error.message, requestId } });
}
