/** The head at the start of every reply and refusal of lib/call: now, wake, replayed, space quota, left, org quota, left. */
export interface ReplyHead {
  readonly now: number;
  /** A due time to announce to the index of organizations; '' for none. */
  readonly wake: string;
  readonly replayed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Parses the head, and builds its rate headers (docs/reference.md, "Requests"). */
export function readHead(head: string): ReplyHead {
  const [now, wake = '', replayed = '', spaceQuota = '', spaceLeft, orgQuota = '', orgLeft] = head.split(',');
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
