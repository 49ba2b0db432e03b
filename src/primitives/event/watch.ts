import type Joi from 'joi';
import { param } from '../../engine/route/args.ts';
import { fields, id, queryInteger } from '../../engine/route/fields.ts';
import type { ServeContext } from '../../engine/route/route.ts';
import { type Input, type Route, type RouteAnswer, read } from '../../engine/route/route.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { type Reader, scanEntries } from './feeds.ts';
import { Filter, type FilterQuery, filterFields, limit, position, since } from './filter.ts';
import { framesOf } from './frames.ts';
import type { EventNames } from './names.ts';
import { pageReply, pageRuns } from './page.ts';
import { Watcher } from './watcher.ts';

/** Proxies close connections that are silent for a longer time. */
const heartbeatMs = 15_000;
/**
 * The maximum reads of one request before it waits or ends. A read without matches has an empty page, but advances the
 * cursor.
 */
const maxScans = 10;

interface Query extends FilterQuery {
  readonly cursor?: string | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
  readonly waitSeconds: number;
}

type WatchInput = Input<Query>;
type WatchContext = ServeContext<typeof pageReply>;

export function watchRoute(names: EventNames, page: Joi.Schema): Route {
  return read({
    path: '/watch',
    call: 'event.watch',
    needsAllMailboxes: true,
    summary:
      'The journal, filtered; holds the request until there is something. With Accept: text/event-stream the same as ' +
      'server-sent events, each with its cursor as id (Last-Event-ID goes on after it), until the connection ends: limit ' +
      'and waitSeconds are for pages',
    description:
      'Filters by `types`, `aggregate` and `scopeId` narrow it; `nextCursor` moves past what they leave out. ' +
      'Without a cursor, the events of a scope are read from its creation on. ' +
      'Delivery is at least once and in order: drop an `eventId` that you have seen.',
    title: 'Read the journal, wait for events',
    tool: 'Read what has happened, oldest first; begin with cursor "latest" for what is to come, then pass nextCursor. Types: message.sent, .claimed, .acked, .failed; group.decided; question.answered; waiter.granted; scope.cancelled and so on; `message.*`: all of a kind.',
    query: fields({
      ...filterFields(names),
      scopeId: id()
        .optional()
        .description('only events of this scope and of those below it')
        .meta({ model: 'of this run' }) as Joi.AnySchema<string | undefined>,
      limit: limit(),
      waitSeconds: queryInteger(0, 30, 0)
        .description('how long the request may be held until there is an event')
        .meta({ model: 'how long to wait for one' }),
      cursor: position(),
      since: since(),
    }),
    success: { 200: page },
    streams: true,
    refuses: ['INVALID_CURSOR', 'CURSOR_EXPIRED', 'EVENTS_DAMAGED'],
    script: 'event/list',
    args: (input) => ({ ...begin(input), opened: '' }),
    reply: pageReply,
    serve,
  });
}

/** The first read of the request. */
function begin(input: WatchInput) {
  const lastEventId = wantsStream(input) ? input.headers['last-event-id'] : undefined;
  const from = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : input.query.cursor;
  const { scopeId, since } = input.query;
  const { epoch, entryId } = readCursor(param(input, 'spaceId'), from, since);
  // A scope has no events before its creation, and the journal may have many.
  const isOfScope = from === undefined && since === undefined && scopeId !== undefined;
  return { cursor: isOfScope ? `scope ${scopeId}` : entryId, epoch, limit: firstScan(input) };
}

async function serve(input: WatchInput, context: WatchContext): Promise<RouteAnswer> {
  const { feeds } = context;
  const { query } = input;
  const spaceId = param(input, 'spaceId');
  const reader: Reader = { ...context.caller, spaceId };
  const filter = new Filter(query, (scopeId, above) => feeds.paths.isBelow(spaceId, scopeId, above));
  const watcher = new Watcher(filter, pageLimit(input));
  const started = performance.now();

  let found = false;
  let full = true;
  for (let scans = 0; !found && full && scans < maxScans && !context.gone.aborted; scans++) {
    watcher.version = feeds.version(reader);
    const args = scans === 0 ? begin(input) : { cursor: watcher.position, epoch: watcher.epoch, limit: scanEntries };
    const page = await context.journal.page(reader, args, pageRuns(context, scans === 0));
    const batch = await feeds.batch(reader, page, args.limit, filter.scopeId !== undefined);
    found = watcher.take(batch);
    full = batch.full;
  }
  const { openRequests, gone } = context;
  if (wantsStream(input)) {
    const close = openRequests.stream(reader.org, reader.apiKeyDigest);
    // A stream whose caller has left before it began is never run.
    if (gone.aborted) close();
    else gone.addEventListener('abort', close);
    return { status: 200, stream: stream(reader, watcher, context, close) };
  }
  const waitMs = query.waitSeconds * 1000 - (performance.now() - started);
  if (!found && waitMs > 0) {
    const leave = openRequests.hold(reader.org);
    await feeds.hold(reader, watcher, { waitMs, gone }).finally(leave);
  }
  return {
    status: 200,
    body: {
      events: watcher.page.map(({ json }) => json),
      nextCursor: writeCursor(spaceId, watcher.epoch, watcher.position),
    },
  };
}

/** Pages as server-sent events until the connection closes, the service stops or the key loses its permission to read. */
async function* stream(
  reader: Reader,
  watcher: Watcher,
  { feeds, gone }: WatchContext,
  close: () => void,
): AsyncGenerator<string | Buffer> {
  const { spaceId } = reader;
  try {
    while (!gone.aborted && !feeds.closing.aborted) {
      const { page, epoch, position } = watcher;
      if (page.length > 0) yield framesOf(page, spaceId, epoch);
      // Clients dispatch no event without data, but the id moves their cursor past entries that were filtered out.
      else yield `: heartbeat\nid: ${writeCursor(spaceId, epoch, position)}\n\n`;
      watcher.page = [];
      await feeds.hold(reader, watcher, { waitMs: heartbeatMs, gone });
    }
  } finally {
    close();
  }
}

/** Whether Accept names the type; a weight of 0 means "not acceptable" (RFC 9110, 12.4.2). */
function wantsStream(input: WatchInput): boolean {
  return (input.headers.accept ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter));
  });
}

/** A stream takes everything a read finds; small pages would only make it fall behind. */
function pageLimit(input: WatchInput): number {
  return wantsStream(input) ? scanEntries : input.query.limit;
}

/** A filtered page needs more entries than it returns; how many is not known in advance. */
function firstScan(input: WatchInput): number {
  const { types, aggregate, scopeId } = input.query;
  const isFiltered = types !== undefined || aggregate !== undefined || scopeId !== undefined;
  return isFiltered ? Math.min(scanEntries, pageLimit(input) * 8) : pageLimit(input);
}
