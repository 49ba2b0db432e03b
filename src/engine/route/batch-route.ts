import Joi from 'joi';
import { exampleId } from '../declare/field.ts';
import { type ApiError, invalid } from './errors.ts';
import { fields, flag, optional, says } from './fields.ts';
import { type Route, route } from './route.ts';

/** The part of a call that decides what its batch may include. */
interface Asker {
  /** The caller is a model. */
  readonly isModel?: boolean;
}

export const maxCalls = 100;
/** With this many calls, a step blocks the store for some 3 ms. */
export const maxAtomicCalls = 25;

/** Whether a batch may include the route. Calls that use the network must be requests of their own. */
export const isBatched = ({ method, gateway, script }: Route): boolean =>
  method !== 'GET' && !gateway && !script.startsWith('webhook/');

/** Whether an atomic batch may include the route: it must be done in one step and answer no more than one record. */
export const isAtomic = (route: Route): boolean =>
  route.method === 'GET'
    ? route.asRecord !== undefined
    : isBatched(route) && !route.serve && !route.receives && !route.isStepwise;

/**
 * Whether this caller's batch may include the route. A model's batch takes only reads and calls that are tools, so a call
 * that is deliberately not a tool, like question.answer, is out of its reach.
 */
export const isOffered = ({ method, tool }: Route, { isModel = false }: Asker): boolean =>
  !isModel || method === 'GET' || tool !== undefined;

/** Which of the calls that a model's batch may include depend on `atomic`. */
export const atomicRule = 'views only with atomic, message.recv and scope.cancel only without';

/** The error for a call that the batch does not take. rule: what would be right. */
export function wrongCall(name: unknown, { isModel }: Asker, rule: string): ApiError {
  const right = isModel
    ? `call must be one of the calls that the schema of the tool names, like message.send: ${atomicRule}`
    : rule;
  return invalid(name === undefined ? right.replace('must be', 'is missing: it must be') : right);
}

/** Many calls in one request. */
export const batchRoute: Route = route({
  method: 'POST',
  path: '/batch',
  call: 'batch',
  summary:
    'Many calls in one request, in order: each is done or refused as in a request of its own; with atomic all or none',
  description:
    'At most 100 calls and 2 MiB. The answer is 200 whatever their outcome: look at each `status`. A call that is ' +
    'refused neither stops the others nor undoes them. In place of an id a call takes `{"$from": i}`: the `id` that the ' +
    'call at index i, before it, has answered; with `member` another id of that answer. It is 400 if that call was refused.\n\n' +
    'With `atomic` 1 to 25 calls are one step: all happen, in order, each seeing those before it, or none does. The refusal of ' +
    'a call is then the answer to the request, with its `index` and `call`. An atomic batch also takes views of one record, ' +
    'without lists, and in each call `expect`; it takes no receive, cancel of a scope, purge or requeue of a mailbox, and no call ' +
    'of schedules. The Idempotency-Key covers all of it, and is required where one of the calls needs one.',
  title: 'Make several calls in one',
  tool: 'Make calls in order. Each is an object with `call`, its tool with a dot (message.send), and the fields of that tool. In place of an id, {"$from": i} is the `id` that call i, before it, answers; with `member` another id of that answer. With `atomic` (at most 25 calls) all happen in one step, or none: a refusal names the `index` of its call. Then `expect` names members that the answer must have, so a view is a condition. Without atomic each is done or refused by itself: look at each `status`.',
  isDestructive: true,
  permission: 'none',
  idempotency: 'calls',
  rate: 'held',
  body: fields({
    atomic: optional(flag(), false)
      .description('whether all calls happen, in one step, or none of them, if any is refused')
      .meta({ model: 'all in one step, or none' }),
    calls: Joi.array()
      .description('the calls, in the order in which they are made')
      .meta({ model: 'in this order' })
      .items(Joi.object().unknown(true).meta({ component: 'Call' }))
      .min(1)
      .max(maxCalls)
      .error(says(`must be a list of 1 to ${maxCalls} calls`)),
  }),
  maxBodyBytes: 2 * 1024 * 1024,
  gateway: true,
  success: {
    200: fields({
      results: Joi.array()
        .description('the answers, in the order of the calls')
        .items(
          fields({
            status: Joi.number().integer().min(200).max(599).description('the HTTP status of the call'),
            body: Joi.any().allow(null).description('the answer of the call, or null if it has no content'),
            replayed: Joi.boolean().description('whether this is the answer of an earlier call with the same key'),
            retryAfter: Joi.number()
              .integer()
              .min(0)
              .optional()
              .description('the seconds after which to try again; only of a 429')
              .example(30),
          }),
        )
        .min(1)
        .max(maxCalls),
    }),
  },
  example: { results: [{ status: 201, body: { id: exampleId('messageId'), state: 'READY' }, replayed: false }] },
  refuses: ['EXPECTATION_FAILED'],
  script: 'space/admit',
  reply: {},
});
