import { isUuid } from '../http/fields.ts';
import { type Permission, permissions } from '../http/route.ts';
import type { Limit } from '../room.ts';

/** Something typed by an operator that cannot be right; the message names it and says what would be. */
export class InvalidInput extends Error {
  readonly code: 'VALIDATION_FAILED' | 'INVALID_CURSOR';
  constructor(message: string, code: InvalidInput['code'] = 'VALIDATION_FAILED') {
    super(message);
    this.code = code;
  }
}

const mostNameCharacters = 200;
/** Every request compares its space with the key's list: it has to stay short. */
const mostSpacesOfKey = 100;
const mostAuditEntries = 1000;

/** An organization's id: it is part of every key in the store and readable in redis-cli. */
export function checkOrg(org: string): string {
  if (/^[a-z0-9-]{3,40}$/.test(org)) return org;
  throw new InvalidInput(`org: ${quote(org)} must be 3 to 40 characters of a-z, 0-9 and -`);
}

/** A display name, or '' for none: what the store keeps. */
export function checkName(name: string | undefined): string {
  if (name === undefined) return '';
  const characters = [...name].length;
  if (characters >= 1 && characters <= mostNameCharacters && !/\p{Cc}/u.test(name)) return name;
  throw new InvalidInput(`name: it must be 1 to ${mostNameCharacters} characters, without control characters`);
}

/** A uuid of any version, lower-cased; `field` is the name the message gives it. */
export function checkUuid(field: string, text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidInput(`${field}: ${quote(text)} must be a uuid, such as 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e`);
}

/** Known permissions, each once, in the order of the specification. */
export function checkPermissions(names: readonly string[]): Permission[] {
  const unknown = names.find((name) => !permissions.some((known) => known === name));
  if (unknown === undefined && names.length > 0) return permissions.filter((name) => names.includes(name));
  throw new InvalidInput(`permissions: ${quote(unknown ?? '')} is not one of ${permissions.join(', ')}`);
}

/** The spaces a key is limited to, each once; left out (not empty: a slip must not open all) means every space. */
export function checkSpaces(ids: readonly string[] | undefined): string[] {
  if (ids === undefined) return [];
  if (ids.length >= 1 && ids.length <= mostSpacesOfKey) {
    return [...new Set(ids.map((id) => checkUuid('spaces', id)))];
  }
  throw new InvalidInput(`spaces: ${ids.length} ids, and 1 to ${mostSpacesOfKey} are allowed`);
}

/** A limit as typed: `default`, or a whole number within its bounds; what the plan grants of it, the store knows. */
export function checkLimit(name: string, typed: string, limit: Limit | undefined): number | 'default' {
  if (typed === 'default') return typed;
  const { min = 0, max = 0, isGranted } = limit ?? {};
  const value = /^\d{1,15}$/.test(typed) ? Number(typed) : Number.NaN;
  if (value >= min && (isGranted || value <= max)) return value;
  throw new InvalidInput(`${name}: ${quote(typed)} must be default, or a whole number from ${min} to ${max}`);
}

/** How many audit entries make a page. */
export function checkAuditLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= mostAuditEntries) return limit;
  throw new InvalidInput(`limit: it must be a whole number from 1 to ${mostAuditEntries}`);
}

/** The nextCursor of an earlier page; '' for the newest entries. */
export function checkAuditCursor(cursor: string): string {
  if (/^(\d{1,16}-\d{1,16})?$/.test(cursor)) return cursor;
  throw new InvalidInput(`cursor: ${quote(cursor)} is no nextCursor of an earlier audit list`, 'INVALID_CURSOR');
}

/** Typed text as a message shows it: on one line, and not endless. */
function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
