import { setTimeout as sleep } from 'node:timers/promises';
import { text } from '../../engine/declare/field.ts';
import { many, one } from '../../engine/declare/record.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { fields, id, page } from '../../engine/route/fields.ts';
import { Cursors, pageReply, positions } from '../../engine/route/page.ts';
import type { ServeContext } from '../../engine/route/route.ts';
import { type Input, type Route, type RouteAnswer, read, route } from '../../engine/route/route.ts';
import { attempt } from './attempt.ts';
import { webhookKeys } from './keys.ts';
import { eventMessage, testMessage } from './message.ts';
import { Delivery, Destination, Sending } from './records.ts';

/** Poll interval while another request with the same Idempotency-Key is being sent. */
const sameKeyMs = 100;

/**
 * The first reply has the event to send, a later one the attempt's row. The reply is empty while another request is
 * sending it.
 */
const reply = { sending: one(Sending).orNull(), delivery: one(Delivery).orNull() };

/** Asks the script for the event, sends it, records the outcome and returns the attempt's row. */
async function serve(input: Input, context: ServeContext<typeof reply>): Promise<RouteAnswer> {
  const { caller, journal } = context;
  const begin = (again: boolean) =>
    journal.withPacked(caller.org, param(input, 'spaceId'), (opened) => context.execute({ opened }, again));
  let { reply: found } = await begin(false);
  while (!found && !context.gone.aborted) {
    await sleep(sameKeyMs);
    ({ reply: found } = await begin(true));
  }
  if (!found) return { status: 204 };
  const { sending } = found;
  return { status: 201, body: sending ? await send(input, context, sending) : found.delivery };
}

async function send(
  input: Input,
  context: ServeContext<typeof reply>,
  { at, url, secrets, eventId, destinationId, entry }: typeof Sending.type,
): Promise<typeof Delivery.type | null | undefined> {
  const message = entry ? eventMessage(param(input, 'spaceId'), entry) : testMessage(eventId, destinationId, at);
  // Once sent, the row is written even if the caller has disconnected.
  const outcome = await attempt(context.targets, { url, secrets, message, at }, context.feeds.closing);
  const { pauseMs: _, ...row } = outcome;
  const { reply: sent } = await context.execute({ ...row, attemptedAt: at, testEventId: eventId }, true);
  if (row.errorCode === '') await wakeWorkers(input, context);
  return sent?.delivery;
}

/** Tells the workers that something may be due. They look by themselves, too, but later. */
export async function wakeWorkers(input: Input, { caller, store }: ServeContext): Promise<void> {
  await store.spublish(webhookKeys.outbox.pattern, `${caller.org} ${param(input, 'spaceId')}`).catch(() => undefined);
}

const deliverReply = { destination: one(Destination) };

const deliver = route({
  method: 'POST',
  path: '/destinations/:destinationId/deliver',
  call: 'destination.deliver',
  needsAllMailboxes: true,
  summary: 'Deliver everything that waits now, instead of at the times planned for the next attempts',
  description:
    'For a receiver that works again. Two deliveries at a time while it has failed last, 16 from the first success on; with ' +
    'the first failure the others keep their times. A success by itself has the same effect.',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 200: Destination.schema },
  refuses: ['DESTINATION_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/deliver',
  reply: deliverReply,
  serve: async (input, context: ServeContext<typeof deliverReply>) => {
    const { reply: found } = await context.execute();
    await wakeWorkers(input, context);
    return { status: 200, body: found?.destination };
  },
});

const nothingYet = { opened: '', testEventId: '', attemptedAt: '', responseStatus: '', errorCode: '', durationMs: '' };

const test = route({
  method: 'POST',
  path: '/destinations/:destinationId/test',
  call: 'destination.test',
  needsAllMailboxes: true,
  summary: 'Send it a destination.test message now, once; answers the attempt',
  description: 'It is not in the journal and is not repeated if it fails.',
  permission: 'coordination_write',
  idempotency: 'optional',
  example: { trigger: 'TEST', eventType: 'destination.test', attempt: 1 },
  success: { 201: Delivery.schema },
  refuses: ['DESTINATION_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/send',
  args: () => ({ deliveryId: '', tail: randomTail(), ...nothingYet }),
  reply,
  serve,
});

const redeliver = route({
  method: 'POST',
  path: '/deliveries/:deliveryId/redeliver',
  call: 'delivery.redeliver',
  needsAllMailboxes: true,
  summary: 'Send the event of an attempt again now, once; answers the new attempt',
  description: 'With the same `webhook-id`, so that a receiver which has seen it can drop it.',
  permission: 'coordination_write',
  idempotency: 'optional',
  example: { trigger: 'MANUAL' },
  success: { 201: Delivery.schema },
  refuses: ['DELIVERY_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/send',
  args: () => ({ destinationId: '', tail: '', ...nothingYet }),
  reply,
  serve,
});

const cursors = new Cursors('deliveries', positions.entry);

const list = read({
  path: '/deliveries',
  call: 'delivery.list',
  needsAllMailboxes: true,
  summary: 'Attempts to deliver, newest first; all or those of one destination',
  description: 'One row for each attempt, with its status, duration and error. Bodies of answers are not kept.',
  query: fields({ ...page(), destinationId: id().optional().description('only those of this destination') }),
  success: { 200: pageReply('deliveries', Delivery.schema) },
  refuses: ['INVALID_CURSOR'],
  script: 'webhook/deliveries',
  args: (input) => ({
    limit: input.query.limit,
    cursor: cursors.read(input),
    destinationId: input.query.destinationId ?? '',
  }),
  reply: { nextCursor: text().orNull(), deliveries: many(Delivery) },
  answer: ({ nextCursor, deliveries }, input) => ({
    status: 200,
    body: { deliveries, nextCursor: cursors.next(input, nextCursor) },
  }),
});

export const sendRoutes: readonly Route[] = [test, deliver, list, redeliver];
