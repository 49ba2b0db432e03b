import { allowanceRoom } from './allowance/room.ts';
import { barrierRoom } from './barrier/room.ts';
import { budgetRoom } from './budget/room.ts';
import { bulkRoom } from './bulk/room.ts';
import { eventRoom } from './event/room.ts';
import { groupRoom } from './group/room.ts';
import { mailboxRoom } from './mailbox/room.ts';
import { noteRoom } from './note/room.ts';
import { orgRoom } from './org/room.ts';
import { poolRoom } from './pool/room.ts';
import { questionRoom } from './question/room.ts';
import { collect, type Room } from './room.ts';
import { scheduleRoom } from './schedule/room.ts';
import { scopeRoom } from './scope/room.ts';
import { spaceRoom } from './space/room.ts';
import { timerRoom } from './timer/room.ts';
import { webhookRoom } from './webhook/room.ts';

/** The rooms, each in folders of its name in lua/, src/primitives/ and test/spec/. A new primitive adds one line here. */
export const rooms: readonly Room[] = [
  orgRoom,
  spaceRoom,
  scopeRoom,
  mailboxRoom,
  groupRoom,
  budgetRoom,
  barrierRoom,
  allowanceRoom,
  poolRoom,
  questionRoom,
  scheduleRoom,
  noteRoom,
  bulkRoom,
  timerRoom,
  webhookRoom,
  eventRoom,
];

export const product = collect(rooms);
export const { routes: allRoutes, errors: allErrors, words: luaNames } = product;
