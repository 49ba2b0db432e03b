import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';
import { circleInWords } from './circle.ts';

export const poolErrors: ErrorTable = {
  POOL_NOT_FOUND: advised('look the id up with pool_list', 404, 'there is no such pool in this space'),
  HOLD_NOT_FOUND: entry(404, 'there is no such hold in this space: finished ones are kept for 24 hours'),
  POOL_EXISTS: entry(409, 'another pool of this space has this name: choose another name, or use that pool'),
  POOL_NOT_EMPTY: entry(409, (detail) => {
    const [count, what] = detail.split(' ');
    if (what === 'units') return `${count} units of the pool are held: delete it when they have been released`;
    return what === 'holds'
      ? `${count} holds wait for the pool: delete it when they have left`
      : `${count} unfinished messages require the pool: delete it when they have ended`;
  }),
  POOL_EXHAUSTED: advised('do something else first, or call pool_acquire with ttlSeconds to wait', 429, (why) =>
    why === 'waiting'
      ? 'others wait for this pool, and nobody overtakes them: send ttlSeconds above 0 to wait as well, or retry'
      : 'too few units of the pool are free: send ttlSeconds above 0 to wait for them, or retry',
  ),
  HOLD_NOT_WAITING: advised(
    'the wait is over: HELD means that the units are yours; otherwise acquire again',
    409,
    (state) =>
      `the hold is ${state}: only a WAITING one can be cancelled or renewed without its token; a HELD one is released or ` +
      'renewed with it',
  ),
  DEADLOCK: advised(
    'release what you hold, then acquire all of it again, in the order that others use',
    409,
    circleInWords,
  ),
};
