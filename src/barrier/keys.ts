import type { KeyTable } from '../redis/keys.ts';

export const barrierKeys = {
  barriers: {
    pattern: 'muster:{org}:<spaceId>:barriers',
    type: 'zset',
    holds: 'ids of the barriers, in order of creation (score 0)',
    goes: 'each entry with its barrier',
  },
  barrier: {
    pattern: 'muster:{org}:<spaceId>:barrier:<barrierId>',
    type: 'hash',
    holds: 'scopeId, state, target; epoch, and of this epoch: arrivals, releasedAt (absent where not set)',
    goes: 'max(retention window, 30 days) after it was released or cancelled',
  },
  arrivalKeys: {
    pattern: 'muster:{org}:<spaceId>:barrier:<barrierId>:arrivalKeys',
    type: 'set',
    holds: 'the arrivalKeys of this epoch',
    goes: 'with the next epoch, or with its barrier',
  },
} satisfies KeyTable;
