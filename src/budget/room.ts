import { number } from '../declare/field.ts';
import { census, many } from '../declare/record.ts';
import type { Room } from '../room.ts';
import { budgetErrors } from './errors.ts';
import { budgetEvents } from './events.ts';
import { budgetGlossary } from './glossary.ts';
import { budgetKeys } from './keys.ts';
import { Balances, Budget, Entry, Reservation } from './records.ts';
import { budgetRoutes } from './routes.ts';

export const budgetRoom: Room = {
  name: 'budget',
  glossary: budgetGlossary,
  routes: budgetRoutes,
  keys: budgetKeys,
  errors: budgetErrors,
  records: [Balances, Budget, Reservation, Entry],
  events: budgetEvents,
  census: { reservations: census(Reservation) },
  inRun: { reservations: many(Reservation) },
  stays: { activeReservations: number() },
  extends: { scope: { activeReservations: number().or(0).internal() } },
};
