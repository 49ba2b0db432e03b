import { allowanceErrors } from './allowance/errors.ts';
import { allowanceKeys } from './allowance/keys.ts';
import { allowanceRoutes } from './allowance/routes.ts';
import { barrierRoom } from './barrier/room.ts';
import { budgetErrors } from './budget/errors.ts';
import { budgetKeys } from './budget/keys.ts';
import { budgetRoutes } from './budget/routes.ts';
import { eventErrors } from './event/errors.ts';
import { eventRoutes } from './event/routes.ts';
import { groupRoom } from './group/room.ts';
import { mailboxRoom } from './mailbox/room.ts';
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
  mailboxRoom,
  groupRoom,
  { name: 'budget', routes: budgetRoutes, keys: budgetKeys, errors: budgetErrors },
  barrierRoom,
  { name: 'allowance', routes: allowanceRoutes, keys: allowanceKeys, errors: allowanceErrors },
  { name: 'webhook', routes: webhookRoutes, keys: webhookKeys, errors: webhookErrors },
  { name: 'event', routes: eventRoutes, errors: eventErrors },
];

export const product = collect(rooms);
export const { routes: allRoutes, errors: allErrors, words: allWords } = product;
export const allKeys = allWords.keys;
