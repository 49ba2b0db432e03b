/** What a quota counts. */
export type Counted = 'tokens' | 'requests';

/** The state of one of a provider's limits, as reported with an answer. */
export interface Remaining {
  readonly units: number;
  /** When the limit resets, by the clock of this process; undefined if unknown. */
  readonly resetAt: Date | undefined;
}

/** The names of the headers for a limit's remaining units and its reset. */
export interface LimitHeaders {
  readonly remaining: string;
  /** A date-time, seconds, or a duration like `6m0s` or `20ms`. */
  readonly reset: string;
}

/** The headers of a provider's limits. */
export interface ProviderHeaders {
  readonly tokens: LimitHeaders;
  readonly requests: LimitHeaders;
}

/** The providers whose headers are known. To add another: `providers: [...knownProviders, { tokens: …, requests: … }]`. */
export const knownProviders: readonly ProviderHeaders[] = [
  // OpenAI and compatible providers.
  {
    tokens: { remaining: 'x-ratelimit-remaining-tokens', reset: 'x-ratelimit-reset-tokens' },
    requests: { remaining: 'x-ratelimit-remaining-requests', reset: 'x-ratelimit-reset-requests' },
  },
  // Anthropic.
  {
    tokens: { remaining: 'anthropic-ratelimit-tokens-remaining', reset: 'anthropic-ratelimit-tokens-reset' },
    requests: { remaining: 'anthropic-ratelimit-requests-remaining', reset: 'anthropic-ratelimit-requests-reset' },
  },
];

const duration =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
const unitsMs = [86_400_000, 3_600_000, 60_000, 1_000, 1];

/** The time in a reset header. */
function momentOf(text: string, now: number): Date | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return new Date(now + Number(text) * 1000);
  const [, ...parts] = duration.exec(text) ?? [];
  if (text !== '' && parts.length > 0)
    return new Date(now + parts.reduce((sum, part, i) => sum + Number(part ?? 0) * (unitsMs[i] ?? 0), 0));
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : new Date(at);
}

/** The remaining units of a limit, from an answer's headers; undefined if they don't report them. */
export function remainingIn(
  headers: Headers,
  limit: Counted,
  providers: readonly ProviderHeaders[],
  now = Date.now(),
): Remaining | undefined {
  for (const provider of providers) {
    const { remaining, reset } = provider[limit];
    const text = headers.get(remaining) ?? '';
    if (/^\d+$/.test(text)) return { units: Number(text), resetAt: momentOf(headers.get(reset) ?? '', now) };
  }
  return undefined;
}

/** How many seconds to wait after a 429, from the provider's headers; undefined if unknown. */
export function retryAfterSeconds(headers: Headers, now = Date.now()): number | undefined {
  const ms = headers.get('retry-after-ms');
  if (ms !== null && Number(ms) >= 0) return Number(ms) / 1000;
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const at = /^\d+(\.\d+)?$/.test(text) ? now + Number(text) * 1000 : Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now) / 1000;
}
