import { type ErrorTable, entry } from '../../engine/route/errors.ts';

export const bulkErrors: ErrorTable = {
  BULK_NOT_FOUND: entry(404, 'there is no such bulk in this space'),
  BULKS_FULL: entry(409, (limit) => `the space has ${limit} RUNNING bulks: wait for the end of one, or cancel one`),
};
