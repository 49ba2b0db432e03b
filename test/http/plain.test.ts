import { expect } from 'chai';
import fc from 'fast-check';
import Joi from 'joi';
import { plainTest } from '../../src/engine/call/fast-validate.ts';
import {
  fields,
  flag,
  id,
  integer,
  key,
  moment,
  oneOf,
  opaque,
  optional,
  page,
} from '../../src/engine/route/fields.ts';
import { allRoutes } from '../../src/primitives/primitives.ts';

const uuid = '0190a1b2-0000-7000-8000-00000000000a';
const schemas = allRoutes.flatMap(({ call, body, query }) =>
  [body, query].flatMap((schema) => (schema ? [{ call, schema }] : [])),
);
const known = [...new Set(schemas.flatMap(({ schema }) => Object.keys(schema.describe().keys ?? {})))];
const words = schemas.flatMap(({ schema }) =>
  Object.values<{ allow?: unknown[] }>(schema.describe().keys ?? {}).flatMap(({ allow = [] }) => allow),
);

const usual = [uuid, 'a', 'jobs', '5', 'EUR', '2030-01-31T12:00:00Z', 1, 5, 30, 1_000, true, ...words];
const member = fc.oneof(
  fc.constantFrom(uuid.toUpperCase(), '', '{', '\ud800', '\u0000', '007', '0', 'a'.repeat(600)),
  fc.constantFrom(null, undefined),
  fc.constantFrom(-0, 1.5, 2 ** 53, Number.MAX_VALUE),
  fc.constantFrom(...usual),
  fc.integer({ min: -1, max: 1_001 }),
  fc.string(),
  fc.jsonValue(),
);

/** Mostly values that fit each field, sometimes any value; now and then a field of another schema, or an unknown one. */
const valuesOf = (schema: Joi.ObjectSchema): fc.Arbitrary<object> => {
  const fitting = (name: string) => {
    const alone = Joi.object({ [name]: schema.extract(name) });
    const fits = usual.filter((value) => !alone.validate({ [name]: value }, { convert: false }).error);
    return fits.length === 0 ? member : fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...fits) }, member);
  };
  const names = Object.keys(schema.describe().keys ?? {});
  const record = fc.record(Object.fromEntries(names.map((name) => [name, fitting(name)])), { requiredKeys: [] });
  const stray = fc.dictionary(fc.constantFrom(...known, '__proto__', 'constructor', 'other'), member, { maxKeys: 1 });
  return fc.oneof(
    { weight: 5, arbitrary: record },
    fc.tuple(record, stray).map(([a, b]) => ({ ...a, ...b })),
  );
};

describe('The fast path of validation', () => {
  it('accepts nothing that Joi refuses or would change, for the fields of every route', () => {
    let short = 0;
    for (const { call, schema } of schemas) {
      const isPlain = plainTest(schema);
      fc.assert(
        fc.property(valuesOf(schema), (value) => {
          if (!isPlain(value)) return;
          const { error, value: result } = schema.validate(value);
          expect(error, call).to.equal(undefined);
          expect(result, call).to.deep.equal(value);
          short++;
        }),
        { numRuns: 300 },
      );
    }
    expect(short, 'values that went the short way').to.be.above(500);
  });

  it('is used for what callers usually send', () => {
    const isPlain = (call: string, value: object): boolean => {
      const { body } = allRoutes.find((route) => route.call === call) ?? {};
      return body !== undefined && plainTest(body)(value);
    };
    expect(isPlain('message.send', { scopeId: uuid, payload: '{}' })).to.equal(true);
    expect(isPlain('message.send', { scopeId: uuid, payload: '{}', workKey: 'a' })).to.equal(true);
    expect(isPlain('message.renew', { token: 'a', leaseSeconds: 30 })).to.equal(true);
    expect(isPlain('message.complete', { token: 'a' })).to.equal(true);
    expect(isPlain('message.nack', { token: 'a', retry: true })).to.equal(true);
    // The rule for threshold depends on condition.
    expect(isPlain('group.create', { mailboxId: uuid, condition: 'ALL_TERMINAL' })).to.equal(false);
  });

  it('leaves conversions, defaults and unknown kinds of rules to Joi', () => {
    const open = (schema: Joi.Schema, value: unknown): boolean =>
      plainTest(fields({ field: schema }))({ field: value });
    expect(open(id(), uuid)).to.equal(true);
    expect(open(id(), uuid.toUpperCase()), 'to be lower-cased').to.equal(false);
    expect(open(moment(), '2030-01-31T12:00:00Z'), 'to become a number').to.equal(false);
    expect(open(optional(key()), null), 'to be left out').to.equal(false);
    expect(open(integer(1, 5), '5')).to.equal(false);
    expect(open(integer(1, 5), 6)).to.equal(false);
    expect(open(oneOf('A', 'B'), 'B')).to.equal(true);
    expect(open(flag(), 'true')).to.equal(false);
    expect(open(opaque(), {}), 'not the text of a value').to.equal(false);
    for (const [schema, value] of [
      [Joi.string().max(3), 'a'],
      [Joi.string().lowercase(), 'a'],
      [Joi.string().empty('a'), 'a'],
      [Joi.string().invalid('a'), 'a'],
      [Joi.number().multiple(2), 1],
      [Joi.number(), 1.5],
      [Joi.number().integer().min(Joi.ref('other')), 1],
      [Joi.boolean().truthy('yes'), true],
      [Joi.any().valid(1), 'a'],
      [Joi.any().strip(), 'a'],
      [Joi.array(), []],
      [Joi.object(), {}],
    ] as const)
      expect(open(schema, value), JSON.stringify(schema.describe())).to.equal(false);
    expect(plainTest(fields(page()))({}), 'a default').to.equal(false);
    expect(plainTest(fields({ a: optional(key()), b: optional(key()) }).and('a', 'b'))({ a: 'x' })).to.equal(false);
  });
});
