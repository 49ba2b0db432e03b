import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Scope } from './records.ts';

const withScope = 'each entry with its scope';

export const scopeKeys = {
  scopes: {
    pattern: 'muster:{org}:<spaceNumber>:scopes',
    type: 'zset',
    holds: 'all scopes as `createdAt scopeId`, the moment as 12 hexadecimal digits: in order of creation (score 0)',
    goes: withScope,
  },
  scopeNames: {
    pattern: 'muster:{org}:<spaceNumber>:scopeNames',
    type: 'zset',
    holds: 'those that have a name as the name, a tab and their entry among all (score 0)',
    goes: withScope,
  },
  scope: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>',
    type: 'hash',
    holds: fieldsIn(
      Scope,
      'path: ids from the root to this scope; live: READY and CLAIMED messages and WAITING waiters of the subtree, liveWaiters: the latter; endedAcked, …: messages of the subtree that have ended so; cancelledAt: since when it is cancelled; of the scope that a cancel named cancelRequestId, cancelWalk, how far its steps have come (`scopeId kind lastId`), and cancelledMessages, … what it has ended; activeReservations: of the subtree; groupId of a gate scope; undecidedGroups: of those it is the parent scope of; isDeclared: made by POST /scopes below another, declaredChildren: of those; usedAt: its last use that keeps it only for its time; consumptions, consumedUnits: how many units in how many',
    ),
    goes: 'when idle and empty for max(retention window, 30 days), since its cancel if there was one',
  },
  gates: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:gates',
    type: 'zset',
    holds:
      'its children as they stand among all scopes (score 0): gate scopes of the groups whose parent scope it is, and those made by POST /scopes',
    goes: withScope,
  },
} satisfies KeyTable;
