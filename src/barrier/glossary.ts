import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of barriers mean. */
export const barrierGlossary: Glossary = {
  barrierId: "the barrier's id",
  epoch: 'which round this is: 1 for the first; nextEpoch begins another',
  arrivals: 'how many have arrived in this epoch',
  target: 'how many arrivals release it',
  arrivalKey: 'who arrives: the same key counts once in an epoch',
  releasedAt: 'when it was released; null: it is not',
  'barrier.arrive.epoch':
    'the epoch to arrive in: any other than the present one is refused; left out: the present one',
};
