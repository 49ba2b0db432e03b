import type { KeyTable } from '../../engine/library/keys.ts';

const withScope = 'each entry with its note; all with their scope';

export const noteKeys = {
  notes: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:notes',
    type: 'zset',
    holds: 'the keys of its notes, in order (score 0)',
    goes: withScope,
  },
  noteTexts: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:noteTexts',
    type: 'hash',
    holds:
      '`#key` to `version createdAt updatedAt bytes holder` of each note (no holder: none; bytes: of the value), `=key` to its value',
    goes: withScope,
  },
} satisfies KeyTable;
