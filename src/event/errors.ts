import { type ErrorTable, entry } from '../http/errors.ts';

export const eventErrors: ErrorTable = {
  CURSOR_EXPIRED: entry(
    410,
    'what followed this cursor is not kept any more: start again without a cursor, or with cursor=latest',
  ),
};
