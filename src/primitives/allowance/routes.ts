import { raws } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { actor, fields, integer, key, moment, ofRun, optional, text } from '../../engine/route/fields.ts';
import { byName, readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { Allowance, Consumption, Cooldown, maxUnits, Settlement } from './records.ts';
import { waiterRoutes } from './waiter-routes.ts';

const yearSeconds = 31_536_000;
const reply = { allowance: one(Allowance) };

const create = route({
  method: 'POST',
  path: '/allowances',
  call: 'allowance.create',
  summary: 'Create an allowance: a number of units in each fixed window',
  description:
    'Windows are fixed: with `windowSeconds` 60 one begins with each minute. Units that a window does not use are ' +
    'gone.',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({ name: key(200), unitsLimit: integer(1, maxUnits), windowSeconds: integer(1, yearSeconds) }),
  success: { 201: Allowance.schema },
  refuses: ['ALLOWANCE_EXISTS', 'OPERATIONS_EXHAUSTED'],
  script: 'allowance/create',
  args: ({ body: { name, unitsLimit, windowSeconds } }) => {
    const asked = { name, unitsLimit, windowSeconds };
    return { ...asked, tail: randomTail(), detail: JSON.stringify(asked) };
  },
  reply,
});

const list = readList({
  path: '/allowances',
  call: 'allowance.list',
  summary: 'List allowances with their balances in the current window, newest first; by name',
  description: 'The balance is that of the current window; `waiting` is the length of the queue.',
  title: 'Find allowances',
  tool: 'Find the shared quota (requests to an outside API, say) that limits what you are about to do, with the units that are left in its current window.',
  whenEmpty: 'None. No quota limits you here: only a person makes one. Go on without.',
  script: 'allowance/list',
  plural: 'allowances',
  record: Allowance,
  filters: byName(),
});

const view = read({
  path: '/allowances/:allowanceId',
  call: 'allowance.view',
  summary: "An allowance's balance of the current window, and its cooldown",
  description: 'The units left in the current window, and when it ends.',
  success: { 200: Allowance.schema },
  refuses: ['ALLOWANCE_NOT_FOUND'],
  script: 'allowance/view',
  asRecord: {},
  reply,
});

const update = route({
  method: 'PATCH',
  path: '/allowances/:allowanceId',
  call: 'allowance.update',
  summary: 'Change the units of each window, at once; waiters that fit now are granted in the same step',
  description:
    'Applies at once, also to the current window. A limit below the units of any WAITING waiter is refused with ' +
    'LIMIT_BELOW_USE. `availableUnits` is never less than 0.',
  permission: 'resource_config',
  idempotency: 'required',
  body: fields({ unitsLimit: integer(1, maxUnits).description('the new units of each window') }),
  success: { 200: Allowance.schema },
  refuses: ['ALLOWANCE_NOT_FOUND', 'LIMIT_BELOW_USE', 'OPERATIONS_EXHAUSTED'],
  script: 'allowance/update',
  args: ({ body: { unitsLimit } }) => ({ unitsLimit, detail: JSON.stringify({ unitsLimit }) }),
  reply,
});

const consume = route({
  method: 'POST',
  path: '/allowances/:allowanceId/consume',
  call: 'allowance.consume',
  summary: 'Use units of the current window; refused while anyone waits; a known workKey answers its first consumption',
  description:
    'All units at once or none. It never overtakes waiters: while anyone waits, it is refused ' +
    '(`ALLOWANCE_EXHAUSTED`), and `wait` is the way to queue.',
  title: 'Use a quota now',
  tool: 'Take units of a shared quota, just before using what it limits. Refused when too few are left or others wait: then call allowance_wait. With a workKey a repeated call takes nothing more.',
  permission: 'resource_spend',
  idempotency: 'required',
  body: fields({ scopeId: ofRun(), units: integer(1, maxUnits), holder: actor(), workKey: optional(key()) }),
  toolAnswer: true,
  success: { 201: Consumption.schema },
  refuses: [
    'ALLOWANCE_NOT_FOUND',
    'WORK_KEY_CONFLICT',
    'SCOPE_CANCELLED',
    'UNITS_EXCEED_LIMIT',
    'OPERATIONS_EXHAUSTED',
    'ACTIVE_RUNS_LIMITED',
    'ALLOWANCE_COOLING_DOWN',
    'ALLOWANCE_EXHAUSTED',
  ],
  script: 'allowance/consume',
  args: ({ body }) => ({ ...body, holder: body.holder ?? '', workKey: body.workKey ?? '', tail: randomTail() }),
  reply: raws('id', 'scopeId', 'windowEndsAt', 'availableUnits', 'replay', 'holder'),
  makes: Consumption,
  given: (input) => {
    const { holder, units, workKey } = input.body;
    return { allowanceId: param(input, 'allowanceId'), holder, units, workKey };
  },
});

const cooldown = route({
  method: 'POST',
  path: '/allowances/:allowanceId/cooldown',
  call: 'allowance.cooldown',
  summary: 'Block consumption and grants for a time; never shortens a running cooldown',
  description:
    'For a provider that answers "too many requests": nobody gets units until the cooldown is over, and the queue ' +
    'stays as it is.',
  title: 'Cool a quota down',
  tool: 'Stop everybody from using a quota for some seconds: call it when the provider behind it says "too many requests". The queue stays as it is.',
  permission: 'resource_config',
  idempotency: 'optional',
  body: fields({
    seconds: integer(1, 3600).description('the length of the cooldown').example(60),
    reason: optional(text(0, 512).allow(''), '')
      .description('the reason for the cooldown, shown to those who wait')
      .meta({ model: 'for those who wait' })
      .example('the provider is down'),
  }),
  success: { 200: Cooldown.schema },
  refuses: ['ALLOWANCE_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'allowance/cooldown',
  args: ({ body }) => body,
  reply: Cooldown.fields,
});

const settle = route({
  method: 'POST',
  path: '/allowances/:allowanceId/consumptions/:consumptionId/settle',
  call: 'allowance.settle',
  summary:
    'Report what a consumption has really used: while its window lasts, the difference is given back or used as well',
  description:
    'For usage known only afterwards, like the tokens of a model call. `consumptionId` is the id of a consumption, also one of a claim, or of a ' +
    'GRANTED waiter. Units given back go to waiters in the same step; units beyond those taken are used ' +
    'above the limit, too (`availableUnits` is never less than 0). Once the window has ended, only the sums of the run change, and for a waiter nothing does.',
  title: 'Say what was really used',
  tool: 'After using what a quota limits, say how many units it really took: the rest goes back to the quota while its window lasts. consumptionId is the id that allowance_consume or allowance_wait answered.',
  isRepeatable: true,
  permission: 'resource_spend',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({ units: integer(0, maxUnits).description('the units that were really used').example(1200) }),
  success: { 200: Settlement.schema },
  refuses: ['ALLOWANCE_NOT_FOUND', 'CONSUMPTION_NOT_FOUND', 'CONSUMPTION_SETTLED'],
  script: 'allowance/settle',
  args: ({ body }) => body,
  reply: raws('id', 'units', 'settledUnits', 'availableUnits', 'replay'),
  makes: Settlement,
  given: (input) => ({ allowanceId: param(input, 'allowanceId') }),
});

const observe = route({
  method: 'POST',
  path: '/allowances/:allowanceId/observe',
  call: 'allowance.observe',
  summary: "Report how much of a provider's limit is left",
  description:
    'Others may use the same account, so pass on the headers of an answer. `usedUnits` becomes at least ' +
    '`unitsLimit - remainingUnits`, and never less than it was. With 0 left and a `resetAt` ahead the allowance cools down ' +
    'until then, an hour at most.',
  permission: 'resource_spend',
  idempotency: 'optional',
  body: fields({
    remainingUnits: integer(0, maxUnits).description('the units that the provider says are left').example(0),
    resetAt: optional(moment()).description('when the provider says that its limit resets'),
  }),
  success: { 200: Allowance.schema },
  refuses: ['ALLOWANCE_NOT_FOUND', 'OPERATIONS_EXHAUSTED'],
  script: 'allowance/observe',
  args: ({ body }) => ({ remainingUnits: body.remainingUnits, resetAt: body.resetAt ?? '' }),
  reply,
});

export const allowanceRoutes: readonly Route[] = [
  ...[create, list, view, update, consume, settle, observe, cooldown],
  ...waiterRoutes,
];
