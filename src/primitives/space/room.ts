import type { Room } from '../room.ts';
import { spaceErrors } from './errors.ts';
import { spaceEvents } from './events.ts';
import { spaceKeys } from './keys.ts';
import { Space, UsageDay, VisibleSpace } from './records.ts';
import { spaceRoutes } from './routes.ts';
import { visibleSpaces } from './visible.ts';

export const spaceRoom: Room = {
  name: 'space',
  tag: {
    place: 13,
    tools: 'runs',
    title: 'Space',
    description: 'Limits, figures, who waits for what, usage, and many calls in one request.',
  },
  routes: spaceRoutes,
  spacelessRoutes: [visibleSpaces],
  keys: spaceKeys,
  errors: spaceErrors,
  records: [Space, VisibleSpace, UsageDay],
  events: spaceEvents,
  limits: {
    requestsPerMinute: {
      meaning: 'the most requests of a UTC minute; recovery calls are counted but never refused',
      min: 1,
      max: 100_000,
      default: 600,
      isGranted: true,
    },
  },
};
