import { flag, id, oneOf, raw } from '../../engine/declare/field.ts';
import { exactly, Many, many, readMembers, type Shown } from '../../engine/declare/record.ts';
import { param } from '../../engine/route/args.ts';
import { looksAt, maxLooked, ofEachKind, wantedOf } from '../../engine/route/list-limits.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import type { Declarations } from '../room.ts';
import { Scope } from './records.ts';

/** The most scopes shown. */
const maxScopes = 200;

/** Routes about a run as a whole: its records of every room, and its cancel. */
export function runRoutes({
  inRun,
  cancelled,
  stays,
}: Pick<Declarations, 'inRun' | 'cancelled' | 'stays'>): readonly Route[] {
  const scopes = many(Scope, maxScopes);
  const shown = Object.entries(inRun).map(([name, field]) => [
    name,
    field instanceof Many ? many(field.record, maxLooked).schema : field.schema,
  ]);
  const schemasOf = (fields: typeof stays) =>
    Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));

  const view = read({
    path: '/ops/runs/:scopeId',
    call: 'run.view',
    needsAllMailboxes: true,
    summary: 'A run: the records of a scope and of those below it, newest first',
    description:
      'Everything but notes that belongs to the scope and to all scopes below it, without payloads, at most `limit` of each ' +
      'list; `truncated` says that there are more, or some that the store has damaged. With `state` the newest 500 of each are looked at.',
    title: 'See a run',
    tool: 'See how a run stands: `counts` of its records by state. All is done when its scope is IDLE (nothing live) and no count is of FAILED, REJECTED or EXPIRED. With full true the records themselves, newest first, without payloads: pass `state` (FAILED, say) and a small limit.',
    isBrief: true,
    query: ofEachKind(inRun),
    success: {
      200: exactly({
        scope: Scope.schema.description('the scope itself'),
        scopes: scopes.schema,
        ...Object.fromEntries(shown),
        truncated: flag().schema,
      }),
    },
    refuses: ['SCOPE_NOT_FOUND'],
    script: 'scope/run',
    args: ({ query }) => ({ maxScopes, maxRows: looksAt(query) }),
    reply: { scopes, lists: raw<Shown[]>(), truncated: flag() },
    answer: ({ scopes: [scope, ...below], lists, truncated }, { query }) => {
      const wanted = wantedOf(readMembers(inRun, lists), query);
      return { status: 200, body: { scope, scopes: below, ...wanted.lists, truncated: truncated || wanted.isCut } };
    },
  });

  const cancel = route({
    method: 'POST',
    path: '/scopes/:scopeId/cancel',
    call: 'scope.cancel',
    needsAllMailboxes: true,
    summary: 'Cancel a scope, all below it and everything live there; repeating it answers the progress',
    description:
      'From now on the scope and all below it are CANCELLED: nothing is received, granted, released or satisfied ' +
      'there, tokens are CLAIM_LOST, and new work is SCOPE_CANCELLED. The records end in steps of at most 500, the first ' +
      'with this call, the others by workers within seconds; `done` says whether all have. Repeating the call continues and ' +
      'answers the totals so far. Reservations stay until they are settled or voided.',
    title: 'Stop a run',
    tool: 'Stop a run for good: all that is live in it is cancelled, and agents that work on it lose their claims. Only if you were asked to, or own it. Again it answers how far that has come (`done`).',
    isDestructive: true,
    isRepeatable: true,
    permission: 'coordination_write',
    idempotency: 'optional',
    rate: 'recovery',
    success: {
      200: exactly({
        scopeId: id().schema,
        state: oneOf('CANCELLED').schema,
        cancelled: exactly(schemasOf(cancelled)).description(
          'the number of records of each kind that the cancel has ended so far',
        ),
        ...schemasOf(stays),
        done: flag().means('whether nothing live is left').example(true).schema,
      }).meta({ component: 'CancelledRun' }),
    },
    refuses: ['SCOPE_NOT_FOUND'],
    isStepwise: true,
    script: 'scope/cancel',
    reply: { totals: raw<Shown[]>(), stays: raw<Shown[]>(), isDone: flag() },
    answer: ({ totals, stays: left, isDone }, input) => ({
      status: 200,
      body: {
        scopeId: param(input, 'scopeId'),
        state: 'CANCELLED',
        cancelled: readMembers(cancelled, totals),
        ...readMembers(stays, left),
        done: isDone,
      },
    }),
  });
  return [view, cancel];
}
