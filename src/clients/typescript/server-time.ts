/** What identifies a client: its options. */
type Client = object;

/** The `Date` header of each client's last answer, and when it arrived. */
const seen = new WeakMap<Client, { readonly date: string; readonly at: number }>();

/** Keeps the time in an answer's headers. */
export function keepTime(client: Client, headers: Headers): void {
  const date = headers.get('date');
  if (date !== null) seen.set(client, { date, at: performance.now() });
}

/** A `Date` header leaves out the part of a second. */
const roundingMs = 1000;

/** The server's time, up to a second later; undefined before its first answer. The clock of this process may be wrong. */
export function timeOf(client: Client): number | undefined {
  const { date, at = 0 } = seen.get(client) ?? {};
  const then = Date.parse(date ?? '');
  return Number.isNaN(then) ? undefined : then + roundingMs + performance.now() - at;
}
