import { type ErrorTable, entry } from '../../engine/route/errors.ts';

export const orgErrors: ErrorTable = {
  KEY_NOT_FOUND: entry(404, 'there is no such key among those that this API key can see'),
};
