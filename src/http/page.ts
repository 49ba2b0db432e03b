import type { Value } from '../redis/scripts.ts';
import { apiError } from './errors.ts';
import { idForm } from './replies.ts';

/** What was put into a cursor by `next`. Throws INVALID_CURSOR where it does not have the form. */
function read(cursor: string | undefined, form: RegExp): string {
  if (cursor === undefined) return '';
  const inside = Buffer.from(cursor, 'base64url').toString();
  if (!form.test(inside) || encode(inside) !== cursor) throw apiError('INVALID_CURSOR');
  return inside;
}

function encode(inside: string): string {
  return Buffer.from(inside).toString('base64url');
}

/** Cursors, filters and rows of list scripts. A cursor is the last record's position; '' for the first page. */
export const pageOf = {
  read,
  id: (cursor: string | undefined): string => read(cursor, idForm),
  number: (cursor: string | undefined): string => read(cursor, /^\d{1,15}$/),
  entry: (cursor: string | undefined): string => read(cursor, /^\d{1,15}-\d{1,19}$/),
  /** `,READY,CLAIMED,`, in which a script finds a state with one plain search; '' for all. */
  states: (states: string | undefined): string => (states === undefined ? '' : `,${states},`),
  next: (last: Value | undefined): string | null => (last === null || last === undefined ? null : encode(String(last))),
  rows: (records: Value | undefined): Value[][] => (records ?? []) as Value[][],
};
