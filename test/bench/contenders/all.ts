import { bareContenders } from './bare.ts';
import { bullmqContenders } from './bullmq.ts';
import type { Contender, Settings } from './contender.ts';
import { musterContenders } from './muster.ts';

/** By the name that --only knows them by, in the order of the tables. */
export const CONTENDERS: Record<string, (settings: Settings) => Contender> = {
  ...bareContenders,
  ...bullmqContenders,
  ...musterContenders,
};
