import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';

export const scopeErrors: ErrorTable = {
  SCOPE_NOT_FOUND: entry(
    404,
    'there is no such scope in this space: a scope is created by the first call that uses it',
  ),
  SCOPE_CONFLICT: entry(
    409,
    (field) => `the scope exists with another ${field}: leave ${field} out, or use another scopeId`,
  ),
  SCOPE_CANCELLED: advised(
    'the run was stopped: stop working on it',
    409,
    'the run was cancelled and takes nothing new: use another scope',
  ),
  SCOPE_DEPTH_EXCEEDED: entry(
    409,
    (limit) => `parentScopeId is at the maximum depth of ${limit}: use a parent that is closer to the root`,
  ),
  SCOPE_CHILDREN_FULL: entry(409, (detail) => {
    const [kind, limit] = detail.split(' ');
    return kind === 'groups'
      ? `parentScopeId has the maximum of ${limit} undecided groups: retry once one is decided`
      : `parentScopeId has the maximum of ${limit} scopes created below it: use another parent`;
  }),
};
