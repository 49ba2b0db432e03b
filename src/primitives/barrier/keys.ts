import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Barrier } from './records.ts';

export const barrierKeys = {
  barriers: {
    pattern: 'muster:{org}:<spaceNumber>:barriers',
    type: 'zset',
    holds: 'ids of the barriers, in order of creation (score 0)',
    goes: 'each entry with its barrier',
  },
  barrier: {
    pattern: 'muster:{org}:<spaceNumber>:barrier:<barrierId>',
    type: 'hash',
    holds: fieldsIn(Barrier, 'arrivals and releasedAt are of this epoch'),
    goes: 'max(retention window, 30 days) after it was released or cancelled',
  },
  arrivalKeys: {
    pattern: 'muster:{org}:<spaceNumber>:barrier:<barrierId>:arrivalKeys',
    type: 'set',
    holds: 'the arrivalKeys of this epoch',
    goes: 'with the next epoch, or with its barrier',
  },
  scopeBarriers: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:barriers',
    type: 'zset',
    holds: 'ids of its barriers, in order of creation (score 0)',
    goes: 'each entry with its barrier',
  },
} satisfies KeyTable;
