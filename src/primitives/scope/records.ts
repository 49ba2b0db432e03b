import { flag, id, number, state, text, time } from '../../engine/declare/field.ts';
import { nested, record } from '../../engine/declare/record.ts';

export const scopeStates = ['ACTIVE', 'IDLE', 'CANCELLED'] as const;

export const Scope = record('Scope', {
  id: id(),
  parentScopeId: id().orNull().workedOut().means('the scope above it, or null if it is a root'),
  name: text().orNull().example('orders'),
  state: state('scopes', ...scopeStates).of(
    {
      cases: [
        ['cancelledAt', 'CANCELLED'],
        ['live', 'ACTIVE'],
      ],
      otherwise: 'IDLE',
    },
    'live',
    'cancelledAt',
  ),
  live: nested({
    messages: number()
      .of((get) => Number(get('live')) - Number(get('liveWaiters')), 'live', 'liveWaiters')
      .means('messages that are not finished'),
    waiters: number().or(0).named('liveWaiters').means('WAITING waiters and WAITING holds'),
  }).means('the numbers of records that have not ended in the scope and the scopes below it'),
  ended: nested({
    acked: number().or(0).named('endedAcked').means('ACKED ones'),
    rejected: number().or(0).named('endedRejected').means('REJECTED ones'),
    failed: number().or(0).named('endedFailed').means('FAILED ones'),
    expired: number().or(0).named('endedExpired').means('EXPIRED ones'),
    cancelled: number().or(0).named('endedCancelled').means('CANCELLED ones'),
  }).means('how many messages of the scope and those below it have ended so, also those that retention has removed'),
  paused: flag().means('whether nothing is received in it and below it until it is resumed'),
  createdAt: time(),
  /** Ids from the root to this scope. */
  path: text().internal(),
  liveTotal: number().internal().named('live'),
  cancelledAt: time().orNull().internal(),
  /** In the scope that a cancel named: the request, and the position of its steps. */
  cancelRequestId: text().orNull().internal(),
  cancelWalk: text().orNull().internal(),
  /** Whether POST /scopes created it below another scope, and how many such children it has. */
  isDeclared: flag().internal(),
  /** The last use by a call that left no record to keep it. */
  usedAt: time().orNull().internal(),
  declaredChildren: number().or(0).internal(),
});
