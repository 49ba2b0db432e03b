import type Joi from 'joi';
import type { Value } from '../redis/reply.ts';
import { fields, page, states } from './fields.ts';
import { Cursors, pageOf, positions } from './page.ts';
import { pageReply } from './replies.ts';
import { type Route, read } from './route.ts';

interface ListRoute extends Pick<Route, 'path' | 'call' | 'summary' | 'script'> {
  /** The member of the answer that holds the records. */
  readonly plural: string;
  readonly reply: Joi.Schema;
  readonly record: (values: readonly Value[]) => object;
  /** Those that `state` filters by; left out: the list has no filter. */
  readonly states?: readonly string[];
}

/** Declares a list, newest first: the script takes limit and the last id, and answers its next cursor and the records. */
export function readList({ plural, reply, record, states: known, ...route }: ListRoute): Route {
  const cursors = new Cursors(plural, positions.id);
  return read<{ limit: number; cursor?: string; state?: string }>({
    ...route,
    query: fields({ ...page(), ...(known && { state: states(...known) }) }),
    success: { 200: pageReply(plural, reply) },
    refuses: ['INVALID_CURSOR'],
    args: (input) => ({
      limit: input.query.limit,
      cursor: cursors.read(input),
      ...(known && { states: pageOf.states(input.query.state) }),
    }),
    answer: ([next, records], input) => ({
      status: 200,
      body: { [plural]: pageOf.rows(records).map((values) => record(values)), nextCursor: cursors.next(input, next) },
    }),
  });
}
