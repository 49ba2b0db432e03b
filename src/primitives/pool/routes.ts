import { flag as flagField } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { randomTail, randomToken } from '../../engine/route/args.ts';
import {
  actor,
  fields,
  flag,
  integer,
  key,
  leaseSeconds,
  leaseText,
  ofRun,
  optional,
  text,
} from '../../engine/route/fields.ts';
import { byName, readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { holdRoutes } from './hold-routes.ts';
import { AcquiredHold, maxPoolUnits, Pool } from './records.ts';

const reply = { pool: one(Pool) };
const name = () => key(200).description('for people, and to find it by; unique in the space');

const create = route({
  method: 'POST',
  path: '/pools',
  call: 'pool.create',
  summary: 'Create a pool of units to be held; with unique, answer 200 with the one of its name where there is one',
  description:
    'A pool of one unit is a lock, one of ten lets ten hold at once. Units are not used up: a holder has them under a ' +
    'lease, and gives them back.',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({
    name: name(),
    units: integer(1, maxPoolUnits),
    unique: optional(flag(), false).description(
      'whether the name is unique: if a pool of this name exists, none is created, and that pool is answered as it is, with 200',
    ),
  }),
  success: { 200: Pool.schema, 201: Pool.schema },
  refuses: ['POOL_EXISTS', 'OPERATIONS_EXHAUSTED'],
  script: 'pool/create',
  args: ({ body: { unique, ...asked } }) => ({
    ...asked,
    unique: unique ? '1' : '',
    tail: randomTail(),
    detail: JSON.stringify(asked),
  }),
  reply: { known: flagField(), ...reply },
});

const list = readList({
  path: '/pools',
  call: 'pool.list',
  summary: 'List pools with what is held of them, newest first; by name',
  description: '`heldUnits` are held now; `waiting` is the length of the queue.',
  title: 'Find pools',
  tool: 'Find the pool (a lock, or a number of places) that you must hold units of before you touch what it protects, with the units that are free now.',
  whenEmpty: 'None. Nothing is protected by a pool here: only a person makes one. Do not rely on a lock.',
  script: 'pool/list',
  plural: 'pools',
  record: Pool,
  filters: byName(),
});

const view = read({
  path: '/pools/:poolId',
  call: 'pool.view',
  summary: 'A pool: its units, how many are held, and how many holds wait',
  description:
    'For its holders and waiters, list holds by `poolId` and `state`; claims that hold units are in `heldClaims` of `GET /ops/waits`.',
  success: { 200: Pool.schema },
  refuses: ['POOL_NOT_FOUND'],
  script: 'pool/view',
  asRecord: {},
  reply,
});

const update = route({
  method: 'PATCH',
  path: '/pools/:poolId',
  call: 'pool.update',
  summary: 'Rename a pool, or change its units; waiting holds that fit now are granted in the same step',
  description:
    'With fewer units than are held, nothing is taken away, and nothing is granted until it fits. Refused with ' +
    'LIMIT_BELOW_USE below the units that any WAITING hold asks for. Values that change nothing emit no event and count ' +
    'as no operation.',
  permission: 'resource_config',
  idempotency: 'optional',
  body: fields({
    name: optional(key(200)).description('the new name'),
    units: optional(integer(1, maxPoolUnits)).description('how many units can be held from now on'),
  }),
  success: { 200: Pool.schema },
  refuses: ['POOL_NOT_FOUND', 'POOL_EXISTS', 'LIMIT_BELOW_USE', 'OPERATIONS_EXHAUSTED'],
  script: 'pool/update',
  args: ({ body }) => ({ name: body.name ?? '', units: body.units ?? '', detail: JSON.stringify(body) }),
  reply,
});

const remove = route({
  method: 'DELETE',
  path: '/pools/:poolId',
  call: 'pool.delete',
  summary: 'Delete a pool without held units; its finished holds are kept until retention removes them',
  description:
    'Refused with POOL_NOT_EMPTY while units are held, a hold waits for them, or an unfinished message requires the pool.',
  permission: 'resource_config',
  idempotency: 'optional',
  success: { 204: null },
  refuses: ['POOL_NOT_FOUND', 'POOL_NOT_EMPTY', 'OPERATIONS_EXHAUSTED'],
  script: 'pool/delete',
  reply: {},
});

const acquire = route({
  method: 'POST',
  path: '/pools/:poolId/acquire',
  call: 'pool.acquire',
  summary: 'Hold units of a pool under a lease; if too few are free, queue for them, first in, first out',
  description:
    'HELD at once if the units are free and nobody waits; otherwise it waits for `ttlSeconds`, and is granted in the very ' +
    'step that frees its units. Follow it with `waitSeconds` on its view. The lease begins at the grant; renew it before ' +
    '`leaseExpiresAt`. With `ttlSeconds` 0 it never waits: POOL_EXHAUSTED. Pass `fence` to the protected resource, which must ' +
    'refuse smaller ones. With a `holderSession` an acquire that could never be granted, because holders wait for one ' +
    "another, is refused (DEADLOCK). Units that are held count in the plan's agents at once.",
  title: 'Hold a lock or a place',
  tool: 'Take units of a pool: HELD: yours until leaseExpiresAt (keep `id` and `token` for hold_renew and hold_release); WAITING: in the queue, call hold_view with waitSeconds until HELD. Pass `fence` on to whatever you change meanwhile. Always release.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    units: optional(integer(1, maxPoolUnits), 1).description('the units to hold, all or none'),
    scopeId: ofRun(),
    holder: actor(),
    holderSession: optional(text(1, 256))
      .description(
        'the session of the holder: any text that is new with each start of its process; without it deadlocks are not detected',
      )
      .meta({ model: 'your session: new with each start; with it, waits that would deadlock are refused' })
      .example('worker-7/3'),
    leaseSeconds: leaseSeconds(
      "the length of the lease unless it is renewed; by default 30, or the space's maxLeaseSeconds if that is less",
    ),
    ttlSeconds: optional(integer(0, 86_400), 300)
      .description('how long it waits at most unless it is renewed; with 0 it does not wait')
      .meta({ model: 'the longest wait; 0: none' }),
  }),
  toolAnswer: true,
  success: { 201: AcquiredHold.schema },
  refuses: [
    'POOL_NOT_FOUND',
    'UNITS_EXCEED_LIMIT',
    'LEASE_LIMIT_EXCEEDED',
    'SCOPE_CANCELLED',
    'DEADLOCK',
    'OPERATIONS_EXHAUSTED',
    'ENTITLEMENT_EXCEEDED',
    'CONCURRENCY_LIMITED',
    'WAITERS_FULL',
    'ACTIVE_RUNS_LIMITED',
    'POOL_EXHAUSTED',
  ],
  script: 'pool/acquire',
  args: ({ body, isModel }) => ({
    ...body,
    holder: body.holder ?? '',
    holderSession: body.holderSession ?? '',
    leaseSeconds: leaseText({ body, isModel }),
    token: randomToken(),
    tail: randomTail(),
  }),
  reply: { hold: one(AcquiredHold) },
});

export const poolRoutes: readonly Route[] = [create, list, view, update, remove, acquire, ...holdRoutes];
