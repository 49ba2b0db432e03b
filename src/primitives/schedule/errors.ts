import { type ErrorTable, entry } from '../../engine/route/errors.ts';

export const scheduleErrors: ErrorTable = {
  SCHEDULE_NOT_FOUND: entry(404, 'there is no such schedule in this space'),
  SCHEDULE_EXISTS: entry(
    409,
    'another schedule of this space has this name: choose another name, or change that schedule',
  ),
  SCHEDULES_FULL: entry(409, (limit) => `the space has the maximum of ${limit} schedules: delete one first`),
  SCHEDULE_ENDED: entry(409, 'the schedule is ENDED, as its run was cancelled: create another one in another scope'),
};
