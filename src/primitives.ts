import { allowanceRoom } from './allowance/room.ts';
import { barrierRoom } from './barrier/room.ts';
import { budgetRoom } from './budget/room.ts';
import { eventRoom } from './event/room.ts';
import { groupErrors } from './group/errors.ts';
import { groupKeys } from './group/keys.ts';
import { groupRoutes } from './group/routes.ts';
import { mailboxErrors } from './mailbox/errors.ts';
import { mailboxKeys } from './mailbox/keys.ts';
import { mailboxRoutes } from './mailbox/routes.ts';
import { orgKeys } from './org/keys.ts';
import { collect, type Room } from './room.ts';
import { scopeRoom } from './scope/room.ts';
import { spaceErrors } from './space/errors.ts';
import { spaceKeys } from './space/keys.ts';
import { spaceRoutes } from './space/routes.ts';
import { webhookErrors } from './webhook/errors.ts';
import { webhookKeys } from './webhook/keys.ts';
import { webhookRoutes } from './webhook/routes.ts';
import { queueKeys } from './workers/queues.ts';

/** The rooms, each in folders of its name in lua/, src/ and test/spec/. A new primitive adds one line here. */
export const rooms: readonly Room[] = [
  { name: 'org', keys: { ...orgKeys, ...queueKeys } },
  { name: 'space', routes: (all) => spaceRoutes(all), keys: spaceKeys, errors: spaceErrors },
  scopeRoom,
  { name: 'mailbox', routes: mailboxRoutes, keys: mailboxKeys, errors: mailboxErrors },
  { name: 'group', routes: groupRoutes, keys: groupKeys, errors: groupErrors },
  budgetRoom,
  barrierRoom,
  allowanceRoom,
  { name: 'webhook', routes: webhookRoutes, keys: webhookKeys, errors: webhookErrors },
  eventRoom,
];

export const product = collect(rooms);
export const { routes: allRoutes, errors: allErrors, words: allWords } = product;
export const allKeys = allWords.keys;
