import { census, many } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { bulkErrors } from './errors.ts';
import { bulkEvents } from './events.ts';
import { bulkKeys } from './keys.ts';
import { Bulk } from './records.ts';
import { bulkRoutes } from './routes.ts';

export const bulkRoom: Room = {
  name: 'bulk',
  tag: {
    place: 9,
    title: 'Bulk work',
    description: 'Requeues or purges everything in a mailbox or a run. Workers do it, whoever goes meanwhile.',
  },
  routes: bulkRoutes,
  keys: bulkKeys,
  errors: bulkErrors,
  records: [Bulk],
  events: bulkEvents,
  census: { bulks: census(Bulk) },
  inRun: { bulks: many(Bulk) },
};
