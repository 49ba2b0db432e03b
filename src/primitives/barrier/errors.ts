import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';

export const barrierErrors: ErrorTable = {
  BARRIER_NOT_FOUND: entry(404, 'there is no such barrier in this space'),
  BARRIER_RELEASED: advised(
    'this epoch is over: go on, or arrive again when the next one is open',
    409,
    'the barrier is RELEASED: call nextEpoch to use it again',
  ),
  BARRIER_CANCELLED: advised(
    'the meeting is off: stop waiting for it',
    409,
    'the barrier is CANCELLED: call nextEpoch to use it again, unless its run was cancelled',
  ),
  BARRIER_NOT_RELEASED: entry(409, 'the barrier is OPEN: it must be RELEASED or CANCELLED before its next epoch'),
  EPOCH_MISMATCH: entry(409, (epoch) => `epoch must be ${epoch}, the barrier's current epoch`),
};
