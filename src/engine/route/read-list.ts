import type Joi from 'joi';
import type { Answered, Fields } from '../declare/field.ts';
import { text } from '../declare/field.ts';
import { many, type RecordDeclaration } from '../declare/record.ts';
import type { Refusal } from '../redis/scripts.ts';
import { fields, key, page, states } from './fields.ts';
import { Cursors, pageReply, positions, statesText } from './page.ts';
import { type Route, read } from './route.ts';

interface ListRoute<F extends Fields>
  extends Pick<
    Route,
    | 'path'
    | 'call'
    | 'summary'
    | 'description'
    | 'title'
    | 'tool'
    | 'whenEmpty'
    | 'script'
    | 'needsAllMailboxes'
    | 'rate'
  > {
  /** The member with the records, in the answer and in the script's reply. */
  readonly plural: string;
  readonly record: RecordDeclaration<F>;
  /** The states that `state` filters by; without them there is no such filter. */
  readonly states?: readonly string[];
  /** Other filters. The script takes them by these names; '' if absent. */
  readonly filters?: Readonly<Record<string, Joi.AnySchema<string | undefined>>>;
  /** The format of its positions, if they are not ids. */
  readonly position?: RegExp;
  /** The part of a record that the answer shows; by default all of it. */
  readonly shown?: (record: Answered<F>) => unknown;
  /** Error codes beyond those of every list, and the detail of a refusal, which may need a cursor after a position. */
  readonly refuses?: readonly string[];
  readonly detail?: (refusal: Refusal, cursorBehind: (position: string) => string | null) => string;
}

export const byName = () => ({
  name: key(200).optional().description('only those with exactly this name').meta({ model: 'exactly this name' }),
});

/**
 * Declares a list, newest first. The script takes a limit and the last id, and replies with the next cursor and the records.
 */
export function readList<F extends Fields>(list: ListRoute<F>): Route {
  const {
    plural,
    record,
    states: known,
    filters = {},
    position = positions.id,
    refuses = [],
    detail,
    shown,
    ...route
  } = list;
  const cursors = new Cursors(plural, position);
  return read({
    ...route,
    query: fields({ ...page(), ...(known && { state: states(...known) }), ...filters }),
    success: { 200: pageReply(plural, record.schema) },
    refuses: ['INVALID_CURSOR', ...refuses],
    detail: (refusal, input) => detail?.(refusal, (last) => cursors.next(input, last)) ?? refusal.detail,
    args: (input) => ({
      limit: input.query.limit,
      cursor: cursors.read(input),
      ...(known && { states: statesText(input.query.state) }),
      ...Object.fromEntries(Object.keys(filters).map((name) => [name, given(input.query, name)])),
    }),
    reply: { nextCursor: text().orNull(), [plural]: many(record) },
    answer: (reply, input) => ({
      status: 200,
      body: {
        [plural]: shown ? (reply[plural] as Answered<F>[]).map(shown) : reply[plural],
        nextCursor: cursors.next(input, reply.nextCursor as string | null),
      },
    }),
  });
}

const given = (query: Readonly<Record<string, unknown>>, name: string): string => String(query[name] ?? '');
