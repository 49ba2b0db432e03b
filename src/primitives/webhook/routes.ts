import { randomBytes } from 'node:crypto';
import { type Answered, type Fields, id, text } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { Refusal } from '../../engine/redis/scripts.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { fields, oneOf, optional } from '../../engine/route/fields.ts';
import { readList } from '../../engine/route/read-list.ts';
import type { ServeContext } from '../../engine/route/route.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { EventNames } from '../event/names.ts';
import type { Declarations } from '../room.ts';
import { eventTypes, url } from './fields.ts';
import { webhookKeys } from './keys.ts';
import { storedTypes } from './kinds.ts';
import { Destination, NewDestination } from './records.ts';
import { sendRoutes, wakeWorkers } from './send-routes.ts';

/** 32 random bytes, as Standard Webhooks writes them. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Runs the script. If it asks for a check of the url's host, checks it and runs the script again. */
async function checked<R extends Fields>(context: ServeContext<R>, target = ''): Promise<Answered<R>> {
  const { reply } = await context.execute().catch(async (error) => {
    if (!(error instanceof Refusal && error.code === 'URL_UNCHECKED')) throw error;
    return context.execute({ verdict: await context.targets.verdict(target) });
  });
  return reply as Answered<R>;
}

const create = (names: EventNames) =>
  route({
    method: 'POST',
    path: '/destinations',
    call: 'destination.create',
    needsAllMailboxes: true,
    summary: 'Register a webhook destination; its signing secret is shown here only',
    description:
      'It gets the events from now on, as [Standard Webhooks](https://www.standardwebhooks.com): at least ' +
      'once, in no promised order. Addresses that are not public are refused, unless the service allows them.',
    permission: 'coordination_write',
    idempotency: 'required',
    body: fields({ url: url(), eventTypes: optional(eventTypes(names), []) }),
    success: { 201: NewDestination.schema },
    refuses: ['DESTINATION_URL_FORBIDDEN', 'OPERATIONS_EXHAUSTED', 'DESTINATIONS_FULL'],
    script: 'webhook/create',
    args: ({ body }) => ({
      url: body.url,
      eventTypes: storedTypes(body.eventTypes),
      signingSecret: newSecret(),
      tail: randomTail(),
      verdict: '',
      detail: JSON.stringify(body),
    }),
    reply: { id: id(), signingSecret: text() },
    async serve(input, context) {
      const { body } = input;
      const created = await checked(context, body.url);
      // The caller need not wait for this, but the first event often follows at once.
      const space = `${context.caller.org} ${param(input, 'spaceId')}`;
      const listed = context.store.sadd(webhookKeys.outbox.pattern, space).catch(() => undefined);
      await Promise.all([listed, wakeWorkers(input, context)]);
      const stored = {
        url: body.url,
        eventTypes: storedTypes(body.eventTypes),
        state: 'ACTIVE',
        ...{ consecutiveFailures: 0, waiting: 0, unread: 0 },
      };
      return { status: 201, body: NewDestination.of({ ...stored, ...created }) };
    },
  });

const list = readList({
  path: '/destinations',
  call: 'destination.list',
  needsAllMailboxes: true,
  summary: 'List webhook destinations, newest first',
  description: 'Without signing secrets: only creation and rotation show one.',
  script: 'webhook/list',
  plural: 'destinations',
  record: Destination,
});

const view = read({
  path: '/destinations/:destinationId',
  call: 'destination.view',
  needsAllMailboxes: true,
  summary: 'A webhook destination',
  description: 'Its state, why it was disabled, and how often it has failed in a row.',
  success: { 200: Destination.schema },
  refuses: ['DESTINATION_NOT_FOUND'],
  script: 'webhook/view',
  reply: { destination: one(Destination) },
});

const update = (names: EventNames) =>
  route({
    method: 'PATCH',
    path: '/destinations/:destinationId',
    call: 'destination.update',
    needsAllMailboxes: true,
    summary: 'Change url, eventTypes or state; once enabled again, it gets events from then on',
    description:
      'While DISABLED it gets no events, and pending deliveries are given up. Fields that are left out stay as ' +
      'they are.',
    permission: 'coordination_write',
    idempotency: 'optional',
    body: fields({
      url: optional(url()),
      eventTypes: optional(eventTypes(names)),
      state: optional(oneOf('ACTIVE', 'DISABLED')),
    }),
    success: { 200: Destination.schema },
    refuses: ['DESTINATION_NOT_FOUND', 'DESTINATION_URL_FORBIDDEN', 'OPERATIONS_EXHAUSTED'],
    script: 'webhook/update',
    args: ({ body }) => ({
      url: body.url ?? '',
      eventTypes: body.eventTypes ? storedTypes(body.eventTypes) : '',
      state: body.state ?? '',
      verdict: '',
      detail: JSON.stringify(body),
    }),
    reply: { destination: one(Destination) },
    serve: async ({ body }, context) => ({ status: 200, body: (await checked(context, body.url)).destination }),
  });

const remove = route({
  method: 'DELETE',
  path: '/destinations/:destinationId',
  call: 'destination.delete',
  needsAllMailboxes: true,
  summary: 'Delete a webhook destination; its pending deliveries are dropped',
  description: 'The rows of its attempts stay readable until retention removes them.',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 204: null },
  refuses: ['DESTINATION_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/delete',
  reply: {},
});

const rotateSecret = route({
  method: 'POST',
  path: '/destinations/:destinationId/rotate-secret',
  call: 'destination.rotateSecret',
  needsAllMailboxes: true,
  summary: 'Give it a new signing secret, shown here only; for 24 hours the previous one signs too',
  description: 'Deploy the new secret within these 24 hours, in which each delivery is signed with both.',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 200: NewDestination.schema },
  refuses: ['DESTINATION_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/rotateSecret',
  args: () => ({ signingSecret: newSecret() }),
  reply: { destination: one(NewDestination) },
});

export function webhookRoutes({ events }: Pick<Declarations, 'events'>): readonly Route[] {
  const names = new EventNames(events);
  return [create(names), list, view, update(names), remove, rotateSecret, ...sendRoutes];
}
