import { type ErrorTable, entry } from '../../engine/route/errors.ts';

const wrongRange: Record<string, string> = {
  from: 'from must be a date like 2026-01-31',
  to: 'to must be a date like 2026-01-31',
  reversed: 'from must not lie after to (which is today where it is left out)',
  long: 'from and to must lie at most 400 days apart, both included',
};

export const spaceErrors: ErrorTable = {
  INVALID_DATE_RANGE: entry(
    400,
    (detail) => wrongRange[detail] ?? 'from and to must be dates like 2026-01-31, in order, at most 400 days',
  ),
  ENTITLEMENT_EXCEEDED: entry(409, (detail) => {
    const [field, limit, figure] = detail.split(' ');
    if (figure !== undefined) return `the ${limit} plan allows ${figure} ${field}, and all are in use`;
    return `${field} must not exceed the plan's ${limit}${field === 'units' ? ' agents' : ''}`;
  }),
};
