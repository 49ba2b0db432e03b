import Joi from 'joi';
import { type EventDeclaration, eventUnion } from '../../engine/declare/event.ts';
import { exactly } from '../../engine/declare/record.ts';
import { param } from '../../engine/route/args.ts';
import { fields } from '../../engine/route/fields.ts';
import { type Route, read } from '../../engine/route/route.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { limit, position, since } from './filter.ts';
import { EventNames } from './names.ts';
import { pageReply, pageRuns } from './page.ts';
import { eventRecord } from './record.ts';
import { watchRoute } from './watch.ts';

/** Lists and watches the journal. events: the declarations of all rooms. */
export function eventRoutes(events: readonly EventDeclaration[]): readonly Route[] {
  // nextCursor is never null: a journal has no last page.
  const page = exactly({
    events: Joi.array().items(eventUnion(events)).description('the events, oldest first'),
    nextCursor: Joi.string().description('the cursor behind these events; never null'),
  });
  const list = read({
    path: '/events',
    call: 'event.list',
    needsAllMailboxes: true,
    summary: 'The journal, oldest first; cursor=latest starts with the next event',
    description:
      'Everything that happened in the space, in order, at least 30 days back. `nextCursor` is never null: keep ' +
      'it, and continue with it at any time.',
    query: fields({ limit: limit(), cursor: position(), since: since() }),
    success: { 200: page },
    refuses: ['INVALID_CURSOR', 'CURSOR_EXPIRED', 'EVENTS_DAMAGED'],
    script: 'event/list',
    args: (input) => {
      const { epoch, entryId } = readCursor(param(input, 'spaceId'), input.query.cursor, input.query.since);
      return { cursor: entryId, epoch, limit: input.query.limit, opened: '' };
    },
    reply: pageReply,
    serve: async (input, context) => {
      const spaceId = param(input, 'spaceId');
      const { caller, journal } = context;
      const position = readCursor(spaceId, input.query.cursor, input.query.since);
      const args = { cursor: position.entryId, epoch: position.epoch, limit: input.query.limit };
      const { last, epoch, entries } = await journal.page({ org: caller.org, spaceId }, args, pageRuns(context));
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
