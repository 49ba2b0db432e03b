import { one } from '../../engine/declare/record.ts';
import { randomTail } from '../../engine/route/args.ts';
import { invalid } from '../../engine/route/errors.ts';
import { fields, id, oneOf, optional } from '../../engine/route/fields.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { requeueableStates } from '../mailbox/records.ts';
import { Bulk, bulkActions, bulkStates, purgeableStates } from './records.ts';

const reply = { bulk: one(Bulk) };

interface Start {
  readonly action: (typeof bulkActions)[number];
  readonly state?: string | undefined;
}

const body = fields({
  action: oneOf(...bulkActions).description(
    'REQUEUE: requeue messages that ended without success; PURGE: cancel messages that wait',
  ),
  state: optional(oneOf(...requeueableStates, ...purgeableStates)).description(
    'only messages of this state: for REQUEUE FAILED (the default), REJECTED, EXPIRED or CANCELLED; for PURGE READY, ' +
      'DELAYED or BLOCKED, by default all three',
  ),
});

/** The state of the messages to change; '' for all that the action applies to. */
function messageStateOf({ action, state }: Start): string {
  const known: readonly string[] = action === 'REQUEUE' ? requeueableStates : purgeableStates;
  if (state === undefined) return action === 'REQUEUE' ? 'FAILED' : '';
  if (!known.includes(state)) throw invalid(`state must be one of ${known.join(', ')} for ${action}`);
  return state;
}

const common = {
  method: 'POST',
  permission: 'coordination_write',
  idempotency: 'required',
  body,
  example: { done: 0, passedOver: {}, finishedAt: null },
  success: { 202: Bulk.schema },
  script: 'bulk/start',
  reply,
} as const;

const rules =
  'Workers do the work, in small steps, and it goes on whatever becomes of the caller: read it with GET /bulk/{bulkId}. ' +
  'It takes messages that were there when it began: a PURGE cancels what was sent until then and waits, and leaves claimed ' +
  'messages alone; a REQUEUE brings back what had ended by then, so that nothing which fails again comes back twice. ' +
  '`passedOver` counts messages that may not be requeued, by the code of the error. While a limit such as BACKLOG_FULL ' +
  'leaves no room, it waits, and `waitsFor` names the limit; after 24 hours of that it is CANCELLED. It counts as one operation.';

const ofMailbox = route({
  ...common,
  path: '/mailboxes/:mailboxId/bulk',
  call: 'mailbox.bulk',
  summary: 'Requeue or purge all messages of a mailbox, in the background',
  description: rules,
  refuses: ['MAILBOX_NOT_FOUND', 'BULKS_FULL', 'OPERATIONS_EXHAUSTED'],
  args: (input) => ({
    scopeId: '',
    action: input.body.action,
    messageState: messageStateOf(input.body),
    tail: randomTail(),
  }),
});

const ofScope = route({
  ...common,
  path: '/scopes/:scopeId/bulk',
  call: 'scope.bulk',
  summary: 'Requeue or purge all messages of a scope and those below it, in the background',
  description: rules,
  needsAllMailboxes: true,
  refuses: ['SCOPE_NOT_FOUND', 'BULKS_FULL', 'OPERATIONS_EXHAUSTED'],
  args: (input) => ({
    mailboxId: '',
    action: input.body.action,
    messageState: messageStateOf(input.body),
    tail: randomTail(),
  }),
});

const list = readList({
  path: '/bulk',
  call: 'bulk.list',
  summary: 'List bulk work, newest first; by state, by mailbox, by scope',
  description: 'Kept for the retention period of the space, but at least 30 days after its end.',
  needsAllMailboxes: 'without mailboxId',
  script: 'bulk/list',
  plural: 'bulks',
  states: bulkStates,
  filters: {
    mailboxId: optional(id()).description('only those of this mailbox'),
    scopeId: optional(id()).description('only those of this scope, not of scopes below it'),
  },
  record: Bulk,
});

const view = read({
  path: '/bulk/:bulkId',
  call: 'bulk.view',
  summary: 'Bulk work: how much it has done so far; with waitSeconds, once it has ended',
  description: 'With `waitSeconds` it answers once the work is not RUNNING, or when the time is up.',
  success: { 200: Bulk.schema },
  refuses: ['BULK_NOT_FOUND'],
  script: 'bulk/view',
  asRecord: {},
  reply,
  wait: { on: 'bulkId', isOver: ({ bulk }) => bulk.state !== 'RUNNING' },
});

const cancel = route({
  method: 'POST',
  path: '/bulk/:bulkId/cancel',
  call: 'bulk.cancel',
  summary: 'Cancel RUNNING bulk work; what it has changed stays so',
  description: 'Messages that it has not reached stay as they are. Work that has ended is answered as it is.',
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  example: { state: 'CANCELLED' },
  success: { 200: Bulk.schema },
  refuses: ['BULK_NOT_FOUND'],
  script: 'bulk/cancel',
  reply,
});

export const bulkRoutes: readonly Route[] = [ofMailbox, ofScope, list, view, cancel];
