/** How a request to the provider has ended, as far as its cost is concerned. */
export type RequestEnd =
  /** Refused, or failed before any output. */
  | 'free'
  /** Answered with a usage. */
  | 'known'
  /** Answered with JSON that has no usage, as by calls that list or upload something. */
  | 'silent'
  /** Answered completely in another format, such as a stream, whose usage only the function knows. */
  | 'unsaid'
  /** Answered, and not read to the end; or broken off, and the function has reported its usage since. */
  | 'left'
  /** A stream that broke off. */
  | 'cut'
  /** No complete answer: a time-out, an abort, a broken connection, or a status that leaves the cost open. */
  | 'lost'
  /** Not answered when the function ended. */
  | 'open';

/** A call of the function that has ended. */
export interface EndedCall {
  readonly requests: readonly RequestEnd[];
  readonly hasThrown: boolean;
  /** Whether the function has taken `call.fetch`, so that `requests` has all that it has sent. */
  readonly hasTakenFetch: boolean;
  /** Whether the function has reported what it used. */
  readonly hasReported: boolean;
}

/** What is known of the cost of an ended call. UNSAID: it was billed, but the amount is not known. */
export type Knowledge = 'NOTHING' | 'KNOWN' | 'UNSAID' | 'UNKNOWN';

/** What happens to the estimate of a call whose cost is unknown. */
export type OnUnknown = 'settle' | 'release';

/** Server errors that providers answer before they begin to work: internal, unavailable, overloaded. */
const freeServerErrors = [500, 503, 529];
const requestTimeout = 408;

/** How a request has ended whose answer has this status. Undefined for a success, which depends on the body. */
export function endByStatus(status: number): 'free' | 'lost' | undefined {
  if (status >= 200 && status < 300) return undefined;
  const isRefused = status >= 400 && status < 500 && status !== requestTimeout;
  return isRefused || freeServerErrors.includes(status) ? 'free' : 'lost';
}

export function knowledgeOf({ requests, hasThrown, hasTakenFetch, hasReported }: EndedCall): Knowledge {
  const has = (...ends: readonly RequestEnd[]): boolean => requests.some((end) => ends.includes(end));
  if (has('lost', 'cut', 'open')) return 'UNKNOWN';
  if (hasThrown && (!hasTakenFetch || has('left'))) return 'UNKNOWN';
  if (hasReported) return 'KNOWN';
  if (has('unsaid', 'left') || !hasTakenFetch) return 'UNSAID';
  if (has('known')) return 'KNOWN';
  return has('silent') ? 'UNSAID' : 'NOTHING';
}

/** The amount to book. known: the sum of the known costs; undefined if there is none. */
export function amountOf(
  knowledge: Knowledge,
  known: bigint | undefined,
  estimate: bigint,
  onUnknown: OnUnknown,
): bigint {
  const sum = known ?? 0n;
  if (knowledge === 'NOTHING' || (knowledge === 'UNKNOWN' && onUnknown === 'release')) return sum;
  if (knowledge === 'KNOWN') return known ?? estimate;
  return sum > estimate ? sum : estimate;
}
