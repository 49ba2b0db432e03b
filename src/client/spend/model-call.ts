import { type ProviderHeaders, type Remaining, remainingIn, retryAfterSeconds } from './rate-limits.ts';
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

/** A model call, passed to the function that makes it. */
export class ModelCall {
  /**
   * Like the global `fetch`, also for a provider's SDK (`new OpenAI({ fetch: call.fetch, maxRetries: 0 })`). Reads the
   * usage in JSON answers, and the headers that report the provider's remaining limits.
   */
  readonly fetch: typeof fetch;
  usage: Usage | undefined;
  /** The number of successful requests. */
  requests = 0;
  remaining: Remaining | undefined;
  /** Whether the provider has refused a request with 429. */
  isLimited = false;
  amountMinor: bigint | undefined;
  units: number | undefined;

  constructor(
    limit: 'tokens' | 'requests',
    providers: readonly ProviderHeaders[],
    limited: (retryAfterSeconds: number | undefined) => Promise<void>,
  ) {
    this.fetch = async (input, init) => {
      const response = await fetch(input, init);
      const { headers, status } = response;
      this.remaining = remainingIn(headers, limit, providers) ?? this.remaining;
      if (status === tooMany) {
        this.isLimited = true;
        // Before the caller sees the response, because others may be about to call as well.
        await limited(retryAfterSeconds(headers));
      } else if (response.ok) this.requests++;
      if (!/^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '')) return response;
      const text = await response.text();
      this.#read(text);
      return new Response(text === '' ? null : text, { status, statusText: response.statusText, headers });
    };
  }

  #read(text: string): void {
    try {
      const usage = usageIn(JSON.parse(text));
      if (usage) this.used(usage);
    } catch {
      // Not JSON. The caller gets the same text.
    }
  }

  /** Reports usage that is not in a JSON answer, for example of a stream. Several reports add up. */
  used({ amountMinor, units, ...usage }: Used): void {
    if (amountMinor !== undefined) this.amountMinor = (this.amountMinor ?? 0n) + wholeMinor(amountMinor);
    if (units !== undefined) this.units = (this.units ?? 0) + units;
    if (Object.keys(usage).length > 0) this.usage = addUsage(this.usage ?? noUsage, usage);
  }
}
