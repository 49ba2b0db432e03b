// LEGACY: routes by position, until their room is converted.
import type Joi from 'joi';
import type { Reply, Value } from '../declare/value.ts';
import { fields, page, states } from './fields.ts';
import { Cursors, pageOf, positions } from './page.ts';
import { pageReply } from './replies.ts';
import { type Answer, type Input, route as newRoute, type Route } from './route.ts';
import type { ServeContext } from './serve-context.ts';

export interface OldRoute<Query = unknown, Body = unknown>
  extends Omit<Route, 'reply' | 'answer' | 'args' | 'hold' | 'serve' | 'legacy' | 'query' | 'body'> {
  readonly query?: Joi.ObjectSchema;
  readonly body?: Joi.ObjectSchema;
  readonly args?: (input: Input<Query, Body>) => Record<string, string | number>;
  readonly answer: (values: Reply, input: Input<Query, Body>, replayed: boolean) => Answer;
  readonly hold?: Route<Query, Body>['hold'];
  readonly serve?: (input: Input<Query, Body>, context: ServeContext) => Promise<Answer>;
}
export function route<Query = unknown, Body = unknown>(definition: OldRoute<Query, Body>): Route {
  const { answer, ...rest } = definition;
  return newRoute({ ...rest, reply: {}, legacy: answer } as never);
}
export function read<Query = unknown>(
  definition: Omit<OldRoute<Query>, 'method' | 'permission' | 'idempotency'>,
): Route {
  return route<Query>({ ...definition, method: 'GET', permission: 'coordination_read', idempotency: 'never' });
}
interface ListRoute extends Pick<Route, 'path' | 'call' | 'summary' | 'script'> {
  readonly plural: string;
  readonly reply: Joi.Schema;
  readonly record: (values: readonly Value[]) => object;
  readonly states?: readonly string[];
}
export function readList({ plural, reply, record, states: known, ...rest }: ListRoute): Route {
  const cursors = new Cursors(plural, positions.id);
  return read<{ limit: number; cursor?: string; state?: string }>({
    ...rest,
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
