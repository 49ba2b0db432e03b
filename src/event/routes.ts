import type { Value } from '../declare/value.ts';
import { cursor, fields, queryInteger } from '../http/fields.ts';
import { read } from '../http/legacy.ts';
import { param, type Route } from '../http/route.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { eventRecord } from './record.ts';
import { eventsReply } from './schemas.ts';
import { watch } from './watch.ts';

const list = read<{ limit: number; cursor?: string }>({
  path: '/events',
  call: 'event.list',
  summary: 'The journal, oldest first; cursor=latest for from now on',
  query: fields({ limit: queryInteger(1, 500, 100), cursor: cursor() }),
  success: { 200: eventsReply },
  refuses: ['INVALID_CURSOR', 'CURSOR_EXPIRED'],
  script: 'event/list',
  args: (input) => {
    const { epoch, entryId } = readCursor(param(input, 'spaceId'), input.query.cursor);
    return { cursor: entryId, epoch, limit: input.query.limit };
  },
  answer: ([last, epoch, entries], input) => {
    const spaceId = param(input, 'spaceId');
    return {
      status: 200,
      body: {
        events: (entries as Value[]).map((entry) => eventRecord(spaceId, entry)),
        nextCursor: writeCursor(spaceId, String(epoch), String(last)),
      },
    };
  },
});

export const eventRoutes: readonly Route[] = [list, watch];
