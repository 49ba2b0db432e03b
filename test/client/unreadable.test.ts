import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createMuster } from '../../src/clients/typescript/index.ts';
import { jsonOf } from '../../src/clients/typescript/json.ts';
import { isOpaque, parseAnswer, type UnreadableValue } from '../../src/clients/typescript/unreadable.ts';
import { openapi } from '../../src/engine/openapi/openapi.ts';
import { product } from '../../src/primitives/primitives.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Members of answers that have any JSON, but not of a caller's own: the answer of a batch's call, an error's, an audit entry's. */
const ours = ['body', 'error', 'detail'];
const hasNoType = (schema: Schema): boolean =>
  !['type', 'anyOf', 'oneOf', 'enum', 'const', '$ref'].some((keyword) => keyword in schema);

/** Every schema with members in a part of the document, and in the schemas that it refers to. */
function* objectsIn(part: unknown, schemas: Readonly<Record<string, Schema>>, seen: Set<string>): Generator<Schema> {
  if (typeof part !== 'object' || part === null) return;
  const { properties, $ref } = part as Schema & { readonly $ref?: string };
  if (properties) yield { properties };
  for (const below of Object.values(part)) yield* objectsIn(below, schemas, seen);
  const name = $ref?.split('/').at(-1) ?? '';
  if (!(name in schemas) || seen.has(name)) return;
  seen.add(name);
  yield* objectsIn(schemas[name], schemas, seen);
}

describe('A field of an answer', () => {
  it('is looked at by the clients if it has a value of the callers, and only then', () => {
    const { paths, components } = JSON.parse(JSON.stringify(openapi(product)));
    const answers = Object.values(paths).flatMap((path) =>
      Object.values(path as object).map(({ responses }) => responses),
    );
    const opaque = new Set<string>();
    for (const { properties = {} } of objectsIn(answers, components.schemas, new Set()))
      for (const [name, schema] of Object.entries(properties)) {
        const isRead = isOpaque(name, (other) => other in properties);
        if (ours.includes(name)) expect(isRead, name).to.equal(false);
        else if (hasNoType(schema)) expect(isRead, name).to.equal(true);
        else if ('$ref' in schema || name === 'question') expect(isRead, name).to.equal(false);
        if (isRead && hasNoType(schema)) opaque.add(name);
      }
    const [, list = ''] =
      /^_opaque = \((.*)\)$/m.exec(
        readFileSync(new URL('../../src/clients/python/muster/_json.py', import.meta.url), 'utf8'),
      ) ?? [];
    expect([...list.matchAll(/'(\w+)'/g)].map(([, name]) => name)).to.have.members([...opaque]);
  });
});

describe('A number in an answer', () => {
  const isHeld = (number: string): boolean => {
    const answer = parseAnswer(`{ "payload" : [ ${number} , "${number}" ], "id": "a" }`) as { payload: unknown };
    try {
      return answer.payload !== undefined;
    } catch (error) {
      expect((error as UnreadableValue).text).to.equal(`[ ${number} , "${number}" ]`);
      return false;
    }
  };

  it('is held if it is the same again, printed with as many digits', () => {
    const held = [
      ...['0', '-0', '0e999999999999999999999', '0.10', '1E5', '1e23', '1e-99', '123456789012345e99'],
      ...['0.10000000000000001', '0.1000000000000000055511151231257827', '9007199254740992', '9007199254740994.0'],
      ...['100000000000000000000000', '1.7976931348623157e308', '5e-324', '4.9e-324', `1.${'0'.repeat(200)}`],
    ];
    expect(held.filter((one) => !isHeld(one))).to.deep.equal([]);
    const lost = [
      ...[
        '9007199254740993',
        '9007199254740993.0',
        '1e309',
        '-1E+400',
        '1e-400',
        '3e-324',
        '179769313486231570000e290',
      ],
      ...['0.12345678901234567890', '12345678901234567890123456789e-5', `1.${'0'.repeat(120)}1`, `1e${'9'.repeat(30)}`],
    ];
    expect(lost.filter(isHeld)).to.deep.equal([]);
  });
});

describe('A number that JSON does not have', () => {
  it('is refused by the call that sends it, as it would arrive as null', async () => {
    const muster = createMuster({ url: 'http://127.0.0.1:9', key: 'k', spaceId: 's', retrySeconds: 0 });
    const ids = { mailboxId: 'm', scopeId: 's' };
    for (const payload of [Number.NaN, [null, { a: Number.POSITIVE_INFINITY }], { a: null, b: [-1 / 0] }]) {
      const error = await muster.message.send({ ...ids, payload }).catch((thrown: unknown) => thrown);
      expect(String(error)).to.equal('TypeError: NaN and Infinity are not JSON');
    }
    for (const value of [null, { a: [null, 1.5, 'null'] }, new Date(Number.NaN), { toJSON: () => null, n: Number.NaN }])
      expect(jsonOf(value)).to.equal(JSON.stringify(value));
  });
});
