import { type ErrorTable, entry } from '../http/errors.ts';

export const spaceErrors: ErrorTable = {
  ENTITLEMENT_EXCEEDED: entry(409, (detail) => {
    const [field, limit] = detail.split(' ');
    return `${field} must not exceed the plan's ${limit}`;
  }),
};
