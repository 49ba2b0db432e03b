import { hash } from 'node:crypto';
import { apiError, invalidApiKey } from './errors.ts';

const bearer = /^bearer +(mk_([a-z0-9-]{3,40})_[0-9A-Za-z]{43,200})$/i;

/** The SHA-256 of a key, base64url (43 characters): all that is stored of it. */
export function apiKeyDigest(apiKey: string): string {
  return hash('sha256', apiKey, 'base64url');
}

/** The caller. */
export interface Caller {
  readonly org: string;
  /**
   * SHA-256 of the API key, base64url: the only form in which it is passed on. A token's caller has its grant here
   * (`grantedCaller`).
   */
  readonly apiKeyDigest: string;
}

/** Reads the API key. Throws UNAUTHENTICATED or INVALID_API_KEY; the script checks that the key exists. */
export function readCaller(authorization: string | undefined): Caller {
  if (authorization === undefined) throw apiError('UNAUTHENTICATED', '', { 'WWW-Authenticate': 'Bearer' });
  const [, apiKey, org] = bearer.exec(authorization) ?? [];
  if (apiKey === undefined || org === undefined) throw invalidApiKey();
  return { org, apiKeyDigest: apiKeyDigest(apiKey) };
}

/** The rights of a token, in place of a key's record. */
export interface TokenGrant {
  readonly permissions: readonly string[];
  /** Undefined: all of the organization. */
  readonly spaces: readonly string[] | undefined;
  /** Epoch milliseconds. */
  readonly endsAt: number;
  /** Its name in the audit trail. */
  readonly actor: string;
}

/** The caller of a token. lib/caller reads the grant when it finds no key; no digest contains a space. */
export function grantedCaller(org: string, { permissions, spaces, endsAt, actor }: TokenGrant): Caller {
  const only = spaces?.length === 0 ? 'none' : (spaces ?? []).join(',');
  return { org, apiKeyDigest: `grant ${endsAt} ${permissions.join(',')} ${only} ${actor}` };
}
