import type Joi from 'joi';
import type { Reply } from '../declare/value.ts';
import { fields, integer } from '../http/fields.ts';
import { read, route } from '../http/legacy.ts';
import { record } from '../http/replies.ts';
import type { Route } from '../http/route.ts';
import { defaultLimits, type LimitName, spaceLimits } from '../org/plans.ts';
import type { Product } from '../room.ts';
import { backlogRoute, censusRoute } from './figures.ts';
import { usageRoute } from './usage.ts';
import { waitsRoute } from './waits.ts';

/** In the order of the scripts' replies. */
const names = Object.keys(spaceLimits) as LimitName[];

/** A field for each limit, made of its bounds. */
function eachLimit(field: (min: number, max: number) => Joi.Schema): Record<string, Joi.Schema> {
  return Object.fromEntries(names.map((name) => [name, field(spaceLimits[name].min, spaceLimits[name].max)]));
}

/** The reply's values by name. */
function limitsRecord(values: Reply): Record<string, number> {
  return Object.fromEntries(names.map((name, index) => [name, Number(values[index])]));
}

const limitsReply = record(eachLimit(integer));

const getLimits = read({
  path: '/limits',
  call: 'limits.get',
  summary: "The space's effective limits",
  rate: 'limits',
  success: { 200: limitsReply },
  refuses: [],
  script: 'space/getLimits',
  args: () => ({}),
  answer: (values) => ({ status: 200, body: limitsRecord(values) }),
});

/** null: back to the default; absent: as it is. */
const limit = (min: number, max: number, told = max) => integer(min, max, told).allow(null).optional();

/** More than the plan grants is refused by the plan's error, not by shape. */
function granted(name: LimitName): Joi.Schema {
  const { min, max } = spaceLimits[name];
  return limit(min, Number.MAX_SAFE_INTEGER, max).description(`at most ${max}, and no more than the plan grants`);
}

const putLimits = route<unknown, Partial<Record<LimitName, number | null>>>({
  method: 'PUT',
  path: '/limits',
  call: 'limits.put',
  summary: 'Set any of the limits; null puts one back to its default',
  permission: 'resource_config',
  idempotency: 'required',
  rate: 'limits',
  body: fields({
    ...eachLimit(limit),
    requestsPerMinute: granted('requestsPerMinute'),
    maxPayloadBytes: granted('maxPayloadBytes'),
  }),
  success: { 200: limitsReply },
  refuses: ['ENTITLEMENT_EXCEEDED'],
  script: 'space/putLimits',
  args: ({ body }) =>
    Object.fromEntries(
      names.map((name) => {
        const value = body[name];
        return [name, value === undefined ? '' : (value ?? `default ${defaultLimits[name]}`)];
      }),
    ),
  answer: (values) => ({ status: 200, body: limitsRecord(values) }),
});

export const spaceRoutes = ({
  census,
  backlog,
  waits,
}: Pick<Product, 'census' | 'backlog' | 'waits'>): readonly Route[] => [
  getLimits,
  putLimits,
  censusRoute(census),
  backlogRoute(backlog),
  waitsRoute(waits),
  usageRoute,
];
