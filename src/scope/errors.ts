import { type ErrorTable, entry } from '../http/errors.ts';

export const scopeErrors: ErrorTable = {
  SCOPE_NOT_FOUND: entry(
    404,
    'there is no such scope in this space: a scope is created by the first call that uses it',
  ),
};
