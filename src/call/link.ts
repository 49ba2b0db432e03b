import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Links: addresses that let whoever has one do one thing with one record, without an API key (lua/lib/caller). The last
 * segment of the path is the token, `<org>_<43 characters>`. Only the digest of its secret part is stored.
 */

const tokenBytes = 32;
const tokenForm = /^([a-z0-9-]{3,40})_([A-Za-z0-9_-]{43})$/;

const digestOf = (secret: string): string => hash('sha256', secret, 'base64url');

/** The arguments with which a script keeps a new link. */
export function newLink(): { readonly linkToken: string; readonly linkDigest: string } {
  const linkToken = randomBytes(tokenBytes).toString('base64url');
  return { linkToken, linkDigest: digestOf(linkToken) };
}

/** The holder of a link, for scripts that say `@request … link`; undefined: it has no token's form. */
export function linkHolder(token: string): { readonly org: string; readonly apiKeyDigest: string } | undefined {
  const [, org, secret] = tokenForm.exec(token) ?? [];
  return org === undefined || secret === undefined ? undefined : { org, apiKeyDigest: digestOf(secret) };
}

/** A host as a Host header has it. */
const hostForm = /^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/;

/** Makes the address of a link from the path of its page and its token; undefined for a caller that is given none. */
export type LinkTo = (path: string, linkToken: string) => string | undefined;

/** The parts of a call that say what its links begin with. */
interface Asker {
  readonly caller: { readonly org: string };
  readonly headers: IncomingHttpHeaders;
  /** A model gets no links: they are for people. */
  readonly isModel?: boolean;
}

/** publicUrl: PUBLIC_URL; undefined: the host that the request was sent to. */
export function linkTo({ caller, headers, isModel }: Asker, publicUrl: string | undefined): LinkTo {
  return (path, linkToken) => {
    if (isModel) return undefined;
    const { host = '' } = headers;
    return `${publicUrl ?? `http://${hostForm.test(host) ? host : 'localhost'}`}${path}${caller.org}_${linkToken}`;
  };
}
