import { bareContenders } from './bare.ts';
import { bullmqContenders } from './bullmq.ts';
import type { Contender, Settings } from './contender.ts';
import { musterContenders } from './muster.ts';

/** The contenders by their names in --only, in the order of the tables. */
export const CONTENDERS: Record<string, (settings: Settings) => Contender> = {
  ...bareContenders,
  ...bullmqContenders,
  ...musterContenders,
};
