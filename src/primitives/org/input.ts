import { type Permission, permissions } from '../../engine/route/caller.ts';
import { fitsText, isUuid } from '../../engine/route/fields.ts';
import type { Limit } from '../room.ts';

/** Invalid input of an operator. The message names the input and says what is allowed. */
export class InvalidInput extends Error {
  readonly code: 'VALIDATION_FAILED' | 'INVALID_CURSOR';
  constructor(message: string, code: InvalidInput['code'] = 'VALIDATION_FAILED') {
    super(message);
    this.code = code;
  }
}

export const maxNameCharacters = 200;
export const maxHolderCharacters = 256;
/** Every request compares its space and its mailbox with the key's lists, so the lists must be short. */
export const maxSpacesPerKey = 100;
export const maxMailboxesPerKey = 100;
/** Ten years. */
export const maxKeyDays = 3_650;
/** A year. */
const maxOverlapHours = 8_760;
const maxAuditEntries = 1000;

/** Checks an organization's id, which is part of every key in the store and readable in redis-cli. */
export function checkOrg(org: string): string {
  if (/^[a-z0-9-]{3,40}$/.test(org)) return org;
  throw new InvalidInput(`org: ${quote(org)} must be 3 to 40 characters of a-z, 0-9 and -`);
}

/** A display name as it is stored, '' for none. */
export function checkName(name: string | undefined): string {
  return checkText('name', name, maxNameCharacters);
}

/** The holder that a key is bound to; '' for none. */
export function checkHolder(holder: string | undefined): string {
  return checkText('holder', holder, maxHolderCharacters);
}

function checkText(field: string, text: string | undefined, max: number): string {
  if (text === undefined) return '';
  if (fitsText(text, 1, max)) return text;
  throw new InvalidInput(`${field}: it must be 1 to ${max} characters, without control characters`);
}

/** The days until a key expires, as the script's argument; '' for never. */
export function checkDays(days: number | undefined): number | '' {
  return days === undefined ? '' : checkWhole('expiresInDays', days, 1, maxKeyDays);
}

/** The hours until a rotated key expires. */
export function checkOverlap(hours: number): number {
  return checkWhole('overlapHours', hours, 0, maxOverlapHours);
}

function checkWhole(field: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidInput(`${field}: it must be a whole number from ${min} to ${max}`);
}

/** A UUID of any version, in lower case. field: its name in messages. */
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
 * The spaces that a key is limited to, without duplicates. Only undefined means every space, as an empty list may be a
 * mistake.
 */
export function checkSpaces(ids: readonly string[] | undefined): string[] {
  return checkIds('spaces', ids, maxSpacesPerKey);
}

/** The mailboxes that a key is limited to. All are in one space, which need not be named. */
export function checkMailboxes(ids: readonly string[] | undefined, spaces: readonly string[]): string[] {
  const mailboxes = checkIds('mailboxes', ids, maxMailboxesPerKey);
  if (mailboxes.length > 0 && spaces.length > 1) throw new InvalidInput(`spaces: ${oneSpaceRule}`);
  return mailboxes;
}

export const oneSpaceRule = 'with mailboxes it must be the one space that they are in, or left out';

function checkIds(field: string, ids: readonly string[] | undefined, max: number): string[] {
  if (ids === undefined) return [];
  if (ids.length >= 1 && ids.length <= max) return [...new Set(ids.map((id) => checkUuid(field, id)))];
  throw new InvalidInput(`${field}: there are ${ids.length} ids, but 1 to ${max} are allowed`);
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

/** Typed text for a message: on one line, shortened. */
function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
