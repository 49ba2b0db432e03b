const storedKey = 'muster.key';
const storedAt = 'muster.signed-in-at';

/** A token that is refused so soon was not refused because it has ended. */
const shortestMs = 60_000;

/** The key of this tab, or the token of its account, gone when it closes: never in the URL, a cookie or persistent storage. */
export const session = {
  get key(): string | undefined {
    return sessionStorage.getItem(storedKey) ?? undefined;
  },
  set key(key: string | undefined) {
    sessionStorage.removeItem(storedAt);
    if (key === undefined) sessionStorage.removeItem(storedKey);
    else sessionStorage.setItem(storedKey, key);
  },

  /** Takes the token that the issuer has given. */
  begin(token: string): void {
    this.key = token;
    sessionStorage.setItem(storedAt, String(Date.now()));
  },

  /** Whether the token has worked for a while, so that it has probably ended: the issuer can give the next one. */
  get isRenewable(): boolean {
    const at = sessionStorage.getItem(storedAt);
    return at !== null && Date.now() - Number(at) > shortestMs;
  },
};
