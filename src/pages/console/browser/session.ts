const storedKey = 'muster.key';
const storedKeys = 'muster.keys';
const storedAt = 'muster.signed-in-at';

/** A token refused sooner than this after sign-in has not expired: it was refused for another reason. */
const shortestMs = 60_000;

/**
 * The API key of this tab, or the token of its account. Gone when the tab closes: never in the URL, a cookie or
 * persistent storage.
 */
export const session = {
  get key(): string | undefined {
    return sessionStorage.getItem(storedKey) ?? undefined;
  },
  set key(key: string | undefined) {
    sessionStorage.removeItem(storedAt);
    if (key === undefined) sessionStorage.removeItem(storedKey);
    else sessionStorage.setItem(storedKey, key);
  },

  /** The keys of other organizations that have been used in this tab, by the organization. */
  get others(): ReadonlyMap<string, string> {
    const all = new Map<string, string>(JSON.parse(sessionStorage.getItem(storedKeys) ?? '[]'));
    all.delete(orgOf(this.key) ?? '');
    return all;
  },

  /** Keeps the current key, to come back to its organization. */
  keep(): void {
    const { key } = this;
    const org = orgOf(key);
    if (key === undefined || org === undefined) return;
    sessionStorage.setItem(storedKeys, JSON.stringify([...this.others, [org, key]]));
  },

  /** Forgets all keys. */
  forget(): void {
    this.key = undefined;
    sessionStorage.removeItem(storedKeys);
  },

  /** Stores a token from the issuer, and when it came. */
  begin(token: string): void {
    this.key = token;
    sessionStorage.setItem(storedAt, String(Date.now()));
  },

  /** Whether there is a token old enough to have expired, so that the issuer can replace it. */
  get isRenewable(): boolean {
    const at = sessionStorage.getItem(storedAt);
    return at !== null && Date.now() - Number(at) > shortestMs;
  },
};

/** The name of the organization that a key belongs to; undefined for a token. */
export const orgOf = (key: string | undefined): string | undefined => /^mk_([a-z0-9-]+)_/.exec(key ?? '')?.[1];
