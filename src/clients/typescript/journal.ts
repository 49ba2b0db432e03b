import { MusterError } from './error.ts';
import { calls } from './generated/calls.ts';
import { read, receive, strangeness } from './response.ts';
import { authorize, backoffMs, follow, type MusterOptions, numbered, pause, requestOf } from './send.ts';
import type { Event, EventFilter, EventOf, JournalOptions } from './types.ts';

/** A stream that is silent for longer counts as cut: one without events sends its position every 15 s. */
const silentMs = 40_000;
const firstPauseMs = 50;
const maxPauseMs = 10_000;
const maxAskedSeconds = 60;
/** Far more than an event has. */
const maxFrameLength = 32 * 1024 * 1024;

/** The events of a journal from a position on, as they happen. */
export interface Journal<E = Event> extends AsyncIterable<E> {
  /** The position after the last event returned. Store it as the `cursor` to continue with, even in another process. */
  readonly cursor: string | undefined;
}

/** An event of a stream, or only a new position. */
interface Frame {
  readonly cursor: string;
  readonly event: Event | undefined;
}

/** Follows the journal across lost connections; each event comes once. */
export function journal<const F extends EventFilter = never>(
  options: MusterOptions,
  { types, aggregate, scopeId, cursor, since, signal }: JournalOptions<F>,
): Journal<EventOf<F>> {
  const query = { types: types?.join(), aggregate, scopeId };
  const from = since instanceof Date ? since.toISOString() : since;
  let position = cursor;
  async function* follows(): AsyncGenerator<EventOf<F>, void> {
    for (let failures = 0; !signal?.aborted; ) {
      const where = { ...query, cursor: position, since: position === undefined ? from : undefined };
      // Outside the try: what is wrong with the options does not pass.
      const stream = framesOf(options, requestOf(options, calls['event.watch'], where), signal);
      try {
        for await (const frame of stream) {
          if (signal?.aborted) return;
          failures = 0;
          position = frame.cursor;
          if (frame.event) yield frame.event as EventOf<F>;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (!isPassing(error)) throw error;
        const wait = error instanceof MusterError ? Math.min(maxAskedSeconds, error.retryAfterSeconds ?? 0) * 1000 : 0;
        await pause(backoffMs(failures++, { firstMs: firstPauseMs, maxMs: maxPauseMs, minMs: wait }), signal).catch(
          () => undefined,
        );
      }
    }
  }
  return {
    get cursor() {
      return position;
    },
    [Symbol.asyncIterator]: follows,
  };
}

/**
 * Whether to try again: no answer, one that is not Muster's, a 408, a 429, or a server error other than damaged data. Any
 * error that is not a MusterError counts, as it does for a cut stream; calls report a lost answer as MusterError.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof MusterError) || error.code === 'UNREADABLE') return true;
  return !error.code.endsWith('_DAMAGED') && ([0, 408, 429].includes(error.status) || error.status >= 500);
}

/** One connection. Throws when it is cut or silent. */
async function* framesOf(
  options: MusterOptions,
  { url, request }: ReturnType<typeof requestOf>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame, void> {
  request.headers['Accept'] = 'text/event-stream';
  if (typeof options.key === 'function') await authorize(request, options.key);
  const requestId = crypto.randomUUID();
  const over = new AbortController();
  const end = (): void => over.abort(new DOMException('the stream is silent', 'TimeoutError'));
  const leave = follow(signal, end);
  let timer = setTimeout(end, silentMs);
  try {
    const response = await (options.fetch ?? fetch)(url, { ...numbered(request, requestId), signal: over.signal });
    const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream');
    if (response.status !== 200 || !isStream || !response.body || strangeness(response, requestId) !== undefined) {
      const call = `GET ${url}`;
      read(await receive(response, requestId), call);
      throw new MusterError('UNREADABLE', `${call}: ${response.status}, not a stream of events`, { requestId });
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new DOMException('the stream has ended', 'NetworkError');
      clearTimeout(timer);
      timer = setTimeout(end, silentMs);
      text += value;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      if (text.length > maxFrameLength) throw new DOMException('an event of the stream is too large', 'NetworkError');
      yield* parts.map(frameOf).filter((frame) => frame !== undefined);
    }
  } finally {
    clearTimeout(timer);
    leave();
    over.abort();
  }
}

/** Reads one block of the stream: one field per line (WHATWG HTML, "Server-sent events"). */
function frameOf(block: string): Frame | undefined {
  const field = (name: string): string | undefined => {
    const line = block.split('\n').find((one) => one.startsWith(`${name}: `));
    return line?.slice(name.length + 2);
  };
  const [cursor, data] = [field('id'), field('data')];
  if (cursor === undefined) return undefined;
  return { cursor, event: data === undefined ? undefined : (JSON.parse(data) as Event) };
}
