import { MusterError } from '../error.ts';
import { jsonOf } from '../json.ts';
import type { Muster } from '../muster.ts';
import { onceWithin } from '../send.ts';
import { untraced } from '../tracing.ts';
import type { BatchedCall, BatchResult } from '../types.ts';

const maxCalls = 100;
/** The limit of a batch's calls together, below the service's 2 MiB to leave room for the rest of the request. */
const maxBytes = 1_500_000;
/** The most bytes that a character takes as JSON in UTF-8. */
const bytesOfCharacter = 3;
/** How long a call waits for others to share its request, unless there are enough sooner. */
const lingerMs = 25;

interface Waiting {
  readonly isJoining: boolean;
  readonly onSent: (() => void) | undefined;
  readonly bytes: number;
  readonly call: BatchedCall;
  readonly resolve: (result: BatchResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

interface SendOptions {
  readonly isJoining?: boolean;
  readonly onSent?: () => void;
}

/** Gathers calls into batches. */
export class Outbox {
  readonly #muster: Muster;
  /** How many calls are sent without waiting for more. */
  readonly #enough: () => number;
  #waiting: Waiting[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #timeoutMs: number;

  constructor(muster: Muster, timeoutMs: number, enough: () => number) {
    this.#muster = muster;
    this.#timeoutMs = timeoutMs;
    this.#enough = enough;
  }

  /**
   * Resolves with the call's answer. Throws if it was refused, or if its batch got no answer. isJoining: the call joins
   * the next batch as its last call, or is sent alone after a moment. onSent: called when its batch is sent.
   */
  async send<T>(call: BatchedCall<T>, { isJoining = false, onSent }: SendOptions = {}): Promise<T> {
    const result = await new Promise<BatchResult<unknown>>((resolve, reject) => {
      // Throws for this call alone if it is not JSON.
      const bytes = (jsonOf(call) ?? '').length * bytesOfCharacter;
      this.#waiting.push({ call, isJoining, onSent, bytes, resolve, reject });
      const others = isJoining ? 0 : this.#waiting.filter((one) => !one.isJoining).length;
      if (others >= Math.min(maxCalls, this.#enough())) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), lingerMs);
    });
    if (!result.ok) throw result.error;
    return result.answer as T;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Received messages count against the size of a batch's answer, so other calls go first.
    this.#waiting.sort((a, b) => Number(a.isJoining) - Number(b.isJoining));
    let bytes = 0;
    const cut = this.#waiting.findIndex((one, i) => {
      bytes += one.bytes;
      return i > 0 && (i >= maxCalls || bytes > maxBytes);
    });
    const batch = this.#waiting.splice(0, cut === -1 ? this.#waiting.length : cut);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#flush(), 0);
    for (const { onSent } of batch) onSent?.();
    // The batch's calls belong to many spans.
    untraced(() => void this.#deliver(batch));
  }

  /** Sends calls; in halves, if they are too large together for the service or a proxy. */
  async #deliver(batch: readonly Waiting[]): Promise<void> {
    const calls = batch.map(({ call }) => call);
    try {
      const results = await this.#muster.batch(calls, onceWithin(this.#timeoutMs));
      results.forEach((result, i) => void batch[i]?.resolve(result));
    } catch (error) {
      const middle = Math.floor(batch.length / 2);
      if (middle > 0 && error instanceof MusterError && error.status === 413)
        await Promise.all([this.#deliver(batch.slice(0, middle)), this.#deliver(batch.slice(middle))]);
      else batch.forEach(({ reject }) => void reject(error));
    }
  }
}
