import { Redis, type RedisOptions } from 'ioredis';

type Options = Omit<RedisOptions, 'replyMapping'>;

const sentinelScheme = 'redis+sentinel://';

/** A server's address: a URL, the path of a unix socket, or the Sentinels that know which server it is. */
type Address = string;

/**
 * The servers that REDIS_URL names: one, or several nodes of a cluster after one another with commas in between. What
 * the first one says (scheme, user, password) holds for those that are only `host:port`.
 */
export function addressesOf(url: string): Address[] {
  if (url.startsWith(sentinelScheme)) return [url];
  const [first = '', ...others] = url.split(',').map((part) => part.trim());
  if (others.length === 0) return [first.replace(/^unix:\/\//, '')];
  const before = /^rediss?:\/\/([^@/]*@)?/.exec(first)?.[0] ?? '';
  return [first, ...others.map((other) => (other.includes('://') ? other : `${before}${other}`))];
}

/** Sentinels and the name of the master that they watch; the login is the store's. undefined: not of that form. */
export function sentinelsOf(address: Address): Options | undefined {
  const form = /^redis\+sentinel:\/\/(?:([^:@/]*):([^@/]*)@)?([^@/]+)\/([\w.-]+)$/;
  const [, username = '', password = '', hosts, name] = form.exec(address) ?? [];
  if (!hosts || !name) return undefined;
  const sentinels = hosts.split(',').map((host) => {
    const { hostname, port } = new URL(`redis://${host.trim()}`);
    if (hostname === '') throw new Error('a Sentinel without a host');
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26_379) };
  });
  const login = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
  return { sentinels, name, ...login };
}

/** A client of the server, which is asked for anew at each connection where Sentinels know it. */
export function clientOf(address: Address, options: Options): Redis {
  return address.startsWith(sentinelScheme)
    ? new Redis({ ...options, ...sentinelsOf(address) })
    : new Redis(address, options);
}
