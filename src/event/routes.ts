import Joi from 'joi';
import { type EventDeclaration, eventUnion } from '../declare/event.ts';
import { exactly } from '../declare/record.ts';
import { cursor, fields, queryInteger } from '../http/fields.ts';
import { param, type Route, read } from '../http/route.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { EventNames } from './names.ts';
import { pageReply } from './page.ts';
import { eventRecord } from './record.ts';
import { watchRoute } from './watch.ts';

/** Lists and watches the journal. `events`: those of all rooms. */
export function eventRoutes(events: readonly EventDeclaration[]): readonly Route[] {
  // nextCursor is never null: a journal has no last page.
  const page = exactly({ events: Joi.array().items(eventUnion(events)), nextCursor: Joi.string() });
  const list = read({
    path: '/events',
    call: 'event.list',
    summary: 'The journal, oldest first; cursor=latest for from now on',
    query: fields({ limit: queryInteger(1, 500, 100), cursor: cursor() }),
    success: { 200: page },
    refuses: ['INVALID_CURSOR', 'CURSOR_EXPIRED'],
    script: 'event/list',
    args: (input) => {
      const { epoch, entryId } = readCursor(param(input, 'spaceId'), input.query.cursor);
      return { cursor: entryId, epoch, limit: input.query.limit };
    },
    reply: pageReply,
    answer: ({ last, epoch, entries }, input) => {
      const spaceId = param(input, 'spaceId');
      return {
        status: 200,
        body: {
          events: entries.map((entry) => eventRecord(spaceId, entry)),
          nextCursor: writeCursor(spaceId, epoch, last),
        },
      };
    },
  });
  return [list, watchRoute(new EventNames(events), page)];
}
