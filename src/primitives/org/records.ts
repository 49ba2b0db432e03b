import { id, number, oneOf, text, time } from '../../engine/declare/field.ts';
import { nested, record } from '../../engine/declare/record.ts';
import type { Get, Value } from '../../engine/declare/value.ts';
import { type Permission, permissions } from '../../engine/route/caller.ts';
import { figure, json, list } from './kinds.ts';
import { planNames } from './plans.ts';

/**
 * `usage` has the current use of each figure: operations this month, requests this minute (null if the plan does not limit
 * them, as they are not counted then).
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
      // Of the bytes that one space keeps. Plans set by earlier versions have none.
      retainedBytes: figure().or('unlimited'),
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
    /** 1 if calls need not check any limit. */
    unlimited: text().internal(),
    /** A lower bound of the next due time. */
    nextDue: number().orNull().internal(),
    /** The generation of the journals. */
    epoch: text().internal(),
  },
  { lua: 'org' },
);

/** The start of the last day or, if it is known, minute in which a key was used, or its creation if that was later. */
const lastUsedAt = (get: Get): Value => {
  const [day, minute, createdAt] = [get('usedDay'), get('usedMinute'), Number(get('createdAt'))];
  if (day === null || day === '') return null;
  return Math.max(Number(day) * 86_400_000, Number(minute ?? 0) * 60_000, createdAt);
};

export const ApiKey = record('ApiKey', {
  id: id().named('keyId'),
  keyId: id(),
  name: text().orNull().means('a name for people, or null if it has none').example('worker'),
  permissions: list<Permission>(...permissions).means(
    'its permissions; resource_config includes resource_spend, and no other includes another',
  ),
  spaces: list().means(
    'the ids of the spaces that it is limited to; empty if it may use every space of the organization',
  ),
  mailboxes: list()
    .or('')
    .means('the ids of the mailboxes of its one space that it is limited to; empty if it may use all'),
  holder: text().orNull().means('the only name under which it acts, or null if it may use any').example(null),
  createdAt: time(),
  expiresAt: time().orNull().means('when it ends, or null if it never does').example(null),
  lastUsedAt: time()
    .orNull()
    .of(lastUsedAt, 'usedDay', 'usedMinute', 'createdAt')
    .means(
      'when it was last used, or null if it never was: to the precision of a minute if it has a holder, mailboxes or an end, else of a UTC day',
    ),
  revokedAt: time().orNull().means('when it was revoked, or null if it was not').example(null),
  /** The last day on which it was used, in days since 1970. */
  usedDay: number().orNull().later().internal(),
  /** The last minute since 1970 in which it was used, if more than permissions and spaces limit it. */
  usedMinute: number().orNull().later().internal(),
  /** The digest of the first key, if this one replaces others by rotation. It names the caller (lua/lib/caller.lua). */
  firstDigest: text().orNull().internal(),
  /** The last day on which only permissions and spaces limited it, and those spaces. */
  plain: text().orNull().later().internal(),
});

export const AuditEntry = record('AuditEntry', {
  at: time().means('when it happened'),
  action: text().means('what happened').example('mailbox.purged'),
  actor: text()
    .means(
      'who did it: the id of the API key, with the holder that it is bound to after a blank; `oidc:` and the subject of a token; `link`; or `cli`',
    )
    .example('0190a1b2-0000-7000-8000-3a2b1c0d9e8f'),
  target: text().means('the id of what was changed').example('0190a1b2-0000-7000-8000-9e8d7c6b5a4f'),
  detail: json().means('more about it, such as its space and how much it was').example({ cancelled: 3 }),
});
