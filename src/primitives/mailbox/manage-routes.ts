import { countsByName, number, text as textField } from '../../engine/declare/field.ts';
import { one, record } from '../../engine/declare/record.ts';
import { bodyCursor, fields, flag, id, integer, key, oneOf, optional } from '../../engine/route/fields.ts';
import { Cursors, positions } from '../../engine/route/page.ts';
import { pauseOrResume } from '../../engine/route/pause.ts';
import { type Input, type Route, read, route } from '../../engine/route/route.ts';
import { damagedDetail } from './errors.ts';
import {
  attemptSeconds,
  maxAttempts,
  maxRetryDelaySeconds,
  perKey,
  progressEvents,
  retryDelaySeconds,
} from './fields.ts';
import { Mailbox, requeueableStates } from './records.ts';

const reply = { mailbox: one(Mailbox) };
const nextCursor = textField().orNull();

const view = read({
  path: '/mailboxes/:mailboxId',
  call: 'mailbox.view',
  rate: 'operator',
  summary: 'A mailbox, with how many messages it holds; with waitSeconds, once all of them are finished',
  description: 'With `waitSeconds` it answers once the mailbox has no unfinished messages, or when the time is up.',
  success: { 200: Mailbox.schema },
  refuses: ['MAILBOX_NOT_FOUND'],
  script: 'mailbox/view',
  asRecord: {},
  reply,
  wait: {
    on: 'mailboxId',
    isOver: ({ mailbox: { counts } }) => counts.ready + counts.delayed + counts.blocked + counts.claimed === 0,
  },
});

const update = route({
  method: 'PATCH',
  path: '/mailboxes/:mailboxId',
  call: 'mailbox.update',
  summary:
    'Change any of name, backlogLimit, retry policy, perKey, attemptSeconds and progressEvents; messages in the mailbox stay, whatever the limit',
  description:
    'Any subset of the fields; values that change nothing emit no event and count as no operation. ' +
    '`maxAttempts` applies to messages sent from now on, the pauses to the next retries. A higher `perKey`, or ' +
    'null for none, frees messages that wait for their key, the first 50 at once; a lower one takes nothing back: messages that have a place keep it.',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({
    name: optional(key(200)).description('the new name'),
    backlogLimit: optional(integer(1, 100_000)),
    maxAttempts: optional(maxAttempts()).description(
      'the most attempts of messages that are sent from now on without a maxAttempts of their own',
    ),
    retryDelaySeconds: optional(retryDelaySeconds()),
    maxRetryDelaySeconds: optional(maxRetryDelaySeconds()),
    perKey: perKey()
      .optional()
      .description(
        'how many messages of one key may be READY, CLAIMED or between attempts at once; null lifts the limit from now on',
      ),
    attemptSeconds: attemptSeconds()
      .allow(null)
      .optional()
      .description('the most seconds that an attempt claimed from now on may take; null lifts the limit'),
    progressEvents: optional(progressEvents()),
  }),
  success: { 200: Mailbox.schema },
  refuses: ['MAILBOX_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'mailbox/update',
  args: ({ body }) => ({
    name: body.name ?? '',
    backlogLimit: body.backlogLimit ?? '',
    maxAttempts: body.maxAttempts ?? '',
    retryDelaySeconds: body.retryDelaySeconds ?? '',
    maxRetryDelaySeconds: body.maxRetryDelaySeconds ?? '',
    // 0 removes it.
    perKey: body.perKey === undefined ? '' : (body.perKey ?? 0),
    attemptSeconds: body.attemptSeconds === undefined ? '' : (body.attemptSeconds ?? 0),
    progressEvents: body.progressEvents === undefined ? '' : Number(body.progressEvents),
  }),
  reply,
});

const remove = route({
  method: 'DELETE',
  path: '/mailboxes/:mailboxId',
  call: 'mailbox.delete',
  summary: 'Delete a mailbox without live messages and undecided groups; its finished messages stay for their time',
  description:
    'Refused with MAILBOX_NOT_EMPTY while the mailbox has messages that are not finished, or ' +
    'undecided groups. Its finished messages stay readable until retention removes them, but cannot be ' +
    'requeued.',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 204: null },
  refuses: ['MAILBOX_NOT_FOUND', 'MAILBOX_NOT_EMPTY', 'OPERATIONS_EXHAUSTED'],
  script: 'mailbox/delete',
  reply: {},
});

const pause = pauseOrResume('mailbox.pause', view, {
  summary: 'Pause a mailbox: nothing is received from it until it is resumed; repeating it changes nothing',
  description:
    'From now on receives find nothing there: held ones keep waiting, others answer 204. Sends, claims, completions, ' +
    'deadlines, delays, leases and schedules go on, and messages keep their places.',
});

const resume = pauseOrResume('mailbox.resume', view, {
  summary: 'Resume a paused mailbox; repeating it changes nothing',
  description: 'Held receives are woken.',
});

/** The body of a call that works through a mailbox in steps. */
interface Step {
  readonly cursor?: string | undefined;
  readonly max: number;
}

const step = {
  scopeId: optional(id()).description('only messages of this scope and of the scopes below it'),
  max: optional(integer(1, 100), 100).description('the most messages that this step changes'),
  cursor: optional(bodyCursor()),
};

/** Cursors that are in the body of such a call. */
class StepCursors {
  readonly #cursors: Cursors;

  constructor(call: string) {
    this.#cursors = new Cursors(call, positions.id);
  }

  read(input: Input<unknown, Step>): string {
    return this.#cursors.read(this.#asQuery(input));
  }

  next(input: Input<unknown, Step>, last: string | null): string | null {
    return this.#cursors.next(this.#asQuery(input), last);
  }

  #asQuery({ body: { max: _max, ...filters }, ...input }: Input<unknown, Step>) {
    return { ...input, body: {}, query: filters };
  }
}

const purgeCursors = new StepCursors('purge');
const purged = {
  cancelled: number().optional().means('the messages that were cancelled'),
  removed: number().optional().means('with finished, the messages that were removed'),
  nextCursor,
};

const purge = route({
  method: 'POST',
  path: '/mailboxes/:mailboxId/purge',
  call: 'mailbox.purge',
  summary:
    'Cancel what waits in a mailbox, or of a scope and those below it, so many in a step; with finished, remove what has ended',
  description:
    'READY messages first, in the order of receives, then DELAYED and BLOCKED ones in the order in which they wait. ' +
    'Goes in steps of bounded work: call it again with `nextCursor` until that is null. A step may change ' +
    'fewer messages than `max`. Purged messages have the reason CANCELLED_BY_CALLER, CLAIMED ones are ' +
    'left alone. Messages of a cancelled run get the reason RUN_CANCELLED and are not counted. A step that cancels others ' +
    'counts as one operation. ' +
    'With `finished: true` it cancels nothing, but removes messages that have ended, oldest first, before their retention ends: ' +
    'their payloads, results and questions are gone, their workKeys are free, and their tasks stay as tombstones. Members of ' +
    'undecided groups stay.',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({
    ...step,
    finished: optional(flag()).description('true: remove finished messages, and cancel none'),
  }),
  example: { cancelled: 7 },
  success: { 200: record('Purged', purged).schema },
  refuses: ['MAILBOX_NOT_FOUND', 'INVALID_CURSOR', 'OPERATIONS_EXHAUSTED', 'MESSAGES_DAMAGED'],
  isStepwise: true,
  script: 'mailbox/purge',
  args: (input) => ({
    scopeId: input.body.scopeId ?? '',
    max: input.body.max,
    cursor: purgeCursors.read(input),
    finished: input.body.finished ? '1' : '',
  }),
  reply: { cancelled: number().or(0), removed: number().or(0), nextCursor },
  detail: (refusal, input) => damagedDetail(refusal, (behind) => purgeCursors.next(input, behind)),
  answer: ({ cancelled, removed, nextCursor }, input) => ({
    status: 200,
    body: {
      ...(input.body.finished ? { removed } : { cancelled }),
      nextCursor: purgeCursors.next(input, nextCursor),
    },
  }),
});

const requeueCursors = new StepCursors('requeue');
const requeued = {
  requeued: number().means('the messages requeued'),
  nextCursor,
  passedOver: countsByName().means('the messages that stay as they are, by the code of the error that says why'),
};

const requeue = route({
  method: 'POST',
  path: '/mailboxes/:mailboxId/requeue',
  call: 'mailbox.requeue',
  summary:
    'Requeue the messages of a final state, oldest first, so many in a step; those that may not be are passed over',
  description:
    'Goes in steps: call it again with `nextCursor` until that is null. `passedOver` counts the messages of the step that ' +
    'stay as they are, by the code of the error that a requeue of each alone would answer: GROUP_DECIDED, ' +
    'VERDICT_CONFLICT, SCOPE_CANCELLED, PREREQUISITE_FAILED, DEPENDENTS_FULL or POOL_NOT_FOUND. A limit that leaves no room ends ' +
    'a step early, and is an error only where the step has done nothing; so do messages that the store has damaged: ' +
    'MESSAGES_DAMAGED has the cursor that continues after them. A step counts as one operation if it changed anything.',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({
    state: oneOf(...requeueableStates).description('only messages of this state'),
    ...step,
  }),
  example: { requeued: 7, passedOver: { GROUP_DECIDED: 2 } },
  success: { 200: record('Requeued', requeued).schema },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'INVALID_CURSOR',
    'OPERATIONS_EXHAUSTED',
    'BACKLOG_FULL',
    'TIMERS_FULL',
    'ACTIVE_TASKS_LIMITED',
    'MESSAGES_DAMAGED',
  ],
  isStepwise: true,
  script: 'mailbox/requeueAll',
  args: (input) => ({
    state: input.body.state,
    scopeId: input.body.scopeId ?? '',
    max: input.body.max,
    cursor: requeueCursors.read(input),
  }),
  reply: requeued,
  detail: (refusal, input) => damagedDetail(refusal, (behind) => requeueCursors.next(input, behind)),
  answer: (reply, input) => ({
    status: 200,
    body: { ...reply, nextCursor: requeueCursors.next(input, reply.nextCursor) },
  }),
});

/** The calls on one mailbox. */
export const manageRoutes: readonly Route[] = [view, update, remove, pause, resume, purge, requeue];
