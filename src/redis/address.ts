/** A server's address as ioredis takes it: a URL, or the path of a unix socket. */
export type Address = string;

/**
 * The servers that REDIS_URL names: one, or several nodes of a cluster after one another with commas in between. What
 * the first one says (scheme, user, password) holds for those that are only `host:port`.
 */
export function addressesOf(url: string): Address[] {
  const [first = '', ...others] = url.split(',').map((part) => part.trim());
  if (others.length === 0) return [first.replace(/^unix:\/\//, '')];
  const before = /^rediss?:\/\/([^@/]*@)?/.exec(first)?.[0] ?? '';
  return [first, ...others.map((other) => (other.includes('://') ? other : `${before}${other}`))];
}
