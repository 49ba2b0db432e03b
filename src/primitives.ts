import { allowanceErrors } from './allowance/errors.ts';
import { allowanceKeys } from './allowance/keys.ts';
import { allowanceRoutes } from './allowance/routes.ts';
import { barrierErrors } from './barrier/errors.ts';
import { barrierKeys } from './barrier/keys.ts';
import { barrierRoutes } from './barrier/routes.ts';
import { budgetErrors } from './budget/errors.ts';
import { budgetKeys } from './budget/keys.ts';
import { budgetRoutes } from './budget/routes.ts';
import { eventErrors } from './event/errors.ts';
import { eventRoutes } from './event/routes.ts';
import { groupErrors } from './group/errors.ts';
import { groupKeys } from './group/keys.ts';
import { groupRoutes } from './group/routes.ts';
import { commonErrors, type ErrorTable } from './http/errors.ts';
import type { Route } from './http/route.ts';
import { mailboxErrors } from './mailbox/errors.ts';
import { mailboxKeys } from './mailbox/keys.ts';
import { mailboxRoutes } from './mailbox/routes.ts';
import { orgKeys } from './org/keys.ts';
import type { KeyTable } from './redis/keys.ts';
import { scopeErrors } from './scope/errors.ts';
import { scopeKeys } from './scope/keys.ts';
import { scopeRoutes } from './scope/routes.ts';
import { spaceErrors } from './space/errors.ts';
import { spaceKeys } from './space/keys.ts';
import { spaceRoutes } from './space/routes.ts';
import { webhookErrors } from './webhook/errors.ts';
import { webhookKeys } from './webhook/keys.ts';
import { webhookRoutes } from './webhook/routes.ts';
import { queueKeys } from './workers/queues.ts';

interface Room {
  readonly routes?: readonly Route[];
  readonly keys?: KeyTable;
  readonly errors?: ErrorTable;
}

/**
 * The rooms. A new primitive adds one line here, its folders in lua/, src/ and test/, its events to event/types.ts, and
 * what is counted of it to space/census.ts.
 */
const rooms: readonly Room[] = [
  { keys: { ...orgKeys, ...queueKeys } },
  { routes: spaceRoutes, keys: spaceKeys, errors: spaceErrors },
  { routes: scopeRoutes, keys: scopeKeys, errors: scopeErrors },
  { routes: mailboxRoutes, keys: mailboxKeys, errors: mailboxErrors },
  { routes: groupRoutes, keys: groupKeys, errors: groupErrors },
  { routes: budgetRoutes, keys: budgetKeys, errors: budgetErrors },
  { routes: barrierRoutes, keys: barrierKeys, errors: barrierErrors },
  { routes: allowanceRoutes, keys: allowanceKeys, errors: allowanceErrors },
  { routes: webhookRoutes, keys: webhookKeys, errors: webhookErrors },
  { routes: eventRoutes, errors: eventErrors },
];

export const allRoutes: readonly Route[] = rooms.flatMap((room) => room.routes ?? []);
export const allKeys: KeyTable = Object.assign({}, ...rooms.map((room) => room.keys));
export const allErrors: ErrorTable = Object.assign({}, commonErrors, ...rooms.map((room) => room.errors));
