import { number } from '../../engine/declare/field.ts';
import { census, many } from '../../engine/declare/record.ts';
import { maxLooked } from '../../engine/route/list-limits.ts';
import type { Room } from '../room.ts';
import { scheduleErrors } from './errors.ts';
import { scheduleEvents } from './events.ts';
import { scheduleKeys } from './keys.ts';
import { DueSchedule, Schedule, ScheduleSummary, WaitingSchedule } from './records.ts';
import { scheduleRoutes } from './routes.ts';

export const scheduleRoom: Room = {
  name: 'schedule',
  tag: { place: 8, title: 'Schedules', description: 'Messages sent on time.' },
  routes: scheduleRoutes,
  keys: scheduleKeys,
  errors: scheduleErrors,
  records: [Schedule, ScheduleSummary, WaitingSchedule, DueSchedule],
  events: scheduleEvents,
  census: { schedules: census(Schedule) },
  waits: { schedules: many(WaitingSchedule, maxLooked) },
  inRun: { schedules: many(ScheduleSummary) },
  extends: { scope: { endedSchedules: number().or(0).internal() } },
};
