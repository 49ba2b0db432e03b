import type { Permission } from '../call/caller.ts';
import { id, number, oneOf, text, time } from '../declare/field.ts';
import { nested, record } from '../declare/record.ts';
import { figure, json, list } from './kinds.ts';
import { planNames } from './plans.ts';

/**
 * `usage` has the usage of each figure: for operations that of this month, for requests that of this minute (null if
 * the plan doesn't limit them: they are not counted then).
 */
export const Organization = record(
  'Organization',
  {
    plan: oneOf(...planNames),
    figures: nested({
      operations: figure(),
      agents: figure(),
      spaces: figure(),
      runs: figure(),
      tasks: figure(),
      keys: figure(),
      rpm: figure(),
      retentionDays: figure(),
    }),
    usage: nested({
      operations: number().or(0).named('usedOperations'),
      agents: number().or(0).named('usedAgents'),
      spaces: number().or(0).named('usedSpaces'),
      runs: number().or(0).named('usedRuns'),
      tasks: number().or(0).named('usedTasks'),
      keys: number().or(0).named('usedKeys'),
      rpm: number()
        .orNull()
        .of((get) => (get('rpm') === 'unlimited' ? null : get('usedRequests')), 'usedRequests'),
    }),
    createdAt: time(),
    /** The number of the newest space. */
    lastSpace: number().or(0).internal(),
    /** The month of usedOperations, and the minute of usedRequests. */
    operationsMonth: text().orNull().internal(),
    requestsMinute: number().orNull().internal(),
    usedRequests: number().or(0).internal(),
    usedRecovery: number().or(0).internal(),
    /** 1 if calls need not check any figure. */
    unlimited: text().internal(),
    /** A lower bound of the next due time. */
    nextDue: number().orNull().internal(),
    /** The generation of the journals. */
    epoch: text().internal(),
  },
  { lua: 'org' },
);

export const ApiKey = record('ApiKey', {
  keyId: id(),
  name: text().orNull(),
  permissions: list<Permission>(),
  /** Empty: every space of the organization. */
  spaces: list(),
  createdAt: time(),
  revokedAt: time().orNull(),
});

export const AuditEntry = record('AuditEntry', {
  at: time(),
  action: text(),
  /** A keyId, or `cli`. */
  actor: text(),
  target: text(),
  detail: json(),
});
