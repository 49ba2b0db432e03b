import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../declare/value.ts';
import { fields, id, page } from '../http/fields.ts';
import { read, route } from '../http/legacy.ts';
import { Cursors, pageOf, positions } from '../http/page.ts';
import { randomTail } from '../http/random.ts';
import { pageReply } from '../http/replies.ts';
import { type Answer, type Input, param, type Route } from '../http/route.ts';
import type { ServeContext } from '../http/serve-context.ts';
import { attempt } from './attempt.ts';
import { eventMessage, testMessage } from './message.ts';
import { deliveryRecord } from './records.ts';
import { deliveryReply } from './schemas.ts';

/** How often a request looks whether the one that is sent with its Idempotency-Key has been answered. */
const sameKeyMs = 100;

function attempted(input: Input, values: Reply): Answer {
  return { status: 201, body: deliveryRecord(param(input, 'spaceId'), values) };
}

/** Asks the script what to send, sends it, tells the script what came of it: the caller gets the attempt's row. */
async function serve(input: Input, context: ServeContext): Promise<Answer> {
  let { values, replayed } = await context.run();
  while (values.length === 0 && !context.gone.aborted) {
    await sleep(sameKeyMs);
    ({ values, replayed } = await context.run({}, true));
  }
  if (values.length === 0) return { status: 204 };
  if (replayed) return attempted(input, values);
  const [now, url, secret, previousSecret, eventId, destinationId, entry] = values;
  const at = Number(now);
  const message = entry
    ? eventMessage(param(input, 'spaceId'), entry)
    : testMessage(String(eventId), String(destinationId), at);
  const secrets = [secret, previousSecret].filter((one): one is string => typeof one === 'string');
  // Sent is sent: a caller who has gone must not keep the row from being written.
  const outcome = await attempt(context.targets, { url: String(url), secrets, message, at }, context.feeds.closing);
  const { pauseMs: _, ...row } = outcome;
  return attempted(input, (await context.run({ ...row, attemptedAt: at, testEventId: String(eventId) }, true)).values);
}

const nothingYet = { testEventId: '', attemptedAt: '', responseStatus: '', errorCode: '', durationMs: '' };

const test = route({
  method: 'POST',
  path: '/destinations/:destinationId/test',
  call: 'destination.test',
  summary: 'Send it a destination.test message now, once; answers the attempt',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 201: deliveryReply },
  refuses: ['DESTINATION_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/send',
  args: () => ({ deliveryId: '', tail: randomTail(), ...nothingYet }),
  answer: (values, input) => attempted(input, values),
  serve,
});

const redeliver = route({
  method: 'POST',
  path: '/deliveries/:deliveryId/redeliver',
  call: 'delivery.redeliver',
  summary: 'Send the event of an attempt again now, once; answers the new attempt',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 201: deliveryReply },
  refuses: ['DELIVERY_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/send',
  args: () => ({ destinationId: '', tail: '', ...nothingYet }),
  answer: (values, input) => attempted(input, values),
  serve,
});

const cursors = new Cursors('deliveries', positions.entry);

const list = read<{ limit: number; cursor?: string; destinationId?: string }>({
  path: '/deliveries',
  call: 'delivery.list',
  summary: 'Attempts to deliver, newest first; all or those of one destination',
  query: fields({ ...page(), destinationId: id().optional() }),
  success: { 200: pageReply('deliveries', deliveryReply) },
  refuses: ['INVALID_CURSOR'],
  script: 'webhook/deliveries',
  args: (input) => ({
    limit: input.query.limit,
    cursor: cursors.read(input),
    destinationId: input.query.destinationId ?? '',
  }),
  answer: ([next, rows], input) => ({
    status: 200,
    body: {
      deliveries: pageOf.rows(rows).map((row) => deliveryRecord(param(input, 'spaceId'), row)),
      nextCursor: cursors.next(input, next),
    },
  }),
});

export const sendRoutes: readonly Route[] = [test, list, redeliver];
