import Joi from 'joi';
import { commonFields } from '../declare/glossary.ts';

/**
 * The kinds of fields in requests. Only query parameters are coerced, as they arrive as text. `null` for an optional field
 * means absent (docs/reference.md, "Conventions").
 */

/** The argument and result of a function for Joi's `.error()`. Joi's own types are less exact. */
interface Report {
  readonly code: string;
  readonly local: Readonly<Record<string, unknown>>;
  message: string;
}

/**
 * Messages of a field, for `.error()`: by Joi's error codes, or one rule (`must be …`) for all of them. `{#label}` stands for
 * the field's name, and other names so for what the error was made with. `.messages()` is not used because Joi merges its texts on every validation, which costs more than the
 * validation itself.
 */
export function says(messages: string | Readonly<Record<string, string>>): Joi.ValidationErrorFunction {
  const messageOf = (code: string): string | undefined => {
    if (typeof messages !== 'string') return messages[code];
    return code === 'any.required' ? `{#label} is missing: it ${messages}` : `{#label} ${messages}`;
  };
  const explain = (reports: Report[]): Report[] => {
    for (const report of reports) {
      const message = messageOf(report.code);
      if (message !== undefined)
        report.message = message.replaceAll(/\{#(\w+)\}/g, (_, name: string) => String(report.local[name]));
    }
    return reports;
  };
  return explain as unknown as Joi.ValidationErrorFunction;
}

interface FieldKind<T> {
  /** Parses the text; undefined if it breaks the rule. */
  readonly read: (text: string) => T | undefined;
  /** `must be …` */
  readonly rule: string;
  readonly json?: object;
}

/** A string with its own rule. */
function string<T>({ read, rule, json = {} }: FieldKind<T>): Joi.AnySchema<T> {
  return Joi.string()
    .custom((value: string, helpers) => read(value) ?? helpers.error('rule'))
    .error(says(rule))
    .meta(json) as unknown as Joi.AnySchema<T>;
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID of any version, in either case. */
export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}

const control = /\p{Cc}/u;

const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** An id: a UUID of any version, converted to lower case. */
export const id = () =>
  string({
    read: (value) => (isUuid(value) ? value.toLowerCase() : undefined),
    rule: 'must be a uuid, like 0190a1b2-0000-7000-8000-000000000000',
    json: { format: 'uuid' },
  });

/** The run of a new record. */
export const ofRun = () =>
  id()
    .description('its run: that of the message being worked on, or a new uuid for a run of its own')
    .meta({ model: "your message's run, or a new uuid" });

/** An id, or the given word. */
export const idOr = (word: string) =>
  string({
    read: (value) => (value === word ? value : isUuid(value) ? value.toLowerCase() : undefined),
    rule: `must be a uuid, like 0190a1b2-0000-7000-8000-000000000000, or ${word}`,
  });

/** A short text. Its length is in Unicode code points. */
export function text(min: number, max: number): Joi.AnySchema<string> {
  return string({
    read: (value) => (fitsText(value, min, max) ? value : undefined),
    rule: `must be a string of ${min} to ${max} characters, without control characters`,
    json: {
      minLength: min,
      maxLength: max,
      description: 'Without control characters.',
    },
  });
}

/** A text of several lines, such as a stack trace. Line breaks and tabs are its only control characters. */
export function lines(min: number, max: number): Joi.AnySchema<string> {
  return string({
    read: (value) => (fitsText(value.replaceAll(/[\n\r\t]/g, ' '), min, max) ? value : undefined),
    rule: `must be a string of ${min} to ${max} characters, without control characters but line breaks and tabs`,
    json: { minLength: min, maxLength: max, description: 'Without control characters but line breaks and tabs.' },
  });
}

/** Whether a text has this many code points and no control characters. */
export function fitsText(value: string, min: number, max: number): boolean {
  const isTooLong = value.length > max && [...value].length > max;
  return value.length >= min && !isTooLong && !control.test(value) && value.isWellFormed();
}

/** The name that the caller acts under. With a key bound to a holder it may be left out: the script fills it in. */
export const actor = (): Joi.AnySchema<string | undefined> =>
  optional(text(1, 256))
    .description(
      'the name under which the caller acts, which it chooses itself; required unless the key is bound to a holder',
    )
    .meta({ model: commonFields['holder']?.special.model, actor: true });

/** A short text that passes the test. */
export function matching(test: (value: string) => boolean, rule: string, json: object = {}): Joi.AnySchema<string> {
  return string({ read: (value) => (!control.test(value) && test(value) ? value : undefined), rule, json });
}

/** A name or key chosen by callers (workKey, taskKey, arrivalKey, name). */
export const key = (max = 512) => text(1, max);

/** A JSON integer, never a string or a fraction. shownMax: the maximum named in messages. */
export const integer = (min: number, max: number, shownMax = max) =>
  Joi.number()
    .integer()
    .min(min)
    .max(max)
    .error(says(`must be a whole number from ${min} to ${shownMax}`));

/** A UTC day, as days since 1970. */
export const utcDay = () =>
  string({
    read: (value) => {
      const at = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN;
      // Date.parse turns 30 February into 2 March.
      return Number.isNaN(at) || !new Date(at).toISOString().startsWith(value) ? undefined : at / 86_400_000;
    },
    rule: 'must be a date like 2026-01-31',
    json: { format: 'date' },
  });

/** An RFC 3339 date-time with any offset, as epoch milliseconds. */
export const moment = () =>
  string({
    read: epochMs,
    rule: 'must be a date-time like 2026-01-31T12:00:00.000Z',
    json: { format: 'date-time' },
  });

function epochMs(value: string): number | undefined {
  const [, year, month, day] = rfc3339.exec(value) ?? [];
  if (year === undefined) return undefined;
  // Date.parse turns 30 February into 2 March, so check that the month has this day.
  if (Number(day) < 1 || Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate())
    return undefined;
  const at = Date.parse(value.toUpperCase());
  // With its offset, the moment may lie beyond the last year of four digits.
  return Number.isNaN(at) || at > lastMoment ? undefined : at;
}

/** Any JSON value, as its text in the body. */
export const opaque = (): Joi.AnySchema<string> =>
  Joi.any()
    .error(says({ 'any.required': '{#label} is missing: it may be any JSON value, including null' }))
    .meta({ opaque: true });

export const oneOf = <const S extends string>(...values: readonly S[]) =>
  Joi.string<S>()
    .valid(...values)
    .error(says(`must be one of ${values.join(', ')}`));

export const flag = () => Joi.boolean().error(says('must be true or false'));

/**
 * The length of a claim's or hold's lease unless it is renewed. leftOut: the default, for the description. A model's lease is
 * as long as the space allows.
 */
export const leaseSeconds = (leftOut: string) =>
  optional(integer(5, 600)).description(leftOut).meta({ model: 'left out: the longest allowed' }).example(60);

/** The script's argument for lease.seconds. A model cannot renew while it thinks, so its leases are long. */
export const leaseText = ({
  body: { leaseSeconds },
  isModel,
}: {
  readonly body: { readonly leaseSeconds?: number | undefined };
  readonly isModel?: boolean | undefined;
}): number | string => leaseSeconds ?? (isModel ? 'longest' : '');

/** A field that may be left out or null; its value is then `preset`. */
export function optional<T>(schema: Joi.AnySchema<T>): Joi.AnySchema<T | undefined>;
export function optional<T>(schema: Joi.AnySchema<T>, preset: T): Joi.AnySchema<T>;
export function optional<T>(schema: Joi.AnySchema<T>, preset?: T): Joi.AnySchema<T | undefined> {
  const absent = schema.empty(null).optional();
  return preset === undefined ? absent : absent.default(preset);
}

/** The values of an object with these schemas. */
type ValuesOf<S> = { readonly [K in keyof S]: S[K] extends Joi.AnySchema<infer T> ? T : never };

/** Joi checks preferences each time they are given, which takes longer than the rest of a schema. */
const strict = {
  required: strictObject('required'),
  optional: strictObject('optional'),
};

function strictObject(presence: 'required' | 'optional'): Joi.ObjectSchema {
  return Joi.object()
    .prefs({ convert: false, abortEarly: true, presence, errors: { wrap: { label: false } } })
    .meta({ presence })
    .messages({
      'any.required': '{#label} is missing',
      'object.base': '{#label} must be an object',
    });
}

/** A body, a query, or path parameters: only the named fields. */
export function fields<S extends Record<string, Joi.AnySchema<unknown>>>(
  schemas: S,
  presence: 'required' | 'optional' = 'required',
): Joi.ObjectSchema<ValuesOf<S>> {
  return strict[presence].keys(schemas);
}

const digits = /^\d{1,15}$/;

/** A whole number in a query string. */
export function queryInteger(min: number, max: number, preset: number): Joi.AnySchema<number>;
export function queryInteger(min: number, max: number): Joi.AnySchema<number | undefined>;
export function queryInteger(min: number, max: number, preset?: number): Joi.AnySchema<number | undefined> {
  const read = (value: string): number | undefined => {
    const number = digits.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  };
  const rule = `must be a whole number from ${min} to ${max}, given once`;
  const json = { type: 'integer', minimum: min, maximum: max, ...(preset !== undefined && { default: preset }) };
  const schema = string({ read, rule, json }).optional();
  return preset === undefined ? schema : schema.default(preset);
}

/** `true` or `false` in a query string, as text. */
export const queryFlag = (): Joi.AnySchema<string | undefined> =>
  string({
    read: (value) => (value === 'true' || value === 'false' ? value : undefined),
    rule: 'must be true or false, given once',
    json: { type: 'boolean', default: false },
  }).optional();

/** `limit` and `cursor` of a list. */
export const page = () => ({
  limit: queryInteger(1, 200, 50).description('the most records in the page').meta({ model: 'at most so many' }),
  cursor: cursor()
    .description('the nextCursor of the page before; by default the first page')
    .meta({ model: 'nextCursor of the page before' }),
});

/** An opaque cursor, checked on decoding. */
export const cursor = (): Joi.AnySchema<string | undefined> =>
  Joi.string().allow('').optional().error(says('must be given once'));

/** A cursor in the body of calls that process many records in steps. */
export const bodyCursor = (): Joi.AnySchema<string> =>
  Joi.string()
    .allow('')
    .description('the nextCursor of the step before; by default the first step')
    .example(null)
    .error(says('must be the nextCursor of the previous step'));

/** One of the states, or a comma-separated list of them. */
export const states = (...known: readonly string[]): Joi.AnySchema<string | undefined> =>
  string({
    read: (value) => (value.split(',').every((state) => known.includes(state)) ? value : undefined),
    rule: `must be one of ${known.join(', ')}, or a comma-separated list of them, given once`,
    json: {
      pattern: `^(${known.join('|')})(,(${known.join('|')}))*$`,
    },
  })
    .optional()
    .description('only those in this state, or in several, separated by commas');
