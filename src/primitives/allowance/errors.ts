import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';

export const allowanceErrors: ErrorTable = {
  ALLOWANCE_NOT_FOUND: entry(404, 'there is no such allowance in this space'),
  CONSUMPTION_NOT_FOUND: entry(
    404,
    'the allowance has no such consumption, and no such waiter that was granted, or retention has removed it',
  ),
  CONSUMPTION_SETTLED: entry(
    409,
    (units) => `the consumption was settled with ${units} units: it is settled once, and repeated with the same units`,
  ),
  WAITER_NOT_FOUND: entry(404, 'there is no such waiter in this space'),
  UNITS_EXCEED_LIMIT: advised('there are never that many units: ask for fewer', 400, (detail) => {
    const [limit, kind] = detail.split(' ').reverse();
    const what = kind === 'pool' ? `the pool's ${limit} units` : `the allowance's unitsLimit of ${limit}`;
    return `units must not exceed ${what}: they would never be available`;
  }),
  ALLOWANCE_EXISTS: entry(
    409,
    'another allowance of this space has this name: choose another name, or use that allowance',
  ),
  WAITERS_FULL: advised(
    'the queue is full: try later',
    409,
    (limit) =>
      `the space has its maxPendingWaiters of ${limit} waiters and waiting holds: wait again once some have left, or raise maxPendingWaiters with PUT /limits`,
  ),
  WAITER_NOT_WAITING: advised(
    'the wait is over: GRANTED means that the units are yours; otherwise queue again with allowance_wait',
    409,
    (state) => `the waiter is ${state}: only a WAITING one can be cancelled or renewed`,
  ),
  ALLOWANCE_COOLING_DOWN: entry(429, 'the allowance is cooling down: retry after its cooldownUntil, or wait for it'),
  ALLOWANCE_EXHAUSTED: advised('nothing is left, or others come first: call allowance_wait', 429, (why) =>
    why.startsWith('waiters')
      ? 'others wait for this allowance, and nobody overtakes them: wait as well, or retry when they have been served'
      : 'the current window has too few units left: retry in the next one, or wait for it',
  ),
};
