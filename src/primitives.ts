import { allowanceErrors } from './allowance/errors.ts';
import { allowanceKeys } from './allowance/keys.ts';
import { allowanceRoutes } from './allowance/routes.ts';
import { barrierRoom } from './barrier/room.ts';
import { budgetErrors } from './budget/errors.ts';
import { budgetKeys } from './budget/keys.ts';
import { budgetRoutes } from './budget/routes.ts';
import { eventRoom } from './event/room.ts';
import { groupErrors } from './group/errors.ts';
import { groupKeys } from './group/keys.ts';
import { groupRoutes } from './group/routes.ts';
import { mailboxErrors } from './mailbox/errors.ts';
import { mailboxKeys } from './mailbox/keys.ts';
import { mailboxRoutes } from './mailbox/routes.ts';
import { orgRoom } from './org/room.ts';
import { collect, type Limits, type Room } from './room.ts';
import { scopeRoom } from './scope/room.ts';
import { spaceRoom } from './space/room.ts';
import { timerRoom } from './timer/room.ts';
import { webhookRoom } from './webhook/room.ts';

// Into the rooms of these two.
const mailboxLimits: Limits = {
  maxBacklog: { min: 1, max: 1_000_000, default: 1_000 },
  maxPayloadBytes: { min: 1, max: 65_536, default: 65_536, isGranted: true },
  maxLeaseSeconds: { min: 5, max: 600, default: 600 },
};
const allowanceLimits: Limits = { maxPendingWaiters: { min: 1, max: 1_000_000, default: 10_000 } };

/** The rooms, each in folders of its name in lua/, src/ and test/spec/. A new primitive adds one line here. */
const rooms: readonly Room[] = [
  orgRoom,
  spaceRoom,
  scopeRoom,
  { name: 'mailbox', routes: mailboxRoutes, keys: mailboxKeys, errors: mailboxErrors, limits: mailboxLimits },
  { name: 'group', routes: groupRoutes, keys: groupKeys, errors: groupErrors },
  { name: 'budget', routes: budgetRoutes, keys: budgetKeys, errors: budgetErrors },
  barrierRoom,
  { name: 'allowance', routes: allowanceRoutes, keys: allowanceKeys, errors: allowanceErrors, limits: allowanceLimits },
  timerRoom,
  webhookRoom,
  eventRoom,
];

export const product = collect(rooms);
export const { routes: allRoutes, errors: allErrors, words: allWords } = product;
export const allKeys = allWords.keys;
