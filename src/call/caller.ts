import { hash } from 'node:crypto';
import { apiError, invalidApiKey } from './errors.ts';
import type { Args } from './hold.ts';

const bearer = /^bearer +(mk_([a-z0-9-]{3,40})_[0-9A-Za-z]{43,200})$/i;

/** The SHA-256 of a key, base64url (43 characters): all that is stored of it. */
export function apiKeyDigest(apiKey: string): string {
  return hash('sha256', apiKey, 'base64url');
}

/** The permissions of a caller. None includes another, but `allowedBy` says what else resource_config allows. */
export const permissions = [
  'coordination_read',
  'coordination_write',
  'resource_config',
  'resource_spend',
  'key_admin',
] as const;
export type Permission = (typeof permissions)[number];

/** What a caller may do. That of an API key is in its record, which the step of each call reads (lua/lib/caller.lua). */
export interface Grant {
  readonly permissions: readonly Permission[];
  /** The spaces that it is limited to; empty: all of the organization, later ones included. */
  readonly spaces: readonly string[];
  /** The mailboxes of its one space that it is limited to; empty: all. */
  readonly mailboxes: readonly string[];
  /** The only name under which it acts; null: any. */
  readonly holder: string | null;
  /** When it ends, in epoch milliseconds; null: never. */
  readonly expiresAt: number | null;
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

/** The arguments of lib/call that say who calls. */
export function callerArgs({ apiKeyDigest }: Caller): Args {
  return { apiKeyDigest };
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
