import { counter } from '../declare/field.ts';
import { nested } from '../declare/record.ts';
import type { Room } from '../room.ts';
import { timerGlossary } from './glossary.ts';
import { workerKeys } from './keys.ts';

/** Timers of all rooms, armed by lua/lib/timer, and the jobs of the workers that look after them. */
export const timerRoom: Room = {
  name: 'timer',
  glossary: timerGlossary,
  keys: workerKeys,
  census: { timers: nested({ ARMED: counter('timers:ARMED') }) },
  backlog: { armedTimers: counter('timers:ARMED') },
  limits: { maxArmedTimers: { min: 1, max: 1_000_000, default: 10_000 } },
};
