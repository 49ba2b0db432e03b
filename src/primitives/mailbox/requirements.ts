import Joi from 'joi';
import { exampleId, id as idField, number } from '../../engine/declare/field.ts';
import { many, record } from '../../engine/declare/record.ts';
import type { Get, Value } from '../../engine/declare/value.ts';
import type { Permission } from '../../engine/route/caller.ts';
import { invalid } from '../../engine/route/errors.ts';
import { fields, id, integer, optional, says } from '../../engine/route/fields.ts';
import { maxUnits } from '../allowance/records.ts';
import { maxPoolUnits } from '../pool/records.ts';

/** The most pools, and the most allowances, that a message can require. */
const maxRequired = 4;

export interface Wanted {
  readonly pools?: readonly { readonly poolId: string; readonly units: number }[] | undefined;
  readonly quotas?: readonly { readonly allowanceId: string; readonly units: number }[] | undefined;
}

const listOf = <T>(item: Joi.ObjectSchema, example: object) =>
  optional(
    Joi.array<T>()
      .items(item)
      .max(maxRequired)
      .example([example])
      .error(says(`must be a list of at most ${maxRequired} objects like ${JSON.stringify(example)}`)),
  );

/** The fields of send and submit that make a claim take units. */
export const whatItRequires = {
  requires: optional(
    fields({
      pools: listOf<{ poolId: string; units: number }>(
        fields({
          poolId: id().description('the pool to take units of').meta({ model: 'from pool_list' }),
          units: optional(integer(1, maxPoolUnits), 1)
            .description('the units that the claim holds')
            .meta({ model: 'units to hold' }),
        }),
        { poolId: exampleId('poolId') },
      )
        .description('units of pools, which the claim holds as long as it lasts')
        .meta({ model: 'held while it is worked on' }),
      quotas: listOf<{ allowanceId: string; units: number }>(
        fields({
          allowanceId: id().description('the allowance to use units of').meta({ model: 'from allowance_list' }),
          units: integer(1, maxUnits).description('the units that each attempt uses').meta({ model: 'units to use' }),
        }),
        { allowanceId: exampleId('allowanceId'), units: 10 },
      )
        .description('units of allowances, which each attempt uses; needs resource_spend or resource_config as well')
        .meta({ model: 'used by each attempt' }),
    }),
  )
    .description(
      'the units that a claim takes, all at once or not at all; if a receive finds too few, the message is BLOCKED until they are free',
    )
    .meta({ model: 'what must be free to work on it' }),
};

/** `permissionsFor` of send and submit: requiring units of allowances needs another permission. */
export function permissionsToSend(body: unknown): readonly Permission[] | undefined {
  const { requires } = Object(body) as { requires?: unknown };
  const { quotas } = Object(requires) as { quotas?: unknown };
  return Array.isArray(quotas) && quotas.length > 0 ? ['coordination_write', 'resource_spend'] : undefined;
}

/** The script's argument: `p` or `q`, the id and `:units` for each; '' for none. */
export function requiredText({ pools = [], quotas = [] }: Wanted): string {
  const twice = (name: string, ids: readonly string[]): void => {
    const at = ids.findIndex((one, index) => ids.indexOf(one) < index);
    if (at !== -1) throw invalid(`requires.${name}[${at}] repeats an id`);
  };
  twice(
    'pools',
    pools.map(({ poolId }) => poolId),
  );
  twice(
    'quotas',
    quotas.map(({ allowanceId }) => allowanceId),
  );
  return [
    ...pools.map(({ poolId, units }) => `p${poolId}:${units}`),
    ...quotas.map(({ allowanceId, units }) => `q${allowanceId}:${units}`),
  ].join(' ');
}

const entries = (get: Get, name: string): string[][] => {
  const text = get(name);
  return text === null || text === ''
    ? []
    : String(text)
        .split(' ')
        .map((entry) => entry.split(':'));
};

const poolId = idField().example(exampleId('poolId'));
const allowanceId = idField().example(exampleId('allowanceId'));
const units = number(1).example(1);

export const RequiredPool = record('RequiredPool', { poolId, units: units.means('the units that the claim holds') });
export const RequiredQuota = record('RequiredQuota', {
  allowanceId,
  units: units.means('the units that each attempt uses'),
});

/** The requirements of a message, with defaults. */
export const Requirements = record('Requirements', { pools: many(RequiredPool), quotas: many(RequiredQuota) });

export const requirementsOf = (get: Get): Value => {
  const all = entries(get, 'required');
  if (all.length === 0) return null;
  const of = (letter: string): Value =>
    all.flatMap(([id = '', count = '']): Value[] => (id.startsWith(letter) ? [[id.slice(1), count]] : []));
  return [of('p'), of('q')];
};

/** Units of a pool that a claim holds. */
export const ClaimedUnits = record('ClaimedUnits', {
  poolId,
  units: units.means('the units that it holds'),
  fence: number(1).means('greater than any given before for the pool').example(1_769_860_800_000_000),
});

/** The units that a claim has consumed of an allowance. */
export const ClaimConsumption = record('ClaimConsumption', {
  id: idField().example(exampleId('consumptionId')),
  allowanceId,
  units: units.means('the units that this attempt has used'),
});

export const holdsOf = (get: Get): Value => entries(get, 'held').map((entry): Value => [...entry]);
export const consumptionsOf = (get: Get): Value => entries(get, 'used').map((entry): Value => [...entry]);
