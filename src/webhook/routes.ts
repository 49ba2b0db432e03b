import { randomBytes } from 'node:crypto';
import type { Reply, Value } from '../declare/value.ts';
import { fields, oneOf, optional } from '../http/fields.ts';
import { read, readList, route } from '../http/legacy.ts';
import { randomTail } from '../http/random.ts';
import { type Answer, type Input, param, type Route } from '../http/route.ts';
import type { ServeContext } from '../http/serve-context.ts';
import { Refusal } from '../redis/scripts.ts';
import { eventTypes, url } from './fields.ts';
import { webhookKeys } from './keys.ts';
import { destinationRecord, storedTypes } from './records.ts';
import { destinationReply, secretReply } from './schemas.ts';
import { sendRoutes } from './send-routes.ts';

/** 32 random bytes, as Standard Webhooks writes them. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Runs the script; when it asks what the url leads to, looks, and runs it again. */
async function judged(
  context: ServeContext,
  target: string | undefined,
): Promise<{ values: Reply; replayed: boolean }> {
  try {
    return await context.run();
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'URL_UNCHECKED')) throw error;
  }
  return context.run({ verdict: await context.targets.verdict(target ?? '') });
}

interface CreateBody {
  url: string;
  eventTypes: string[];
}

function created({ body }: Input<unknown, CreateBody>, [id, createdAt, signingSecret]: Reply): Answer {
  const { url, eventTypes } = body;
  const record = destinationRecord([url, storedTypes(eventTypes), 'ACTIVE', null, 0, null, createdAt, id]);
  return { status: 201, body: { ...record, signingSecret } };
}

const create = route<unknown, CreateBody>({
  method: 'POST',
  path: '/destinations',
  call: 'destination.create',
  summary: 'Register a webhook destination; its signing secret is shown here only',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({ url: url(), eventTypes: optional(eventTypes()).default([]) }),
  success: { 201: secretReply },
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
  answer: (values, input) => created(input, values),
  async serve(input, context) {
    const { values } = await judged(context, input.body.url);
    // Off the caller's path would be enough, but a first event follows soon.
    await context.store
      .sadd(webhookKeys.outbox.pattern, `${context.org} ${param(input, 'spaceId')}`)
      .catch(() => undefined);
    return created(input, values);
  },
});

const list = readList({
  path: '/destinations',
  call: 'destination.list',
  summary: 'List webhook destinations, newest first',
  script: 'webhook/list',
  plural: 'destinations',
  reply: destinationReply,
  record: destinationRecord,
});

const recorded = ([record]: Reply): Answer => ({ status: 200, body: destinationRecord(record as Value[]) });

const view = read({
  path: '/destinations/:destinationId',
  call: 'destination.view',
  summary: 'A webhook destination',
  success: { 200: destinationReply },
  refuses: ['DESTINATION_NOT_FOUND'],
  script: 'webhook/view',
  answer: recorded,
});

interface UpdateBody {
  url?: string;
  eventTypes?: string[];
  state?: string;
}

const update = route<unknown, UpdateBody>({
  method: 'PATCH',
  path: '/destinations/:destinationId',
  call: 'destination.update',
  summary: 'Change url, eventTypes or state; enabled again, it hears what happens from then on',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({
    url: optional(url()),
    eventTypes: optional(eventTypes()),
    state: optional(oneOf('ACTIVE', 'DISABLED')),
  }),
  success: { 200: destinationReply },
  refuses: ['DESTINATION_NOT_FOUND', 'DESTINATION_URL_FORBIDDEN', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/update',
  args: ({ body }) => ({
    url: body.url ?? '',
    eventTypes: body.eventTypes ? storedTypes(body.eventTypes) : '',
    state: body.state ?? '',
    verdict: '',
    detail: JSON.stringify(body),
  }),
  answer: recorded,
  serve: async (input, context) => recorded((await judged(context, input.body.url)).values),
});

const remove = route({
  method: 'DELETE',
  path: '/destinations/:destinationId',
  call: 'destination.delete',
  summary: 'Delete a webhook destination; what it was still to get is given up',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 204: null },
  refuses: ['DESTINATION_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/delete',
  answer: () => ({ status: 204 }),
});

const rotateSecret = route({
  method: 'POST',
  path: '/destinations/:destinationId/rotate-secret',
  call: 'destination.rotateSecret',
  summary: 'Give it a new signing secret, shown here only; for 24 hours the previous one signs too',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 200: secretReply },
  refuses: ['DESTINATION_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'webhook/rotateSecret',
  args: () => ({ signingSecret: newSecret() }),
  answer: ([record, signingSecret]) => ({
    status: 200,
    body: { ...destinationRecord(record as Value[]), signingSecret },
  }),
});

export const webhookRoutes: readonly Route[] = [create, list, view, update, remove, rotateSecret, ...sendRoutes];
