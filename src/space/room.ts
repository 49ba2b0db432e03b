import type { Room } from '../room.ts';
import { spaceErrors } from './errors.ts';
import { spaceEvents } from './events.ts';
import { spaceKeys } from './keys.ts';
import { Space, UsageDay } from './records.ts';
import { spaceRoutes } from './routes.ts';

export const spaceRoom: Room = {
  name: 'space',
  routes: spaceRoutes,
  keys: spaceKeys,
  errors: spaceErrors,
  records: [Space, UsageDay],
  events: spaceEvents,
  limits: { requestsPerMinute: { min: 1, max: 100_000, default: 600, isGranted: true } },
};
