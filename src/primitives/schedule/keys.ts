import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Schedule } from './records.ts';

const withSchedule = 'each entry with its schedule';

export const scheduleKeys = {
  schedules: {
    pattern: 'muster:{org}:<spaceNumber>:schedules',
    type: 'zset',
    holds: 'ids of the schedules, in order of creation (score 0)',
    goes: withSchedule,
  },
  scheduleNames: {
    pattern: 'muster:{org}:<spaceNumber>:scheduleNames',
    type: 'hash',
    holds: 'name to the id of the schedule',
    goes: withSchedule,
  },
  schedule: {
    pattern: 'muster:{org}:<spaceNumber>:schedule:<scheduleId>',
    type: 'hash',
    holds: fieldsIn(
      Schedule,
      'nextAt only while it is ACTIVE; lastAt: the moment, or when it was triggered. Made at the moment of its id, from which everySeconds counts',
    ),
    goes: 'when it is deleted, or max(retention window, 30 days) after it ended',
  },
  scopeSchedules: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:schedules',
    type: 'zset',
    holds: 'ids of its schedules, in order of creation (score 0)',
    goes: withSchedule,
  },
  nextSchedules: {
    pattern: 'muster:{org}:<spaceNumber>:nextSchedules',
    type: 'zset',
    holds: 'ids of the ACTIVE schedules, scored by their next moment',
    goes: 'each entry when its schedule is paused, ends or is deleted',
  },
  scheduleTimers: {
    pattern: 'muster:{org}:scheduleTimers',
    type: 'zset',
    holds: '`spaceNumber:scheduleId` of the ACTIVE schedules of all spaces, scored by their next moment',
    goes: 'each entry when its schedule is paused, ends or is deleted',
  },
} satisfies KeyTable;
