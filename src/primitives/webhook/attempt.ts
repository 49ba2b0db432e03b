import { setMaxListeners } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Message, messageHeaders } from './message.ts';
import type { Targets } from './target.ts';

/** Timeout for the status of the response. */
const answerMs = 15_000;
/** How much of a response's body is read, so that the receiver can finish; it is discarded. */
const drainBytes = 65_536;
const drainMs = 2_000;
const maxPauseMs = 86_400_000;

/** The outcome of one attempt; errorCode '' for a success. */
export interface DeliveryOutcome {
  readonly responseStatus: string;
  readonly errorCode: string;
  readonly durationMs: number;
  /** The receiver's Retry-After; 0 if it sent none. */
  readonly pauseMs: number;
}

interface Delivery {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly message: Message;
  /** The store's clock. */
  readonly at: number;
}

/** Makes one attempt. Never throws. `stop` ends it early. */
export async function attempt(
  targets: Targets,
  { url, secrets, message, at }: Delivery,
  stop: AbortSignal,
): Promise<DeliveryOutcome> {
  const start = performance.now();
  const durationMs = (): number => Math.round(performance.now() - start);
  // AbortSignal.any would leave a dependent signal on `stop` for every attempt of a worker.
  const over = new AbortController();
  const end = (): void => over.abort();
  const timer = setTimeout(end, answerMs);
  setMaxListeners(0, stop);
  stop.addEventListener('abort', end);
  if (stop.aborted) end();
  try {
    const response = await post(targets, new URL(url), messageHeaders(message, secrets, at), message.body, over.signal);
    drain(response);
    const status = response.statusCode ?? 0;
    const errorCode = status >= 200 && status < 300 ? '' : status >= 300 && status < 400 ? 'REDIRECTED' : 'STATUS';
    return { responseStatus: String(status), errorCode, durationMs: durationMs(), pauseMs: pauseOf(response, at) };
  } catch (error) {
    const errorCode = stop.aborted ? 'INTERRUPTED' : over.signal.aborted ? 'TIMEOUT' : codeOf(error);
    return { responseStatus: '', errorCode, durationMs: durationMs(), pauseMs: 0 };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}

function post(
  targets: Targets,
  url: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  targets.check(url);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // No connection reuse: the address of an open connection was checked some time ago.
    const options = { method: 'POST', agent: false, lookup: targets.lookup, signal, headers };
    const outgoing = send(url, options, resolve);
    outgoing.on('error', reject);
    // A response that switches protocols emits neither `response` nor `error`, and the signal no longer reaches it.
    outgoing.on('close', () => reject(new Error('no answer')));
    outgoing.end(body);
  });
}

function drain(response: IncomingMessage): void {
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), drainMs).unref();
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > drainBytes) response.destroy();
  });
  // The outcome is known; the end of the body does not matter.
  response.on('error', () => undefined);
  response.on('close', () => clearTimeout(timer));
}

/** Retry-After in seconds or as a date, relative to the attempt's clock. */
function pauseOf(response: IncomingMessage, at: number): number {
  const text = response.headers['retry-after']?.trim() ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - at;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(0, ms), maxPauseMs);
}

function codeOf(error: unknown): string {
  const code = String((error as { code?: unknown }).code);
  if (code === 'TARGET_FORBIDDEN' || code === 'NAME_NOT_RESOLVED') return code;
  if (code === 'ECONNREFUSED') return 'CONNECTION_REFUSED';
  if (/CERT|TLS|SSL|EPROTO|SELF_SIGNED|UNABLE_TO/.test(code)) return 'TLS_FAILED';
  return 'CONNECTION_FAILED';
}
