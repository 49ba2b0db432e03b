import { Redis, type RedisOptions } from 'ioredis';

type Options = Omit<RedisOptions, 'replyMapping'>;

const sentinelScheme = 'redis+sentinel://';

/** A server's address: a URL, the path of a unix socket, or a list of Sentinels that resolve it. */
type Address = string;

/**
 * The servers in REDIS_URL: one, or a comma-separated list of cluster nodes. Nodes given as a bare `host:port` inherit
 * scheme, user and password from the first one.
 */
export function addressesOf(url: string): Address[] {
  if (url.startsWith(sentinelScheme)) return [url];
  const [first = '', ...others] = url.split(',').map((part) => part.trim());
  if (others.length === 0) return [first.replace(/^unix:\/\//, '')];
  const before = /^rediss?:\/\/([^@/]*@)?/.exec(first)?.[0] ?? '';
  return [first, ...others.map((other) => (other.includes('://') ? other : `${before}${other}`))];
}

/** The Sentinels, the name of the master they watch, and the store's login; undefined for any other kind of address. */
export function sentinelsOf(address: Address): Options | undefined {
  const form = /^redis\+sentinel:\/\/(?:([^:@/]*):([^@/]*)@)?([^@/]+)\/([\w.-]+)$/;
  const [, username = '', password = '', hosts, name] = form.exec(address) ?? [];
  if (!hosts || !name) return undefined;
  const sentinels = hosts.split(',').map((host) => {
    const { hostname, port } = new URL(`redis://${host.trim()}`);
    if (hostname === '') throw new Error('a Sentinel has no host');
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26_379) };
  });
  const login = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
  return { sentinels, name, ...login };
}

/** A client of the server. With Sentinels, the master is resolved again on every connection. */
export function clientOf(address: Address, options: Options): Redis {
  return address.startsWith(sentinelScheme)
    ? new Redis({ ...options, ...sentinelsOf(address) })
    : new Redis(address, options);
}
