import type { Room } from '../room.ts';

export const timerRoom: Room = {
  name: 'timer',
  limits: { maxArmedTimers: { min: 1, max: 1_000_000, default: 10_000 } },
};
