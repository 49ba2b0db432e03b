import { fieldsIn } from '../declare/record.ts';
import type { KeyTable } from '../redis/keys.ts';
import { Scope } from './records.ts';

export const scopeKeys = {
  scope: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>',
    type: 'hash',
    holds: fieldsIn(
      Scope,
      'path: ids from the root to this scope; live: READY and CLAIMED messages and WAITING waiters of the subtree; groupId of a gate scope; undecidedGroups: of those it is the parent scope of; consumptions, consumedUnits: how many units in how many',
    ),
    goes: 'when idle and empty for max(retention window, 30 days)',
  },
  gates: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:gates',
    type: 'zset',
    holds: "gate scopes of the groups whose parent scope it is, in order of creation (score 0): a scope's children",
    goes: 'each entry with its scope',
  },
} satisfies KeyTable;
