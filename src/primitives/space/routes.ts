import type { Route } from '../../engine/route/route.ts';
import type { Declarations } from '../room.ts';
import { backlogRoute, censusRoute } from './figures.ts';
import { limitRoutes } from './limit-routes.ts';
import { usageRoute } from './usage.ts';
import { waitsRoute } from './waits.ts';

export const spaceRoutes = ({ limits, census, backlog, waits }: Declarations): readonly Route[] => [
  ...limitRoutes(limits),
  censusRoute(census),
  backlogRoute(backlog),
  waitsRoute(waits),
  usageRoute,
];
