import { type Answered, type Fields, times } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { Refusal } from '../../engine/redis/scripts.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { invalid } from '../../engine/route/errors.ts';
import { fields, id, integer, key, ofRun, oneOf, opaque, optional } from '../../engine/route/fields.ts';
import { byName, readList } from '../../engine/route/read-list.ts';
import type { ServeContext } from '../../engine/route/route.ts';
import { type Input, type Route, read, route } from '../../engine/route/route.ts';
import { newTrace } from '../../engine/route/trace.ts';
import { inOrder, maxAttempts, ofAttempts } from '../mailbox/fields.ts';
import { cron, everySeconds, timezone } from './fields.ts';
import { maxAhead, momentsAhead, nextOf } from './moments.ts';
import { Schedule } from './records.ts';

const reply = { schedule: one(Schedule) };
const path = '/schedules/:scheduleId';
const nextMoments = times(maxAhead).means('when it sends next, and after that; empty while `nextAt` is null');

/**
 * Runs the script. If a moment is due, fires it and runs the script again; if the script needs the next moment of a cron
 * expression, computes it and runs the script again.
 */
async function served<R extends Fields>(input: Input, context: ServeContext<R>): Promise<Answered<R> | undefined> {
  const changes: Record<string, string | number> = {};
  for (;;) {
    try {
      return (await context.execute(changes)).reply;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === 'SCHEDULE_DUE') {
        const [spaceId, scheduleId] = [param(input, 'spaceId'), param(input, 'scheduleId')];
        changes['sweptSchedule'] = await context.schedules.fire(context.caller.org, spaceId, scheduleId);
      } else if (error.code === 'MOMENT_UNKNOWN') {
        const [now = '', zone = '', ...expression] = error.detail.split(' ');
        changes['after'] = now;
        changes['nextAt'] = nextOf(expression.join(' '), zone, Number(now));
      } else throw error;
    }
  }
}

/** The timing in a body. */
interface Timed {
  readonly cron?: string | undefined;
  readonly everySeconds?: number | undefined;
}

function checkTiming(body: Timed, isNew: boolean): void {
  const given = Number(body.cron !== undefined) + Number(body.everySeconds !== undefined);
  if (given > 1 || (isNew && given === 0))
    throw invalid(isNew ? 'cron or everySeconds is needed, and not both' : 'cron and everySeconds exclude each other');
}

const create = route({
  method: 'POST',
  path: '/schedules',
  call: 'schedule.create',
  summary: 'Create a schedule; it sends a message at each moment of a cron expression, or every so many seconds',
  description:
    'Either `cron`, by the clock of `timezone`, or `everySeconds`. Each moment sends one message, whatever ' +
    'dies; if several have passed while no worker ran, only the last is sent, and `missed` counts the others.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    name: key(200),
    mailboxId: id(),
    scopeId: ofRun(),
    payload: opaque(),
    cron: optional(cron()),
    everySeconds: optional(everySeconds()).example(null),
    timezone: optional(timezone(), 'UTC'),
    maxAttempts: optional(maxAttempts()),
    ...ofAttempts,
    ...inOrder,
  }),
  opaque: ['payload'],
  success: { 201: Schedule.schema },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'SCHEDULE_EXISTS',
    'SCOPE_CANCELLED',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'SCHEDULES_FULL',
    'ACTIVE_RUNS_LIMITED',
  ],
  script: 'schedule/create',
  args: ({ body }) => {
    checkTiming(body, true);
    return {
      ...body,
      cron: body.cron ?? '',
      everySeconds: body.everySeconds ?? '',
      maxAttempts: body.maxAttempts ?? '',
      retryDelaySeconds: body.retryDelaySeconds ?? '',
      maxRetryDelaySeconds: body.maxRetryDelaySeconds ?? '',
      attemptSeconds: body.attemptSeconds ?? '',
      priority: body.priority ?? '',
      key: body.key ?? '',
      after: '',
      nextAt: '',
      tail: randomTail(),
    };
  },
  reply,
  serve: async (input, context) => ({ status: 201, body: (await served(input, context))?.schedule }),
});

const list = readList({
  path: '/schedules',
  call: 'schedule.list',
  summary: 'List schedules, newest first; by name',
  description: 'Includes paused and ended ones. Continue with `nextCursor` until it is null.',
  script: 'schedule/list',
  plural: 'schedules',
  record: Schedule,
  filters: byName(),
});

const view = read({
  path,
  call: 'schedule.view',
  summary: 'A schedule: when it comes next, and what it sent last',
  description: '`nextAt` is null while it is paused, and once it has ended with its run.',
  success: { 200: Schedule.with('ScheduleView', { nextMoments }).schema },
  refuses: ['SCHEDULE_NOT_FOUND'],
  script: 'schedule/view',
  reply,
  answer: ({ schedule }) => ({
    status: 200,
    body: { ...schedule, nextMoments: momentsAhead(schedule, schedule.nextAt) },
  }),
});

const update = route({
  method: 'PATCH',
  path,
  call: 'schedule.update',
  summary:
    'Change a schedule, pause or resume it; cron replaces everySeconds and the other way round, and what a pause skips is not missed',
  description:
    'Fields that are left out stay as they are. Due moments are sent before the change. A schedule that ended ' +
    'with its run stays ended (`SCHEDULE_ENDED`).',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({
    name: optional(key(200)),
    mailboxId: optional(id()),
    scopeId: optional(id()).description('the run of its messages from now on'),
    payload: opaque().optional().description('the payload of each message from now on'),
    cron: optional(cron()),
    everySeconds: optional(everySeconds()).example(null),
    timezone: optional(timezone()),
    maxAttempts: optional(maxAttempts()),
    ...ofAttempts,
    ...inOrder,
    priority: optional(integer(0, 9)).description('the priority of each message from now on'),
    state: optional(oneOf('ACTIVE', 'PAUSED')),
  }),
  opaque: ['payload'],
  success: { 200: Schedule.schema },
  refuses: [
    'SCHEDULE_NOT_FOUND',
    'SCHEDULE_ENDED',
    'MAILBOX_NOT_FOUND',
    'SCHEDULE_EXISTS',
    'SCOPE_CANCELLED',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'ACTIVE_RUNS_LIMITED',
  ],
  script: 'schedule/update',
  args: ({ body }) => {
    checkTiming(body, false);
    return {
      name: body.name ?? '',
      mailboxId: body.mailboxId ?? '',
      scopeId: body.scopeId ?? '',
      // As in every PATCH, null counts as absent.
      payload: body.payload === 'null' ? '' : (body.payload ?? ''),
      cron: body.cron ?? '',
      everySeconds: body.everySeconds ?? '',
      timezone: body.timezone ?? '',
      maxAttempts: body.maxAttempts ?? '',
      retryDelaySeconds: body.retryDelaySeconds ?? '',
      maxRetryDelaySeconds: body.maxRetryDelaySeconds ?? '',
      attemptSeconds: body.attemptSeconds ?? '',
      priority: body.priority ?? '',
      key: body.key ?? '',
      state: body.state ?? '',
      sweptSchedule: '',
      after: '',
      nextAt: '',
    };
  },
  reply,
  serve: async (input, context) => ({ status: 200, body: (await served(input, context))?.schedule }),
});

const remove = route({
  method: 'DELETE',
  path,
  call: 'schedule.delete',
  summary: 'Delete a schedule; messages already sent stay',
  description: 'No further message is sent. Its name is free again.',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 204: null },
  refuses: ['SCHEDULE_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'schedule/delete',
  args: () => ({ sweptSchedule: '' }),
  reply: {},
  serve: async (input, context) => {
    await served(input, context);
    return { status: 204 };
  },
});

const trigger = route({
  method: 'POST',
  path: `${path}/trigger`,
  call: 'schedule.trigger',
  summary: "Send a schedule's message now, paused or not; its moments stay as they are",
  description:
    'The message has no workKey: each trigger sends another one. It continues the trace of the call, or starts one. A ' +
    'refusal, such as a full backlog, is answered to the caller.',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 200: Schedule.schema },
  refuses: [
    'SCHEDULE_NOT_FOUND',
    'SCHEDULE_ENDED',
    'MAILBOX_NOT_FOUND',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'BACKLOG_FULL',
    'ACTIVE_TASKS_LIMITED',
    'RETAINED_BYTES_EXCEEDED',
  ],
  script: 'schedule/trigger',
  args: ({ trace }) => ({
    sweptSchedule: '',
    ...(trace.traceparent === '' ? newTrace() : trace),
    tail: randomTail(),
  }),
  reply,
  serve: async (input, context) => ({ status: 200, body: (await served(input, context))?.schedule }),
});

export const scheduleRoutes: readonly Route[] = [create, list, view, update, remove, trigger];
