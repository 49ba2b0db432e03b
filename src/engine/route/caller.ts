import { hash } from 'node:crypto';
import { apiError, invalidApiKey } from './errors.ts';

const bearer = /^bearer +(mk_([a-z0-9-]{3,40})_[0-9A-Za-z]{43,200})$/i;

/** The SHA-256 of a key, base64url (43 characters). Nothing else of the key is stored. */
export function apiKeyDigest(apiKey: string): string {
  return hash('sha256', apiKey, 'base64url');
}

/** The permissions of a caller. None includes another, except for resource_config, which includes resource_spend. */
export const permissions = [
  'coordination_read',
  'coordination_write',
  'resource_config',
  'resource_spend',
  'key_admin',
] as const;
export type Permission = (typeof permissions)[number];

/**
 * The permissions that include this one: itself and, for resource_spend, resource_config. No other permission includes
 * another.
 */
export const allowedBy = <P extends string>(permission: P): readonly (P | Permission)[] =>
  permission === 'resource_spend' ? [permission, 'resource_config'] : [permission];

/**
 * The rights of a caller. Those of an API key are in its record, which the script of each call reads (lua/lib/caller.lua).
 */
export interface Grant {
  readonly permissions: readonly Permission[];
  /** The spaces it is limited to; empty for all of the organization, including later ones. */
  readonly spaces: readonly string[];
  /** The mailboxes it is limited to, in its one space; empty for all. */
  readonly mailboxes: readonly string[];
  /** The only name it may act under; null for any. */
  readonly holder: string | null;
  /** When it ends, in epoch milliseconds; null for never. */
  readonly expiresAt: number | null;
}

/** The caller of a request. */
export interface Caller {
  readonly org: string;
  /**
   * The SHA-256 of the API key, base64url, the only form in which the key is passed on. For a token, its grant
   * (`grantedCaller`).
   */
  readonly apiKeyDigest: string;
  /** For the log, once a call of the request has said who makes it (lua/lib/caller.lua): the content of a JSON string. */
  actor?: string;
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
  /** Undefined for all of the organization. */
  readonly spaces: readonly string[] | undefined;
  /** Epoch milliseconds. */
  readonly endsAt: number;
  /** Its issuer and subject, which name the caller. */
  readonly issuer: string;
  readonly subject: string;
}

/** The caller with a token. A grant contains blanks, by which lib/caller tells it from a digest. */
export function grantedCaller(org: string, { permissions, spaces, endsAt, issuer, subject }: TokenGrant): Caller {
  const only = spaces?.length === 0 ? 'none' : (spaces ?? []).join(',');
  const name = hash('sha256', JSON.stringify([issuer, subject]), 'base64url');
  return { org, apiKeyDigest: `grant ${endsAt} ${permissions.join(',')} ${only} ${name} oidc:${subject}` };
}
