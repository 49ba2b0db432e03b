import { type Codec, decodeAnswer, encodeArgs } from './codec.ts';
import { MusterError } from './error.ts';
import { calls } from './generated/calls.ts';
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
  /** Maximum attempts of a call that gets no answer, 429 or 503; default 5. 1 means no retries. */
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
/** Longer timers fire immediately. */
export const maxTimerMs = 2 ** 31 - 1;

/** Options of a call that the client makes for its helpers. */
export interface OwnOptions extends CallOptions {
  /** The timeout of an attempt, instead of the client's. As for any lost answer, the error is UNREACHABLE. */
  readonly timeoutMs?: number | undefined;
}

/** Makes a call once, and waits this long for its answer. */
export const onceWithin = (timeoutMs: number): OwnOptions => ({ attempts: 1, timeoutMs });

/** The response to one attempt. */
export interface SendOutcome {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

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
    attempts = options.attempts ?? 5,
    timeoutMs = (options.timeoutSeconds ?? 60) * 1000,
  }: OwnOptions,
): Promise<unknown> {
  const { codecs } = options;
  const { url, request } = requestOf(options, target, codecs ? await encodeArgs(codecs, args) : args, idempotencyKey);
  Object.assign(request.headers, traceHeaders);
  for (let attempt = 1; ; attempt++) {
    if (typeof options.key === 'function') await authorize(request, options.key);
    const outcome = await once(options.fetch ?? fetch, url, request, { signal, timeoutMs });
    if (!(outcome instanceof Error)) keepTime(options, outcome.headers);
    const pauseMs = attempt < attempts ? pauseBefore(outcome, attempt) : undefined;
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
    if (method !== 'DELETE') request.body = JSON.stringify(rest);
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
    throw new MusterError('UNREACHABLE', `the key function threw ${String(cause)}`, { cause });
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
  try {
    const response = await fetcher(url, { ...request, signal: over.signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    return error as Error;
  } finally {
    clearTimeout(timer);
    leave();
  }
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
  if (outcome instanceof Error) return backoffMs(attempt - 1);
  if (outcome.status !== 429 && outcome.status !== 503) return undefined;
  if (outcome.status === 429 && atOnceCodes.includes(envelopeOf(jsonOf(outcome.text))?.code ?? '')) return undefined;
  const seconds = retryAfter(outcome) ?? 1;
  return seconds > maxPauseSeconds ? undefined : spread(seconds * 1000);
}

function retryAfter({ headers }: SendOutcome): number | null {
  const text = headers.get('Retry-After');
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
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

/** The answer of a call; throws if it is an error. */
export function read(outcome: SendOutcome | Error, call: string): unknown {
  if (outcome instanceof Error) {
    const why = outcome.cause instanceof Error ? outcome.cause.message : outcome.message;
    throw new MusterError('UNREACHABLE', `${call}: no answer: ${why || outcome.message}`, { cause: outcome });
  }
  const { status, text, headers } = outcome;
  const about = { status, requestId: headers.get('X-Request-Id'), retryAfterSeconds: retryAfter(outcome) };
  if (status === 204) return undefined;
  const body = jsonOf(text);
  if (status < 300 && body !== undefined) return body;
  const envelope = envelopeOf(body);
  if (envelope) {
    const { code, message, index, call } = envelope;
    throw new MusterError(code, message, { ...about, index, call });
  }
  throw new MusterError('UNREADABLE', `${call}: ${status}, not a Muster response: ${text.slice(0, 200)}`, about);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Envelope = Pick<MusterError, 'code' | 'message' | 'index' | 'call'>;

/** The error in the body of a response; undefined if it is none of Muster's. */
function envelopeOf(body: unknown): Envelope | undefined {
  const { error } = (body ?? {}) as { error?: Envelope };
  return typeof error?.code === 'string' ? error : undefined;
}
