import { allowanceRoom } from './allowance/room.ts';
import { barrierRoom } from './barrier/room.ts';
import { budgetRoom } from './budget/room.ts';
import { eventErrors } from './event/errors.ts';
import { eventRoutes } from './event/routes.ts';
import { groupErrors } from './group/errors.ts';
import { groupKeys } from './group/keys.ts';
import { groupRoutes } from './group/routes.ts';
import { mailboxErrors } from './mailbox/errors.ts';
import { mailboxKeys } from './mailbox/keys.ts';
import { mailboxRoutes } from './mailbox/routes.ts';
import { orgKeys } from './org/keys.ts';
import { collect, type Room } from './room.ts';
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

/** The rooms, each in folders of its name in lua/, src/ and test/spec/. A new primitive adds one line here. */
const rooms: readonly Room[] = [
  { name: 'org', keys: { ...orgKeys, ...queueKeys } },
  { name: 'space', routes: spaceRoutes, keys: spaceKeys, errors: spaceErrors },
  { name: 'scope', routes: scopeRoutes, keys: scopeKeys, errors: scopeErrors },
  { name: 'mailbox', routes: mailboxRoutes, keys: mailboxKeys, errors: mailboxErrors },
  { name: 'group', routes: groupRoutes, keys: groupKeys, errors: groupErrors },
  budgetRoom,
  barrierRoom,
  allowanceRoom,
  { name: 'webhook', routes: webhookRoutes, keys: webhookKeys, errors: webhookErrors },
  { name: 'event', routes: eventRoutes, errors: eventErrors },
];

export const product = collect(rooms);
export const { routes: allRoutes, errors: allErrors, words: allWords } = product;
export const allKeys = allWords.keys;
