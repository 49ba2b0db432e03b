import { flag, id as idField, text, time } from '../../engine/declare/field.ts';
import { exactly, many, record } from '../../engine/declare/record.ts';
import type { HeldReceive } from '../../engine/redis/held.ts';
import type { Wake } from '../../engine/redis/wake.ts';
import { param } from '../../engine/route/args.ts';
import { fields, id, optional, queryInteger, text as textIn } from '../../engine/route/fields.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { channelOf } from '../space/keys.ts';

declare module '../../engine/route/service.ts' {
  interface RoomServices {
    readonly wake: Wake;
  }
}

const maxReceivers = 500;

/** The topic of a receive, which lua/mailbox/_ready publishes for each scope of a path. */
export const receiveTopic = (mailboxId: string, scopeId: string): string => `${mailboxId}/${scopeId}`;

const Receiver = record('Receiver', {
  mailboxId: idField(),
  scopeId: text().means('the run whose messages it receives, with all below it; `*`: every run in turn').example('*'),
  holder: text()
    .orNull()
    .means('the name that it gave, or null if it is the one that its key is bound to')
    .example('worker-7'),
  holderSession: text().means('its session, as it gave it').example('worker-7/3'),
  since: time().means('when the request began that is held now; a worker repeats it at least every 30 seconds'),
});

function receiverOf({ topic, ...worker }: HeldReceive): typeof Receiver.type {
  const [mailboxId, scopeId] = topic.split('/');
  return Receiver.of({ mailboxId, scopeId, ...worker });
}

/** Who waits for a message: the receives that the API processes hold. Nothing about them is stored. */
export const receiversRoute: Route = read({
  path: '/ops/receivers',
  call: 'receivers.get',
  needsAllMailboxes: 'without mailboxId',
  summary: 'The workers that wait for a message: the receives held now, longest first',
  description:
    'All API processes are asked at the moment of the call; nothing is stored. A worker that is at work, or that ' +
    'receives without `waitSeconds`, is not among them: `heldClaims` of `GET /ops/waits` shows who holds what. ' +
    '`truncated`: there are more, or a process has not answered within half a second.',
  query: fields({
    mailboxId: optional(id()).description('only those of this mailbox; by default those of the whole space'),
    limit: queryInteger(1, maxReceivers, 200).description('the most receivers'),
  }),
  success: {
    200: exactly({
      asOf: time().schema,
      receivers: many(Receiver, maxReceivers).means('longest waiting first').schema,
      truncated: flag().schema,
    }).meta({ component: 'Receivers' }),
  },
  refuses: ['MAILBOX_NOT_FOUND'],
  script: 'mailbox/receivers',
  args: ({ query }) => ({ mailboxId: query.mailboxId ?? '' }),
  reply: { asOf: time() },
  serve: async (input, context) => {
    const { mailboxId, limit } = input.query;
    const { reply } = await context.execute();
    const held = await context.wake.receives(
      channelOf(context.caller.org, param(input, 'spaceId')),
      mailboxId && receiveTopic(mailboxId, ''),
    );
    const found = held.receives.toSorted((one, other) => one.since - other.since);
    return {
      status: 200,
      body: {
        asOf: reply?.asOf,
        receivers: found.slice(0, limit).map(receiverOf),
        truncated: held.isCut || found.length > limit,
      },
    };
  },
});

/**
 * Ends held receives without cutting their connections. A receive that is cut may have claimed a message whose answer is
 * on its way, perhaps in a proxy, and nobody would work on it until its lease ends.
 */
export const leaveRoute: Route = route({
  method: 'POST',
  path: '/mailboxes/:mailboxId/leave',
  call: 'mailbox.leave',
  summary: 'End the held receives of a session: each is answered at once',
  description:
    'For a worker that stops: a receive that it cuts instead may have claimed a message, which then stays CLAIMED until its ' +
    'lease ends. A receive that has found nothing is answered 204. One that begins at the same time may be missed: ' +
    'repeat the call until the receive is answered, and give back what it has claimed (nack with `countsAttempt` false).',
  permission: 'coordination_write',
  idempotency: 'never',
  rate: 'recovery',
  body: fields({
    holderSession: textIn(1, 256).description('the session of the receives, as they gave it').example('worker-7/3'),
  }),
  success: { 204: null },
  refuses: ['MAILBOX_NOT_FOUND'],
  script: 'mailbox/leave',
  reply: {},
  serve: async (input, context) => {
    await context.execute();
    const channel = channelOf(context.caller.org, param(input, 'spaceId'));
    await context.wake.leave(channel, receiveTopic(param(input, 'mailboxId'), ''), input.body.holderSession);
    return { status: 204 };
  },
});
