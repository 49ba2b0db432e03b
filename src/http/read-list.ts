import type { Fields } from '../declare/field.ts';
import { text } from '../declare/field.ts';
import { many, type RecordDeclaration } from '../declare/record.ts';
import { fields, key, page, states } from './fields.ts';
import { Cursors, pageReply, positions, statesText } from './page.ts';
import { type Route, read } from './route.ts';

interface ListRoute<F extends Fields> extends Pick<Route, 'path' | 'call' | 'summary' | 'script'> {
  /** The member of the answer, and of the script's reply, that holds the records. */
  readonly plural: string;
  readonly record: RecordDeclaration<F>;
  /** Those that `state` filters by; left out: the list has no filter. */
  readonly states?: readonly string[];
  /** Whether `name` filters it: the script takes the name, '' for all. */
  readonly byName?: true;
}

/** Declares a list, newest first: the script takes limit and the last id, and answers its next cursor and the records. */
export function readList<F extends Fields>({ plural, record, states: known, byName, ...route }: ListRoute<F>): Route {
  const cursors = new Cursors(plural, positions.id);
  return read({
    ...route,
    query: fields({
      ...page(),
      ...(known && { state: states(...known) }),
      ...(byName && { name: key(200).optional() }),
    }),
    success: { 200: pageReply(plural, record.schema) },
    refuses: ['INVALID_CURSOR'],
    args: (input) => ({
      limit: input.query.limit,
      cursor: cursors.read(input),
      ...(known && { states: statesText(input.query.state) }),
      ...(byName && { name: input.query.name ?? '' }),
    }),
    reply: { nextCursor: text().orNull(), [plural]: many(record) },
    answer: (reply, input) => ({
      status: 200,
      body: { [plural]: reply[plural], nextCursor: cursors.next(input, reply.nextCursor as string | null) },
    }),
  });
}
