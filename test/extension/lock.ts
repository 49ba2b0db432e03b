// A primitive that is passed to the service beside the others: everything about it is in this folder.
import { fileURLToPath } from 'node:url';
import { events } from '../../src/engine/declare/event.ts';
import { id, momentOfId, number, state, text, time } from '../../src/engine/declare/field.ts';
import { census, fieldsIn, many, one, record } from '../../src/engine/declare/record.ts';
import { randomTail } from '../../src/engine/route/args.ts';
import { advised, entry } from '../../src/engine/route/errors.ts';
import { fields, id as idField, integer, key, optional, text as textField } from '../../src/engine/route/fields.ts';
import { read, route } from '../../src/engine/route/route.ts';
import type { Room } from '../../src/primitives/room.ts';

export const Lock = record('Lock', {
  id: id().forModels('id of a lock, from lock_acquire'),
  scopeId: id(),
  name: text().means('the resource that it protects').example('crane'),
  holder: text(),
  state: state('locks', 'HELD', 'RELEASED', 'LAPSED'),
  fence: number(1).means('a number that grows with each acquisition: pass it on, and refuse lower ones').example(7),
  leaseExpiresAt: time().orNull().means('when the lease ends; null: it has ended'),
  createdAt: time().of((get) => momentOfId(get('id'))),
});

const { scopeId, holder, state: lockState, fence } = Lock.fields;
const asItStands = { scopeId, holder, state: lockState, fence };
const reply = { lock: one(Lock) };

const acquire = route({
  method: 'POST',
  path: '/locks',
  call: 'lock.acquire',
  summary: 'Acquire a lock, or fail at once',
  title: 'Acquire a lock',
  tool: 'Hold a resource alone until you call lock_release or the lease ends. Pass `fence` on with each write.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    scopeId: idField(),
    name: key(200),
    holder: textField(1, 256),
    leaseSeconds: optional(integer(5, 600), 30)
      .description('the lease')
      .meta({ model: 'for how long you hold it unless you release it' }),
  }),
  success: { 201: Lock.schema },
  refuses: ['OPERATIONS_EXHAUSTED', 'ACTIVE_RUNS_LIMITED', 'LOCK_HELD', 'LOCKS_FULL'],
  script: 'lock/acquire',
  args: ({ body }) => ({ ...body, tail: randomTail() }),
  reply,
});

const release = route({
  method: 'POST',
  path: '/locks/:lockId/release',
  call: 'lock.release',
  summary: 'Release a lock; again is fine',
  title: 'Release a lock',
  tool: 'Give a lock back as soon as you are done with the resource.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  success: { 200: Lock.schema },
  refuses: ['LOCK_NOT_FOUND', 'LOCK_LAPSED'],
  script: 'lock/release',
  reply,
});

const view = read({
  path: '/locks/:lockId',
  call: 'lock.view',
  summary: 'A lock',
  success: { 200: Lock.schema },
  refuses: ['LOCK_NOT_FOUND'],
  script: 'lock/view',
  reply,
});

export const lockRoom: Room = {
  name: 'lock',
  tag: { title: 'Locks', description: 'One holder at a time, with a fence.' },
  lua: fileURLToPath(new URL('lua/', import.meta.url)),
  routes: [acquire, release, view],
  keys: {
    lock: {
      pattern: 'muster:{org}:<spaceNumber>:lock:<lockId>',
      type: 'hash',
      holds: fieldsIn(Lock),
      goes: 'never',
    },
    lockNames: {
      pattern: 'muster:{org}:<spaceNumber>:lockNames',
      type: 'hash',
      holds: 'name to the id of the lock that is held under it',
      goes: 'each entry with its lock',
    },
    lockFence: {
      pattern: 'muster:{org}:<spaceNumber>:lockFence',
      type: 'string',
      holds: 'how many locks were ever acquired',
      goes: 'never',
    },
    scopeLocks: {
      pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:locks',
      type: 'zset',
      holds: 'ids of its locks, in order of creation (score 0)',
      goes: 'never',
    },
  },
  errors: {
    LOCK_NOT_FOUND: entry(404, 'there is no such lock in this space'),
    LOCK_HELD: entry(409, (who) => `the lock is held by ${who}: retry when it is released, or its lease is over`),
    LOCK_LAPSED: advised(
      'it is not yours any more: stop writing',
      409,
      'the lease of the lock is over: acquire it again',
    ),
    LOCKS_FULL: entry(409, (limit) => `the space holds its maxLocks of ${limit}: release one, or raise the limit`),
  },
  records: [Lock],
  events: events({
    'lock.acquired': asItStands,
    'lock.released': asItStands,
    'lock.lapsed': asItStands,
  }),
  census: { locks: census(Lock) },
  inRun: { locks: many(Lock) },
  limits: { maxLocks: { meaning: 'the most locks held in the space', min: 1, max: 1_000, default: 2 } },
};
