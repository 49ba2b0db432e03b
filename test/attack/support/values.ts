import fc, { type Arbitrary } from 'fast-check';
import type { Schema } from './document.ts';

/** Stands for a real value, known only when the request is sent: `⟨mailboxId⟩`. */
export const slot = (name: string): string => `⟨${name}⟩`;

/** Names of real values, as in fields and paths. */
const real = new Set(
  'scopeId parentScopeId mailboxId messageId groupId taskId budgetId reservationId barrierId allowanceId waiterId poolId holdId questionId consumptionId destinationId deliveryId scheduleId token'.split(
    ' ',
  ),
);
const types =
  'message.* budget.reserved task.* group.decided barrier.created limits.updated waiter.granted scope.* schedule.*'.split(
    ' ',
  );
const dates = ['2026-01-31', '2026-11-21', '2025-12-01', '1999-01-01', '9999-12-31'];

/** Values that break parsers, stores and careless code. */
export const hostile: readonly unknown[] = [
  ...[
    '',
    ' ',
    '\0',
    '\n',
    '{}',
    '}{',
    '\u007f',
    '\u2028',
    '\ud800',
    '😀',
    'ﬃ',
    'İ',
    '__proto__',
    'constructor',
    'null',
    'NaN',
    '-0',
  ],
  ...[0, -1, -0, 1.5, 1e21, 1e308, 2 ** 53, -(2 ** 63), Number.MIN_VALUE, true, false, null, [], {}, [[]], [null]],
  ...[
    '9'.repeat(18),
    '9'.repeat(19),
    '0'.repeat(19),
    '+1',
    '1e3',
    '٣',
    'x'.repeat(513),
    '../../etc/passwd',
    "'; DROP",
    '%00',
    '$(id)',
  ],
  ...[{ toString: 1 }, { constructor: { prototype: {} } }, { length: 1e9 }, 'muster:{x}:y', '-inf', '(1', '*', '1-0'],
];

const clean = (text: string): string => text.replaceAll(/[\p{Cc}⟨⟩]/gu, 'x');

/** Values that a schema accepts; `name` is the field's. */
export function valid(schema: Schema, name: string): Arbitrary<unknown> {
  const kinds = [schema.type ?? []].flat();
  if (kinds.includes('null')) {
    const rest = { ...schema, type: kinds.filter((kind) => kind !== 'null') };
    return fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 6, arbitrary: valid(rest, name) });
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.anyOf) return alternatives(schema.anyOf, name);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map((one) => valid(one, name)));
  if (schema.enum) return fc.constantFrom(...schema.enum.filter((value) => value !== null));
  switch (kinds[0]) {
    case 'object':
      return fields(schema);
    case 'array':
      if (schema.items?.oneOf) return fc.array(valid(schema.items, name), { minLength: 1, maxLength: 8 });
      if (schema.items?.properties) return objects(schema, valid(schema.items, name));
      return fc.array(fc.constantFrom(...types), { maxLength: 4 });
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return whole(schema, name);
    case 'string':
      return text(schema, name);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

/** A few objects, mostly without duplicate ids, which nearly every list refuses. */
function objects({ minItems = 0 }: Schema, item: Arbitrary<unknown>): Arbitrary<unknown> {
  const bounds = { minLength: minItems, maxLength: 2 };
  const idsOf = (one: unknown): string => JSON.stringify(one, (_, part) => (typeof part === 'number' ? null : part));
  const different = fc.uniqueArray(item, { ...bounds, selector: idsOf });
  return fc.oneof({ weight: 8, arbitrary: different }, fc.array(item, bounds));
}

/** Mostly the first alternative: an id rather than a reference to one. */
function alternatives([usual = {}, ...others]: readonly Schema[], name: string): Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: valid(usual, name) }, ...others.map((one) => valid(one, name)));
}

/** waitSeconds is always 0: waits would only take time, and are tested elsewhere. */
function whole({ minimum = 0, maximum = 1e9 }: Schema, name: string): Arbitrary<number> {
  if (name === 'waitSeconds') return fc.constant(0);
  const small = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 60) });
  return fc.oneof({ weight: 6, arbitrary: small }, fc.constant(maximum), fc.integer({ min: minimum, max: maximum }));
}

function text(schema: Schema, name: string): Arbitrary<unknown> {
  // recv accepts a scope, or this for all of them.
  if (schema.description?.includes('`*`'))
    return fc.oneof(fc.constant('*'), text({ ...schema, description: '' }, name));
  if (real.has(name)) {
    const random = name === 'token' ? fc.string({ minLength: 1, maxLength: 40 }).map(clean) : fc.uuid();
    const isOfHold = name === 'token' && schema.description?.includes('hold');
    const usual = isOfHold ? fc.constantFrom(slot('holdToken'), slot('releasedToken')) : fc.constant(slot(name));
    return fc.oneof({ weight: 8, arbitrary: usual }, random);
  }
  if (name === 'cursor') return fc.constantFrom('', 'latest', slot('cursor'), 'x', 'MTIz', '0-0');
  if (name === 'cron')
    return fc.constantFrom('* * * * *', '0 9 * * 1-5', '*/5 * * * * *', '0 0 30 2 *', '0 0 29 2 1#5');
  if (name === 'timezone') return fc.constantFrom('UTC', 'Europe/Berlin', 'asia/kolkata', 'Mars/Olympus', '+02:00');
  if (name === 'types') return fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }).map(String);
  if (name === 'aggregate') return fc.constantFrom('budget', 'message,task', `mailbox:${slot('mailboxId')}`, 'group:x');
  if (schema.format === 'date') return fc.constantFrom(...dates);
  if (schema.format === 'uri') return fc.constantFrom(slot('url'), 'http://gone.test/', 'https://gone.test:8443/a?b#c');
  if (schema.format === 'date-time') {
    const moment = fc.date({ min: new Date('2027-01-01'), max: new Date('2090-01-01'), noInvalidDate: true });
    return fc.oneof(
      { weight: 4, arbitrary: moment.map((at) => at.toISOString()) },
      fc.constant('2001-01-01T00:00:00+02:00'),
    );
  }
  if (name === 'amountMinor')
    return fc.oneof({ weight: 5, arbitrary: fc.constantFrom('1', '7', '007') }, digits(schema));
  if (schema.pattern !== undefined) return digits(schema);
  const { minLength = 0, maxLength = 40 } = schema;
  const few = fc.constantFrom('a', 'b', 'k-1');
  const any = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 30) }).map(clean);
  return fc.oneof({ weight: 2, arbitrary: few }, { weight: 4, arbitrary: any }, fc.constant('é'.repeat(maxLength)));
}

const digits = ({ pattern = '' }: Schema): Arbitrary<string> => fc.stringMatching(new RegExp(pattern));

function fields({ properties = {}, required = [] }: Schema): Arbitrary<Record<string, unknown>> {
  const each = Object.entries(properties).map(([name, schema]) => [name, valid(schema, name)] as const);
  const all = fc.record(Object.fromEntries(each), { requiredKeys: [...required], noNullPrototype: true });
  const record: Arbitrary<Record<string, unknown>> =
    'onFailure' in properties ? fc.tuple(all, fc.nat(9)).map(([some, chance]) => accompanied(some, chance > 0)) : all;
  if (required.length > 0 || each.length < 2 || each.some(([name]) => !name.endsWith('Id'))) return record;
  // Ids of several kinds, of which mostly one is to be given.
  const single = each.map(([name, value]) => value.map((id) => ({ [name]: id })));
  return fc.oneof({ weight: 6, arbitrary: fc.oneof(...single) }, record);
}

/** onFailure is refused without `after`, so it is mostly left out then. */
function accompanied({ onFailure, ...rest }: Record<string, unknown>, isLeft: boolean): Record<string, unknown> {
  const isAlone = onFailure === undefined || (isLeft && (rest['after'] ?? null) === null);
  return isAlone ? rest : { ...rest, onFailure };
}

/** A value just outside a schema, or something entirely different. */
export function wrong({ minimum, maximum, maxLength }: Schema): Arbitrary<unknown> {
  const outside: unknown[] = [...hostile];
  if (minimum !== undefined) outside.push(minimum - 1, String(minimum));
  if (maximum !== undefined) outside.push(maximum + 1, maximum + 0.5);
  if (maxLength !== undefined)
    outside.push('x'.repeat(maxLength + 1), '😀'.repeat(maxLength), '😀'.repeat(maxLength + 1));
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...outside) }, { weight: 1, arbitrary: fc.jsonValue() });
}
