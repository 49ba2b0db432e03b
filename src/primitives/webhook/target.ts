import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Resolve, resolver } from './resolve.ts';

/** In a public range, but the metadata host of a cloud. */
const metadata = new Set(['168.63.129.16']);

/** The globally routable IPv6 addresses; all others are reserved or embed an IPv4 address. */
const publicIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is public: everything else is internal to some network. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4-mapped IPv6 address counts as the IPv4 address.
  const plain = ipaddr.process(address);
  if (metadata.has(plain.toString()) || plain.range() !== 'unicast') return false;
  return plain instanceof ipaddr.IPv4 || plain.match(publicIPv6);
}

/** A connection refused before it was made. */
class ForbiddenTarget extends Error {
  readonly code = 'TARGET_FORBIDDEN';
}

/** No address is known, whatever the reason: a failure of a name server must not look like one of the receiver. */
class NameNotResolved extends Error {
  readonly code = 'NAME_NOT_RESOLVED';
}

declare module '../../engine/route/service.ts' {
  interface RoomServices {
    readonly targets: Targets;
  }
}

/** Decides which hosts may be called. */
export class Targets {
  readonly #allowPrivate: boolean;
  readonly #resolve: Resolve;

  constructor(allowPrivate: boolean, resolve: Resolve = resolver()) {
    this.#allowPrivate = allowPrivate;
    this.#resolve = resolve;
  }

  /** `ok`, or the forbidden address. A name that does not resolve yet is checked again for each attempt. */
  async verdict(url: string): Promise<string> {
    if (this.#allowPrivate) return 'ok';
    const host = hostOf(new URL(url));
    if (isIP(host)) return isPublic(host) ? 'ok' : host;
    const addresses = await this.#resolve(host).catch(() => []);
    return addresses.find(({ address }) => !isPublic(address))?.address ?? 'ok';
  }

  /** Throws ForbiddenTarget for a forbidden address in the url itself, which needs no lookup. */
  check(url: URL): void {
    const host = hostOf(url);
    if (!this.#allowPrivate && isIP(host) && !isPublic(host)) throw new ForbiddenTarget(host);
  }

  /**
   * The lookup of a connection. The address checked here is the one connected to, however fast the name changes. One
   * forbidden address forbids them all.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const forbidden = this.#allowPrivate ? undefined : addresses.find(({ address }) => !isPublic(address));
        if (forbidden) callback(new ForbiddenTarget(forbidden.address), '');
        else if (!first) callback(new NameNotResolved(hostname), '');
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      () => callback(new NameNotResolved(hostname), ''),
    );
  };
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
