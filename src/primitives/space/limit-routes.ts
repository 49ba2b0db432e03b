import type Joi from 'joi';
import { text } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';
import { fields, integer } from '../../engine/route/fields.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import type { Limit, Limits } from '../room.ts';
import { grantedLimits, limitField, limitsAt, limitsText, meaningOf, readLimits } from './limits.ts';

/** null resets to the default; absent leaves it as it is. */
function limitInput(limit: Limit): Joi.AnySchema<number | null | undefined> {
  const { min, max, isGranted } = limit;
  const field = integer(min, isGranted ? Number.MAX_SAFE_INTEGER : max, max)
    .allow(null)
    .optional()
    .description(meaningOf(limit))
    .example(limit.default);
  return isGranted ? field.meta({ description: `at most ${max}, and no more than the plan grants` }) : field;
}

/** The calls that read and set the space's limits. limits: of all rooms. */
export function limitRoutes(limits: Limits): readonly Route[] {
  const all = Object.entries(limits);
  const defaults = limitsText(limitsAt(limits, 'default'));
  const granted = grantedLimits(limits);
  const SpaceLimits = record('SpaceLimits', Object.fromEntries(all.map(([name, limit]) => [name, limitField(limit)])));
  const reply = { limits: text() };
  const answer = ({ limits: inForce }: { limits: string }) => ({
    status: 200,
    body: SpaceLimits.of(readLimits(inForce)),
  });

  const getLimits = read({
    path: '/limits',
    call: 'limits.get',
    summary: "The space's effective limits",
    description:
      "The limits that apply now: those set with PUT, cut to what the plan grants. Never refused for the space's " +
      'own rate.',
    rate: 'limits',
    success: { 200: SpaceLimits.schema },
    refuses: [],
    asRecord: {},
    script: 'space/getLimits',
    args: () => ({ defaults }),
    reply,
    answer,
  });

  const putLimits = route({
    method: 'PUT',
    path: '/limits',
    call: 'limits.put',
    summary: 'Set any of the limits; null puts one back to its default',
    description:
      'Fields that are left out stay as they are; `{}` changes nothing. More than the plan grants is refused ' +
      "(409). After a change of plan, the lower of the figure set here and the plan's applies.",
    permission: 'resource_config',
    idempotency: 'required',
    rate: 'limits',
    body: fields(Object.fromEntries(all.map(([name, limit]) => [name, limitInput(limit)]))),
    success: { 200: SpaceLimits.schema },
    refuses: ['ENTITLEMENT_EXCEEDED'],
    script: 'space/putLimits',
    args: ({ body }) => {
      const requested = Object.entries(body).filter(([, value]) => value !== undefined);
      return {
        defaults,
        granted,
        requested: limitsText(Object.fromEntries(requested.map(([name, value]) => [name, value ?? 'default']))),
      };
    },
    reply,
    answer,
  });

  return [getLimits, putLimits];
}
