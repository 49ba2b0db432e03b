import Joi from 'joi';
import { fields, says } from '../call/fields.ts';
import { type Route, route } from '../call/route.ts';

export const maxCalls = 100;

/** Whether a batch may call it. Calls that look at the network are requests of their own. */
export const isBatched = ({ method, gateway, script }: Route): boolean =>
  method !== 'GET' && !gateway && !script.startsWith('webhook/');

/** Many calls in one request. */
export const batchRoute: Route = route({
  method: 'POST',
  path: '/batch',
  call: 'batch',
  summary: 'Many calls in one request, in order: each is what its own request would be, done or refused by itself',
  description:
    'At most 100 calls and 2 MiB. The answer is 200 whatever became of them: look at each `status`. A call that is ' +
    'refused neither stops the others nor undoes them. In place of an id a call takes `{"$from": i}`: the `id` that the ' +
    'call at index i, before it, has answered; with `member` another id of that answer. It is 400 if that call was refused.',
  permission: 'none',
  idempotency: 'calls',
  rate: 'held',
  body: fields({
    calls: Joi.array()
      .description('the calls, in the order in which they are made')
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
            body: Joi.any().allow(null).description('the answer of the call; null where that has no content'),
            replayed: Joi.boolean().description('whether this is the answer of an earlier call with the same key'),
            retryAfter: Joi.number()
              .integer()
              .min(0)
              .optional()
              .description('the seconds after which to try again; of a 429 only')
              .example(null),
          }),
        )
        .min(1)
        .max(maxCalls),
    }),
  },
  refuses: [],
  script: 'space/admit',
  reply: {},
});
