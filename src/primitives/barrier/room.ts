import { number } from '../../engine/declare/field.ts';
import { census, many } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { barrierErrors } from './errors.ts';
import { barrierEvents } from './events.ts';
import { barrierKeys } from './keys.ts';
import { Barrier } from './records.ts';
import { barrierRoutes } from './routes.ts';

export const barrierRoom: Room = {
  name: 'barrier',
  tag: {
    place: 4,
    tools: 'meeting',
    title: 'Barriers',
    description: 'Everybody waits for everybody, again and again.',
  },
  routes: barrierRoutes,
  keys: barrierKeys,
  errors: barrierErrors,
  records: [Barrier],
  events: barrierEvents,
  census: { barriers: census(Barrier) },
  inRun: { barriers: many(Barrier) },
  cancelled: { barriers: number() },
  extends: { scope: { cancelledBarriers: number().or(0).internal() } },
};
