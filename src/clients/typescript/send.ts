import { type Codec, decodeAnswer, encodeArgs } from './codec.ts';
import { MusterError, textOf } from './error.ts';
import { calls } from './generated/calls.ts';
import { jsonOf } from './json.ts';
import { read, receive, retryAfter, type SendOutcome } from './response.ts';
import { keepTime } from './server-time.ts';
import { inCallSpan } from './tracing.ts';
import type { CallOptions } from './types.ts';

/** The server, the space and the credentials of a client. */
export interface MusterOptions {
  /**
   * The server's URL, such as http://127.0.0.1:8080. `url`, `key` and `spaceId` may be undefined (an unset environment
   * variable); the first call then throws.
   */
  readonly url: string | undefined;
  /**
   * The API key, or a function that returns a token of your identity provider. It is called for each attempt, so cache the
   * token until it is about to expire.
   */
  readonly key: string | (() => string | Promise<string>) | undefined;
  readonly spaceId: string | undefined;
  /**
   * For how long a call is repeated that gets 429, 503, no answer, or one that is not Muster's, from the first of them on;
   * default 30. 0 means no retries.
   */
  readonly retrySeconds?: number | undefined;
  /** Maximum attempts of such a call within that time; default any number. 1 means no retries. */
  readonly attempts?: number | undefined;
  /** The timeout of an attempt; default 60, as a receive or watch may be held for 30. */
  readonly timeoutSeconds?: number | undefined;
  /** Encode payloads, inputs and results, in this order; default none. All users of a mailbox need the same codecs. */
  readonly codecs?: readonly Codec[] | undefined;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch | undefined;
}

/**
 * Refusals with 429 of calls that want something now or not at all: an acquire without ttlSeconds, a consume, a receive. For
 * each, another call waits in a queue.
 */
const atOnceCodes = ['POOL_EXHAUSTED', 'CONCURRENCY_LIMITED', 'ALLOWANCE_EXHAUSTED', 'ALLOWANCE_COOLING_DOWN'];
/** A longer Retry-After is left to the caller. */
const maxPauseSeconds = 60;
const firstPauseMs = 100;
const maxOwnPauseMs = 2_000;
const defaultRetrySeconds = 30;
/** Longer timers fire immediately. */
export const maxTimerMs = 2 ** 31 - 1;

/** Options of a call that the client makes for its helpers. */
export interface OwnOptions extends CallOptions {
  /** The timeout of an attempt, instead of the client's. As for any lost answer, the error is UNREACHABLE. */
  readonly timeoutMs?: number | undefined;
}

/** Makes a call once, and waits this long for its answer. */
export const onceWithin = (timeoutMs: number): OwnOptions => ({ attempts: 1, timeoutMs });

/** Method and path of a call, relative to /v1. */
type Target = readonly [method: string, path: string];
type AnyArgs = Readonly<Record<string, unknown>>;

/** Makes one call and retries transient failures. All attempts have the same Idempotency-Key, so it happens once. */
export function send(
  options: MusterOptions,
  name: keyof typeof calls,
  args: AnyArgs,
  { traceparent, tracestate, ...callOptions }: OwnOptions,
): Promise<unknown> {
  return inCallSpan({ name, args, url: options.url }, { traceparent, tracestate }, (headers) =>
    sendWith(headers, options, calls[name], args, callOptions),
  );
}

async function sendWith(
  traceHeaders: Readonly<Record<string, string>>,
  options: MusterOptions,
  target: Target,
  args: AnyArgs,
  {
    signal,
    idempotencyKey,
    retrySeconds = options.retrySeconds ?? defaultRetrySeconds,
    attempts = options.attempts ?? Number.POSITIVE_INFINITY,
    timeoutMs = (options.timeoutSeconds ?? 60) * 1000,
  }: OwnOptions,
): Promise<unknown> {
  const { codecs } = options;
  const { url, request } = requestOf(options, target, codecs ? await encodeArgs(codecs, args) : args, idempotencyKey);
  Object.assign(request.headers, traceHeaders);
  for (let attempt = 1, endsAt: number | undefined; ; attempt++) {
    if (typeof options.key === 'function') await authorize(request, options.key);
    const outcome = await once(options.fetch ?? fetch, url, request, { signal, timeoutMs });
    if (!(outcome instanceof Error) && outcome.strange === undefined) keepTime(options, outcome.headers);
    const now = performance.now();
    // An attempt that begins before that may end much later.
    endsAt ??= now + retrySeconds * 1000;
    const pauseMs = attempt < attempts && now < endsAt ? pauseBefore(outcome, attempt) : undefined;
    if (pauseMs === undefined) {
      const answer = read(outcome, `${target[0]} ${url}`);
      return codecs ? decodeAnswer(codecs, answer) : answer;
    }
    await pause(pauseMs, signal);
  }
}

interface Prepared {
  readonly url: string;
  readonly request: RequestInit & { readonly headers: Record<string, string> };
}

/** The request of a call. */
export function requestOf(
  { url: base, key, spaceId }: MusterOptions,
  [method, path]: Target,
  args: AnyArgs,
  idempotencyKey?: string,
): Prepared {
  if (!base || !key || !spaceId) throw new TypeError('createMuster needs url, key and spaceId');
  const { target, rest } = addressOf(path.replace('{spaceId}', encodeURIComponent(spaceId)), args);
  const headers: Record<string, string> = typeof key === 'string' ? { Authorization: `Bearer ${key}` } : {};
  const request: Prepared['request'] = { method, headers };
  let search = '';
  if (method === 'GET' || method === 'DELETE') search = searchOf(rest);
  if (method !== 'GET') {
    headers['Idempotency-Key'] = idempotencyKey ?? crypto.randomUUID();
    headers['Content-Type'] = 'application/json';
    if (method !== 'DELETE') request.body = jsonOf(rest) ?? '';
  }
  return { url: `${base.replace(/\/+$/, '')}/v1${target}${search}`, request };
}

/** Sets the token for the next attempt. If the key function throws, the error is UNREACHABLE. */
export async function authorize(
  { headers }: Prepared['request'],
  token: () => string | Promise<string>,
): Promise<void> {
  try {
    headers['Authorization'] = `Bearer ${await token()}`;
  } catch (cause) {
    throw new MusterError('UNREACHABLE', `the key function threw ${textOf(cause)}`, { cause });
  }
}

/** Fills path parameters from the arguments; `rest` has the remaining arguments. */
function addressOf(path: string, args: AnyArgs) {
  const rest = { ...args };
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    delete rest[name];
    return encodeURIComponent(String(args[name]));
  });
  return { target, rest };
}

function searchOf(query: AnyArgs): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

/**
 * Makes one attempt. Returns the response, or an error if it did not arrive completely. Throws when the caller's signal
 * aborts.
 */
async function once(
  fetcher: typeof fetch,
  url: string,
  request: RequestInit,
  { signal, timeoutMs }: { signal: AbortSignal | undefined; timeoutMs: number },
): Promise<SendOutcome | Error> {
  const over = new AbortController();
  const end = (): void => over.abort(new DOMException(`no answer within ${timeoutMs / 1000} s`, 'TimeoutError'));
  const timer = setTimeout(end, Math.min(timeoutMs, maxTimerMs));
  const leave = follow(signal, end);
  const requestId = crypto.randomUUID();
  try {
    const response = await fetcher(url, { ...numbered(request, requestId), signal: over.signal });
    return await receive(response, requestId);
  } catch (error) {
    signal?.throwIfAborted();
    return error as Error;
  } finally {
    clearTimeout(timer);
    leave();
  }
}

/** A request with an id, which its answer must have. A redirect would take the key and the payload elsewhere. */
export function numbered(request: RequestInit, requestId: string): RequestInit {
  return { ...request, headers: { ...request.headers, 'X-Request-Id': requestId }, redirect: 'manual' };
}

/** Callbacks by signal. One listener calls them all. */
const followers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `end` when the signal aborts (or at once, if it has) until the returned function is called. AbortSignal.any would
 * leak memory on a long-lived signal with every attempt. A listener per attempt would trigger Node's leak warning.
 */
export function follow(signal: AbortSignal | undefined, end: () => void): () => void {
  if (signal?.aborted) end();
  if (!signal || signal.aborted) return () => undefined;
  const ends = followers.get(signal) ?? new Set();
  if (!followers.has(signal)) {
    followers.set(signal, ends);
    signal.addEventListener('abort', () => ends.forEach((one) => void one()), { once: true });
  }
  ends.add(end);
  return () => ends.delete(end);
}

/** Up to a quarter more, so that callers that failed together don't come back together. */
const spread = (ms: number): number => ms * (1 + Math.random() / 4);

/** The delay after this many earlier failures: doubles up to `maxMs` and is never below `minMs`. */
export function backoffMs(
  failures: number,
  { firstMs = firstPauseMs, maxMs = Number.POSITIVE_INFINITY, minMs = 0 } = {},
): number {
  return spread(Math.max(minMs, Math.min(maxMs, firstMs * 2 ** failures)));
}

/** The delay before the next attempt, with jitter; undefined if there is none. */
function pauseBefore(outcome: SendOutcome | Error, attempt: number): number | undefined {
  const ownMs = { maxMs: maxOwnPauseMs };
  if (outcome instanceof Error) return backoffMs(attempt - 1, ownMs);
  const { status, envelope, strange } = outcome;
  // The same bytes would be too large again.
  if (strange === undefined ? ![408, 429, 503].includes(status) : status === 413) return undefined;
  if (strange === undefined && status === 429 && atOnceCodes.includes(envelope?.code ?? '')) return undefined;
  const seconds = retryAfter(outcome) ?? (status === 429 || status === 503 ? 1 : 0);
  return seconds > maxPauseSeconds ? undefined : backoffMs(attempt - 1, { ...ownMs, minMs: seconds * 1000 });
}

/** Resolves after a while; rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      leave();
      resolve();
    }, ms);
    const leave = follow(signal, () => {
      clearTimeout(timer);
      reject(signal?.reason);
    });
  });
}
