import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Links: addresses that let their holder do one thing with one record, without an API key (lua/lib/caller). The last segment
 * of the path is the token, `<org>_<43 characters>`. Only the digest of its secret part is stored.
 */

const tokenBytes = 32;
const tokenForm = /^([a-z0-9-]{3,40})_([A-Za-z0-9_-]{43})$/;

const digestOf = (secret: string): string => hash('sha256', secret, 'base64url');

/** The script's arguments for a new link. */
export function newLink(): { readonly linkToken: string; readonly linkDigest: string } {
  const linkToken = randomBytes(tokenBytes).toString('base64url');
  return { linkToken, linkDigest: digestOf(linkToken) };
}

/** The caller with a link, for scripts with `@request … link`; undefined if the token is malformed. */
export function linkHolder(token: string): { readonly org: string; readonly apiKeyDigest: string } | undefined {
  const [, org, secret] = tokenForm.exec(token) ?? [];
  return org === undefined || secret === undefined ? undefined : { org, apiKeyDigest: digestOf(secret) };
}

/** The host in a Host header. */
const hostForm = /^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/;

/** Makes a link from the path of its page and its token; undefined for a caller that gets no links. */
export type LinkTo = (path: string, linkToken: string) => string | undefined;

/** The parts of a call that the start of its links depends on. */
interface Asker {
  readonly caller: { readonly org: string };
  readonly headers: IncomingHttpHeaders;
  /** The caller is a model. It gets no links, which are for people. */
  readonly isModel?: boolean;
}

/** publicUrl: PUBLIC_URL; if undefined, links start with the host that the request was sent to. */
export function linkTo(
  { caller, headers, isModel }: Asker,
  publicUrl: string | undefined,
  path: string,
  linkToken: string,
): string | undefined {
  if (isModel) return undefined;
  const { host = '' } = headers;
  return `${publicUrl ?? `http://${hostForm.test(host) ? host : 'localhost'}`}${path}${caller.org}_${linkToken}`;
}
