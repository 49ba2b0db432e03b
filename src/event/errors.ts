import { type ErrorTable, entry } from '../http/errors.ts';

const reasons: Readonly<Record<string, string>> = {
  old: 'what followed this cursor is too old and not kept any more',
  lost: 'the event that this cursor stands at was lost when the store failed',
  restored: 'this cursor is from before the store was restored from a snapshot',
};

export const eventErrors: ErrorTable = {
  CURSOR_EXPIRED: entry(
    410,
    (why) => `${reasons[why] ?? reasons['old']}: start again without a cursor, or with cursor=latest`,
  ),
};
