import type { Room } from '../room.ts';
import { eventErrors } from './errors.ts';
import { eventRoutes } from './routes.ts';

export const eventRoom: Room = {
  name: 'event',
  tag: { place: 11, tools: 'runs', title: 'Events', description: 'The journal: read it or watch it.' },
  routes: ({ events }) => eventRoutes(events),
  errors: eventErrors,
};
