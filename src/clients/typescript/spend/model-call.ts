import { follow, maxTimerMs } from '../send.ts';
import type { ReservationRecord } from '../worker/spending.ts';
import { type EndedCall, endByStatus, type RequestEnd } from './outcome.ts';
import { type Counted, type ProviderHeaders, type Remaining, remainingIn, retryAfterSeconds } from './rate-limits.ts';
import { addUsage, noUsage, type Usage, usageIn } from './usage.ts';

/** The usage of a call, as reported by the function itself. */
export interface Used extends Partial<Usage> {
  /** The cost in minor units, rounded up; it takes precedence over `price`. */
  readonly amountMinor?: string | bigint | number;
  /** The units of the quota; they take precedence over the tokens. */
  readonly units?: number;
}

/** A cost as a whole number. A fraction is rounded up, because the call has been made and must be paid for. */
export function wholeMinor(amount: string | bigint | number): bigint {
  return BigInt(typeof amount === 'number' ? Math.ceil(amount) : amount);
}

/** The status with which providers refuse a call above their rate limits. */
const tooMany = 429;

/** The surroundings of a model call. */
export interface CallContext {
  readonly providers: readonly ProviderHeaders[];
  /** Called before the caller sees a 429, because others may be about to call as well. */
  readonly limited: (retryAfterSeconds: number | undefined) => Promise<void>;
  readonly earlier: () => Promise<readonly ReservationRecord[]>;
  readonly workKey: string | undefined;
  /** How long the call may take. */
  readonly limitMs: number;
}

/** A model call, passed to the function that makes it. */
export class ModelCall {
  /** Aborts when the call has taken too long: 30 seconds before `maxSeconds` are over. `fetch` then ends by itself. */
  readonly signal: AbortSignal;
  /** The workKey of the call's reservation, unique among all attempts; undefined without a budget. */
  readonly workKey: string | undefined;
  /**
   * The reservations in this budget that earlier attempts of the same work have made, oldest first. An attempt that died
   * leaves one that is ACTIVE until its `settleBy`, and SETTLED from then on.
   */
  readonly earlier: () => Promise<readonly ReservationRecord[]>;
  usage: Usage | undefined;
  /** The number of successful requests. */
  requests = 0;
  /** The provider's limits, as reported with the last answer. */
  readonly remaining: { [counts in Counted]?: Remaining } = {};
  /** Whether the provider has refused a request with 429. */
  isLimited = false;
  amountMinor: bigint | undefined;
  units: number | undefined;
  readonly #context: CallContext;
  readonly #over = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #ends: RequestEnd[] = [];
  #hasTakenFetch = false;
  #hasReported = false;

  constructor(context: CallContext) {
    const { limitMs, earlier, workKey } = context;
    this.#context = context;
    this.signal = this.#over.signal;
    this.earlier = earlier;
    this.workKey = workKey;
    const reason = new DOMException(`the call took longer than ${limitMs / 1000} s`, 'TimeoutError');
    this.#timer = setTimeout(() => this.#over.abort(reason), Math.min(limitMs, maxTimerMs));
  }

  /**
   * Like the global `fetch`, also for a provider's SDK (`new OpenAI({ fetch: call.fetch, maxRetries: 0 })`). Reads the
   * usage in JSON answers, and the headers that report the provider's remaining limits.
   */
  get fetch(): typeof fetch {
    this.#hasTakenFetch = true;
    return (input, init) => this.#fetch(input, init);
  }

  async #fetch(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
    const given = init.signal ?? (input instanceof Request ? input.signal : undefined);
    this.signal.throwIfAborted();
    given?.throwIfAborted();
    const at = this.#ends.push('open') - 1;
    const cut = new AbortController();
    const leaves = [this.signal, given].map((signal) => follow(signal, () => cut.abort(signal?.reason)));
    const ends = (end: RequestEnd): void => {
      this.#ends[at] = end;
      if (end !== 'left') for (const leave of leaves) leave();
    };
    let response: Response;
    let text: string | undefined;
    try {
      response = await fetch(input, { ...init, signal: cut.signal });
      const isJson = /^application\/([\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '');
      if (!response.ok || isJson || !response.body) text = await response.text();
    } catch (error) {
      ends('lost');
      throw error;
    }
    const { headers, status, statusText } = response;
    this.#readHeaders(headers);
    if (text !== undefined) {
      const usage = usageOf(text);
      if (usage) this.#add(usage);
      const end = endByStatus(status);
      ends(end === 'lost' ? end : usage ? 'known' : (end ?? 'silent'));
    } else ends('left');
    if (response.ok) this.requests++;
    if (status === tooMany) {
      this.isLimited = true;
      await this.#context.limited(retryAfterSeconds(headers));
    }
    const body = text === undefined ? watched(response.body as ReadableStream<Uint8Array>, ends) : text || null;
    return new Response(body, { status, statusText, headers });
  }

  #readHeaders(headers: Headers): void {
    for (const counts of ['tokens', 'requests'] as const) {
      const remaining = remainingIn(headers, counts, this.#context.providers);
      if (remaining) this.remaining[counts] = remaining;
    }
  }

  #add({ amountMinor, units, ...usage }: Used): void {
    if (amountMinor !== undefined) this.amountMinor = (this.amountMinor ?? 0n) + wholeMinor(amountMinor);
    if (units !== undefined) this.units = (this.units ?? 0) + units;
    if (Object.keys(usage).length > 0) this.usage = addUsage(this.usage ?? noUsage, usage);
  }

  /**
   * Reports usage that is not in a JSON answer, for example of a stream. Several reports add up. After a stream that broke
   * off, a report says what it cost, if no other request has begun since and the function returns; otherwise the estimate
   * is booked.
   */
  used(used: Used): void {
    this.#hasReported = true;
    if (this.#ends.at(-1) === 'cut') this.#ends[this.#ends.length - 1] = 'left';
    this.#add(used);
  }

  /** The function has ended. */
  ended(hasThrown: boolean): EndedCall {
    clearTimeout(this.#timer);
    const [hasTakenFetch, hasReported] = [this.#hasTakenFetch, this.#hasReported];
    return { requests: [...this.#ends], hasThrown, hasTakenFetch, hasReported };
  }
}

function usageOf(text: string): Usage | undefined {
  try {
    return usageIn(JSON.parse(text));
  } catch {
    // Not JSON. The caller gets the same text.
    return undefined;
  }
}

/** The same stream. Reports whether it was read to its end, or broke. */
function watched(body: ReadableStream<Uint8Array>, ends: (end: RequestEnd) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        ends('unsaid');
        controller.close();
      } catch (error) {
        ends('cut');
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
