import Joi from 'joi';
import { says } from './says.ts';

/**
 * The kinds of field that requests are made of. Nothing is coerced except query parameters, which arrive as text.
 * `null` for an optional field is absent (contract, Conventions).
 */

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Of any version, in either case. */
export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}

/** Why braces: they are Redis hash tags; a name or key that holds one is never what was meant. */
const hostile = /[\p{Cc}{}]/u;
const control = /\p{Cc}/u;

const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** An id: any uuid version, lower-cased. */
export const id = () => {
  const rule = '{#label} must be a uuid, like 0190a1b2-0000-7000-8000-000000000000';
  return Joi.string()
    .custom((value: string, helpers) => (isUuid(value) ? value.toLowerCase() : helpers.error('uuid')))
    .error(says({ uuid: rule, 'string.base': rule, 'string.empty': rule }))
    .meta({ format: 'uuid' });
};

function characters(min: number, max: number, forbidden: RegExp, without: string): Joi.StringSchema {
  const rule = `{#label} must be ${min} to ${max} characters, without ${without}`;
  return Joi.string()
    .custom((value: string, helpers) => {
      const tooLong = value.length > max && [...value].length > max;
      return value.length < min || tooLong || forbidden.test(value) || !value.isWellFormed()
        ? helpers.error('characters')
        : value;
    })
    .error(says({ characters: rule, 'string.base': `{#label} must be a string`, 'string.empty': rule }))
    .meta({ minLength: min, maxLength: max, description: `characters as Unicode code points, without ${without}` });
}

/** A name or a key that callers choose (workKey, taskKey, arrivalKey, name), in Unicode code points. */
export const key = (max = 512) => characters(1, max, hostile, 'control characters and braces');

/** Any other short text. */
export const text = (min: number, max: number) => characters(min, max, control, 'control characters');

/** A JSON integer, never a string or a fraction. `told`: the maximum that messages name. */
export const integer = (min: number, max: number, told = max) => {
  const rule = `{#label} must be a whole number from ${min} to ${told}`;
  return Joi.number()
    .integer()
    .min(min)
    .max(max)
    .error(
      says({
        'number.base': rule,
        'number.integer': rule,
        'number.min': rule,
        'number.max': rule,
        'number.unsafe': rule,
        'number.infinity': rule,
      }),
    );
};

/** An RFC 3339 date-time with any offset, as epoch milliseconds. */
export const moment = (): Joi.AnySchema<number> => {
  const rule = '{#label} must be a date-time like 2026-01-31T12:00:00.000Z';
  return Joi.string()
    .custom((value: string, helpers) => epochMs(value) ?? helpers.error('moment'))
    .error(says({ moment: rule, 'string.base': rule, 'string.empty': rule }))
    .meta({ format: 'date-time' }) as unknown as Joi.AnySchema<number>;
};

function epochMs(value: string): number | undefined {
  const [, year, month, day] = rfc3339.exec(value) ?? [];
  if (year === undefined) return undefined;
  // Date.parse turns 30 February into 2 March: the day must be one of its month.
  if (Number(day) < 1 || Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate())
    return undefined;
  const at = Date.parse(value.toUpperCase());
  // An offset may carry it beyond the last year that has four digits.
  return Number.isNaN(at) || at > lastMoment ? undefined : at;
}

/** Any JSON value, opaque: arrives as the text that was cut from the body. */
export const opaque = (): Joi.AnySchema<string> => Joi.any().meta({ opaque: true });

export const oneOf = <const S extends string>(...values: readonly S[]) =>
  Joi.string<S>()
    .valid(...values)
    .error(
      says({
        'any.only': `{#label} must be one of ${values.join(', ')}`,
        'string.base': `{#label} must be one of ${values.join(', ')}`,
      }),
    );

export const flag = () => Joi.boolean().error(says({ 'boolean.base': '{#label} must be true or false' }));

/** A field that may be left out or null, which is `preset` then. */
export function optional<T>(schema: Joi.AnySchema<T>): Joi.AnySchema<T | undefined>;
export function optional<T>(schema: Joi.AnySchema<T>, preset: T): Joi.AnySchema<T>;
export function optional<T>(schema: Joi.AnySchema<T>, preset?: T): Joi.AnySchema<T | undefined> {
  const absent = schema.empty(null).optional();
  return preset === undefined ? absent : absent.default(preset);
}

/** What an object of these schemas lets through. */
type Through<S> = { readonly [K in keyof S]: S[K] extends Joi.AnySchema<infer T> ? T : never };

/** A request body, a set of query parameters or of path parameters: nothing but the named fields. */
export function fields<S extends Record<string, Joi.AnySchema<unknown>>>(
  schemas: S,
  presence: 'required' | 'optional' = 'required',
): Joi.ObjectSchema<Through<S>> {
  return Joi.object(schemas)
    .prefs({ convert: false, abortEarly: true, presence, errors: { wrap: { label: false } } })
    .messages({
      'any.required': '{#label} is missing',
      'object.unknown': '{#label} is not a field of this request',
      'object.base': '{#label} must be an object',
    });
}

const digits = /^\d{1,9}$/;

/** A whole number in a query string. */
export function queryInteger(min: number, max: number, preset: number): Joi.AnySchema<number>;
export function queryInteger(min: number, max: number): Joi.AnySchema<number | undefined>;
export function queryInteger(min: number, max: number, preset?: number): Joi.AnySchema<number | undefined> {
  const rule = `{#label} must be a whole number from ${min} to ${max}`;
  const schema = Joi.string()
    .custom((value: string, helpers) => {
      const number = digits.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? number : helpers.error('range');
    })
    .optional()
    .error(says({ range: rule, 'string.base': `${rule}, given once`, 'string.empty': rule }))
    .meta({ type: 'integer', minimum: min, maximum: max, ...(preset !== undefined && { default: preset }) });
  return (preset === undefined ? schema : schema.default(preset)) as unknown as Joi.AnySchema<number | undefined>;
}

/** `limit` and `cursor` of every list (contract, Lists). */
export const page = () => ({ limit: queryInteger(1, 200, 50), cursor: cursor() });

/** An opaque cursor; what is inside is checked where it is read. */
export const cursor = (): Joi.AnySchema<string | undefined> =>
  Joi.string()
    .allow('')
    .optional()
    .error(says({ 'string.base': 'cursor must be given once' }));

/** One of the states or a comma list of them; unknown ones are refused. */
export const states = (...known: readonly string[]): Joi.AnySchema<string | undefined> => {
  const rule = `{#label} must be one of ${known.join(', ')}, or a comma list of them`;
  return Joi.string()
    .custom((value: string, helpers) =>
      value.split(',').every((state) => known.includes(state)) ? value : helpers.error('states'),
    )
    .optional()
    .meta({
      pattern: `^(${known.join('|')})(,(${known.join('|')}))*$`,
      description: 'one state or a comma list of them',
    })
    .error(says({ states: rule, 'string.base': '{#label} must be given once', 'string.empty': rule }));
};
