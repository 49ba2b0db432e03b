import { type Permission, permissions } from '../call/caller.ts';
import { isUuid } from '../call/fields.ts';
import type { Limit } from '../room.ts';

/** Invalid input of an operator; the message names it and says what is allowed. */
export class InvalidInput extends Error {
  readonly code: 'VALIDATION_FAILED' | 'INVALID_CURSOR';
  constructor(message: string, code: InvalidInput['code'] = 'VALIDATION_FAILED') {
    super(message);
    this.code = code;
  }
}

const maxNameCharacters = 200;
/** Every request compares its space with the key's list, so the list must be short. */
const maxSpacesPerKey = 100;
const maxAuditEntries = 1000;

/** An organization's id: it is part of every key in the store and readable in redis-cli. */
export function checkOrg(org: string): string {
  if (/^[a-z0-9-]{3,40}$/.test(org)) return org;
  throw new InvalidInput(`org: ${quote(org)} must be 3 to 40 characters of a-z, 0-9 and -`);
}

/** A display name as it is stored, '' for none. */
export function checkName(name: string | undefined): string {
  if (name === undefined) return '';
  const characters = [...name].length;
  if (characters >= 1 && characters <= maxNameCharacters && !/\p{Cc}/u.test(name)) return name;
  throw new InvalidInput(`name: it must be 1 to ${maxNameCharacters} characters, without control characters`);
}

/** A uuid of any version, lower-cased; `field` is its name in the message. */
export function checkUuid(field: string, text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidInput(`${field}: ${quote(text)} must be a uuid, such as 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e`);
}

/** Known permissions, without duplicates, in the order of `permissions`. */
export function checkPermissions(names: readonly string[]): Permission[] {
  const unknown = names.find((name) => !permissions.some((known) => known === name));
  if (unknown === undefined && names.length > 0) return permissions.filter((name) => names.includes(name));
  throw new InvalidInput(`permissions: ${quote(unknown ?? '')} is not one of ${permissions.join(', ')}`);
}

/**
 * The spaces a key is limited to, without duplicates. Only undefined means every space: an empty list may be a mistake.
 */
export function checkSpaces(ids: readonly string[] | undefined): string[] {
  if (ids === undefined) return [];
  if (ids.length >= 1 && ids.length <= maxSpacesPerKey) {
    return [...new Set(ids.map((id) => checkUuid('spaces', id)))];
  }
  throw new InvalidInput(`spaces: there are ${ids.length} ids, but 1 to ${maxSpacesPerKey} are allowed`);
}

/** A limit as typed: `default`, or a whole number within its bounds. The store checks it against the plan. */
export function checkLimit(name: string, typed: string, limit: Limit | undefined): number | 'default' {
  if (typed === 'default') return typed;
  const { min = 0, max = 0, isGranted } = limit ?? {};
  const value = /^\d{1,15}$/.test(typed) ? Number(typed) : Number.NaN;
  if (value >= min && (isGranted || value <= max)) return value;
  throw new InvalidInput(`${name}: ${quote(typed)} must be default, or a whole number from ${min} to ${max}`);
}

/** The page size of the audit trail. */
export function checkAuditLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxAuditEntries) return limit;
  throw new InvalidInput(`limit: it must be a whole number from 1 to ${maxAuditEntries}`);
}

/** The nextCursor of an earlier page; '' for the newest entries. */
export function checkAuditCursor(cursor: string): string {
  if (/^(\d{1,16}-\d{1,16})?$/.test(cursor)) return cursor;
  throw new InvalidInput(`cursor: ${quote(cursor)} is not the nextCursor of an earlier audit list`, 'INVALID_CURSOR');
}

/** Typed text for a message: on one line, and shortened. */
function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
