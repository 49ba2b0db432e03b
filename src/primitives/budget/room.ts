import { number } from '../../engine/declare/field.ts';
import { census, many } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { budgetErrors } from './errors.ts';
import { budgetEvents } from './events.ts';
import { budgetKeys } from './keys.ts';
import { Balances, Budget, Entry, Reservation } from './records.ts';
import { budgetRoutes } from './routes.ts';

export const budgetRoom: Room = {
  name: 'budget',
  tag: {
    place: 3,
    tools: 'money',
    title: 'Budgets',
    description: 'Money that cannot be overspent: reserve, settle, void.',
  },
  routes: budgetRoutes,
  keys: budgetKeys,
  errors: budgetErrors,
  records: [Balances, Budget, Reservation, Entry],
  events: budgetEvents,
  census: { reservations: census(Reservation) },
  inRun: { reservations: many(Reservation) },
  stays: {
    activeReservations: number().means(
      'the number of reservations that are still ACTIVE; only a settlement or a void ends them',
    ),
  },
  extends: { scope: { activeReservations: number().or(0).internal() } },
};
