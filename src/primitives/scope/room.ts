import { census } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { scopeErrors } from './errors.ts';
import { scopeEvents } from './events.ts';
import { scopeKeys } from './keys.ts';
import { Scope } from './records.ts';
import { scopeRoutes } from './routes.ts';
import { runRoutes } from './run-routes.ts';

export const scopeRoom: Room = {
  name: 'scope',
  tag: { place: 9, tools: 'runs', title: 'Runs', description: 'Scopes: the records of a run, and its cancel.' },
  routes: (all) => [...scopeRoutes, ...runRoutes(all)],
  keys: scopeKeys,
  errors: scopeErrors,
  records: [Scope],
  events: scopeEvents,
  census: { scopes: census(Scope) },
};
