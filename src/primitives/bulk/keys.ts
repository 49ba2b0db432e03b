import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Bulk } from './records.ts';

const withBulk = 'each entry with its bulk';

export const bulkKeys = {
  bulks: {
    pattern: 'muster:{org}:<spaceNumber>:bulks',
    type: 'zset',
    holds: 'ids of the bulks, in order of creation (score 0)',
    goes: withBulk,
  },
  bulk: {
    pattern: 'muster:{org}:<spaceNumber>:bulk:<bulkId>',
    type: 'hash',
    holds: fieldsIn(
      Bulk,
      'passedOver: `CODE number` of each code; walk, position: the scope and the last message that its steps have come to; stalledAt: since when a limit leaves no room. Made at the moment of its id',
    ),
    goes: 'max(retention window, 30 days) after its end',
  },
  scopeBulks: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:bulks',
    type: 'zset',
    holds: 'ids of the bulks of this scope, in order of creation (score 0)',
    goes: withBulk,
  },
} satisfies KeyTable;
