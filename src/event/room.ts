import type { Room } from '../room.ts';
import { eventErrors } from './errors.ts';
import { eventGlossary } from './glossary.ts';
import { eventRoutes } from './routes.ts';

export const eventRoom: Room = {
  name: 'event',
  routes: ({ events }) => eventRoutes(events),
  errors: eventErrors,
  glossary: eventGlossary,
};
