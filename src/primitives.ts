import { eventErrors } from './event/errors.ts';
import { eventRoutes } from './event/routes.ts';
import { commonErrors, type ErrorTable } from './http/errors.ts';
import type { Route } from './http/route.ts';
import { mailboxErrors } from './mailbox/errors.ts';
import { mailboxKeys } from './mailbox/keys.ts';
import { mailboxRoutes } from './mailbox/routes.ts';
import { orgKeys } from './org/keys.ts';
import type { KeyTable } from './redis/keys.ts';
import { spaceErrors } from './space/errors.ts';
import { spaceKeys } from './space/keys.ts';
import { spaceRoutes } from './space/routes.ts';
import { queueKeys } from './workers/queues.ts';

interface Room {
  readonly routes?: readonly Route[];
  readonly keys?: KeyTable;
  readonly errors?: ErrorTable;
}

/** The rooms. A new primitive adds one line here, and its folders in lua/, src/ and test/. */
const rooms: readonly Room[] = [
  { keys: { ...orgKeys, ...queueKeys } },
  { routes: spaceRoutes, keys: spaceKeys, errors: spaceErrors },
  { routes: mailboxRoutes, keys: mailboxKeys, errors: mailboxErrors },
  { routes: eventRoutes, errors: eventErrors },
];

export const allRoutes: readonly Route[] = rooms.flatMap((room) => room.routes ?? []);
export const allKeys: KeyTable = Object.assign({}, ...rooms.map((room) => room.keys));
export const allErrors: ErrorTable = Object.assign({}, commonErrors, ...rooms.map((room) => room.errors));
