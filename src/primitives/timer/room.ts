import { counter } from '../../engine/declare/field.ts';
import { nested } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { workerKeys } from './keys.ts';

/** Timers of all rooms, armed by lua/lib/timer, and the jobs of the workers that look after them. */
export const timerRoom: Room = {
  name: 'timer',
  keys: workerKeys,
  census: { timers: nested({ ARMED: counter('timers:ARMED') }).means('deadlines, delays and other moments ahead') },
  backlog: { armedTimers: counter('timers:ARMED').means('deadlines, delays and other moments ahead') },
  limits: {
    maxArmedTimers: {
      meaning: 'the most deadlines, delays and other moments ahead',
      min: 1,
      max: 1_000_000,
      default: 10_000,
    },
  },
};
