import type { Room } from '../room.ts';
import { spaceErrors } from './errors.ts';
import { spaceEvents } from './events.ts';
import { spaceGlossary } from './glossary.ts';
import { spaceKeys } from './keys.ts';
import { Space, UsageDay, VisibleSpace } from './records.ts';
import { spaceRoutes } from './routes.ts';
import { visibleSpaces } from './visible.ts';

export const spaceRoom: Room = {
  name: 'space',
  glossary: spaceGlossary,
  routes: spaceRoutes,
  spacelessRoutes: [visibleSpaces],
  keys: spaceKeys,
  errors: spaceErrors,
  records: [Space, VisibleSpace, UsageDay],
  events: spaceEvents,
  limits: { requestsPerMinute: { min: 1, max: 100_000, default: 600, isGranted: true } },
};
