import { type ErrorTable, entry } from '../http/errors.ts';

export const scopeErrors: ErrorTable = {
  SCOPE_NOT_FOUND: entry(404, 'there is no such scope in this space: a scope begins with the first call that names it'),
};
