import { type ErrorTable, entry } from '../../engine/route/errors.ts';

const reasons: Readonly<Record<string, string>> = {
  old: 'the events after this cursor are no longer kept',
  lost: 'the event at this cursor was lost when the store failed',
  restored: 'this cursor is from before the store was restored from a snapshot',
};

export const eventErrors: ErrorTable = {
  CURSOR_EXPIRED: entry(
    410,
    (why) => `${reasons[why] ?? reasons['old']}: start again without a cursor, or with cursor=latest`,
  ),
  EVENTS_DAMAGED: entry(500, (detail) => {
    const [first = '', last = '', cursor = ''] = detail.split(' ');
    return `the store has damaged the events ${first} to ${last}: tell the operator; cursor=${cursor} continues after them`;
  }),
};
