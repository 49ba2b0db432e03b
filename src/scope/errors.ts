import { type ErrorTable, entry } from '../http/errors.ts';

export const scopeErrors: ErrorTable = {
  SCOPE_NOT_FOUND: entry(404, 'there is no such scope in this space: a scope begins with the first call that names it'),
  SCOPE_CONFLICT: entry(
    409,
    (field) => `the scope exists with another ${field}: leave ${field} out, or use another scopeId`,
  ),
  SCOPE_CANCELLED: entry(409, 'the run was cancelled: nothing new begins in it; use another scope'),
  SCOPE_DEPTH_EXCEEDED: entry(
    409,
    (limit) => `parentScopeId lies ${limit} deep, and no scope lies deeper: create it below one that lies higher`,
  ),
  SCOPE_CHILDREN_FULL: entry(409, (detail) => {
    const [kind, limit] = detail.split(' ');
    return kind === 'groups'
      ? `parentScopeId has ${limit} undecided groups, which is the most there can be: retry when one is decided`
      : `parentScopeId has ${limit} scopes below it, which is the most there can be: use another parent`;
  }),
};
