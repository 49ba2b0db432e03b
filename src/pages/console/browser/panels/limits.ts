import type { Limits } from '../records.ts';
import { panel } from './panel.ts';

/** The space's limits, read only to show which are nearly reached. */
export const limits = panel<Limits>({
  id: 'limits',
  path: '/limits',
  hears: ['limits'],
  learn: (answer, world) => world.learnLimits(answer),
  render: () => [],
});
