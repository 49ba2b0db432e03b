import fc, { type Arbitrary } from 'fast-check';
import type { Operation, Schema } from './document.ts';
import { objectIn } from './objects.ts';
import { hostile, slot, valid, wrong } from './values.ts';

/** A request with slots for real values. Bodies are latin1 if `bytes` is set, for bytes that are not UTF-8. */
export interface Draft {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
  readonly bytes?: boolean;
}

type Weighted<T> = readonly [weight: number, arbitrary: Arbitrary<T>];
type Pairs = [string, string][];
const mostly = <T>(...choices: readonly Weighted<T>[]): Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const one = <T>(...values: readonly T[]): Arbitrary<T> => fc.constantFrom(...values);

const junkSegments = [
  '..',
  '%2e%2e',
  '%00',
  '%',
  '%zz',
  '%ff',
  '%2F',
  'x',
  '*',
  '%7B%7D',
  '0',
  '%F0%9F%98%80',
  'null',
  ';',
  '-',
];
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** Requests for one operation: mostly valid, often with one mistake, sometimes with several. */
export function drafts(operation: Operation): Arbitrary<Draft> {
  const usual = operation.body ? bodies(operation.body) : fc.constant({ body: undefined });
  const body =
    operation.id === 'batch' && operation.body
      ? mostly<Pick<Draft, 'body' | 'bytes'>>([1, usual], [1, atomicBatches(operation.body)])
      : usual;
  const methods = mostly(
    [40, fc.constant(operation.method)],
    [1, one('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS')],
  );
  return fc
    .record({ method: methods, path: paths(operation), query: queries(operation), headers: headers(operation), body })
    .map(({ method, path, query, headers, body: sent }) => ({ method, target: path + query, headers, ...sent }));
}

function paths({ id, path }: Operation): Arbitrary<string> {
  const segments = path.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return fc.constant(segment);
    const usual: Weighted<string> = [40, one(slot(objectIn(id, name)), slot(name))];
    const others = one(slot('spaceId'), slot('mailboxId'), slot('otherSpaceId'), slot(`${name}^`));
    return mostly(usual, [1, fc.uuid()], [1, others], [1, one(...junkSegments)]);
  });
  return fc.tuple(...segments).map((parts) => parts.join('/'));
}

const encoded = (value: unknown): string =>
  encodeURIComponent((typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()).replaceAll(
    /%E2%9F%A8(\w+)%E2%9F%A9/g,
    '⟨$1⟩',
  );

function queries({ query }: Operation): Arbitrary<string> {
  const pairs = query.map(({ name, schema }) =>
    mostly<string[]>(
      [2, fc.constant([])],
      [3, valid(schema, name).map((value) => [`${name}=${encoded(value)}`])],
      [1, wrong(schema).map((value) => [`${name}=${encoded(value)}`])],
    ),
  );
  const junk = one(
    'x=1',
    'limit=1&limit=2',
    '__proto__=1',
    'limit[]=1',
    '%00=1',
    '&&',
    '=',
    '%zz=%zz',
    'cursor=%ff',
    'state=',
    'limit=%31',
  );
  const usual = fc.tuple(...pairs).map((parts) => parts.flat().join('&'));
  return mostly([12, usual], [1, junk], [1, fc.tuple(usual, junk).map((two) => two.join('&'))]).map((text) =>
    text === '' ? '' : `?${text}`,
  );
}

function headers({ hasKey, body }: Operation): Arbitrary<Pairs> {
  const named = (name: string, value: Arbitrary<string>): Arbitrary<Pairs> => value.map((text) => [[name, text]]);
  const none: Weighted<Pairs> = [1, fc.constant([])];
  const usual = slot('apiKey');
  const keys = one(
    `Bearer ${slot('reader')}`,
    `Bearer ${slot('otherKey')}`,
    `Bearer ${slot('limited')}`,
    'Bearer x',
    'Basic eDp5',
    `Bearer ${usual}x`,
    `bearer  ${usual}`,
    '',
  );
  const idempotency = one('again', 'a b', 'x'.repeat(256), 'ü', '', 'x'.repeat(255));
  return fc
    .tuple(
      mostly([40, named('Authorization', fc.constant(`Bearer ${usual}`))], [2, named('Authorization', keys)], none),
      hasKey
        ? mostly([24, named('Idempotency-Key', fc.uuid())], [2, named('Idempotency-Key', idempotency)], none)
        : mostly<Pairs>([9, fc.constant([])], [1, named('Idempotency-Key', idempotency)]),
      body
        ? mostly(
            [30, named('Content-Type', one('application/json', 'application/json; charset=utf-8'))],
            [
              1,
              named(
                'Content-Type',
                one('text/plain', 'application/json;', 'application/jsonx', '', 'application/json; charset=utf-16'),
              ),
            ],
            none,
          )
        : fc.constant([]),
      mostly<Pairs>(
        [12, fc.constant([])],
        [1, named('X-Request-Id', one(`ok.1_-${slot('request')}`, 'x'.repeat(129), 'a b', 'é', '<script>'))],
        [1, named('Accept', one('*/*', 'text/html', 'text/event-stream;q=0', ';', ',,'))],
        [1, named('Content-Encoding', one('gzip', 'identity', 'br', 'x'))],
        [1, named('If-None-Match', one('*', '"x"'))],
        [
          1,
          fc.constant<Pairs>([
            ['Idempotency-Key', 'one'],
            ['Idempotency-Key', 'two'],
            ['Range', 'bytes=0-1'],
          ]),
        ],
      ),
    )
    .map((groups) => groups.flat());
}

type Call = Readonly<Record<string, unknown>>;

/** A few calls of an atomic batch. Some refer to records that earlier calls have made, or state an expectation. */
function atomicBatches(schema: Schema): Arbitrary<Pick<Draft, 'body'>> {
  const call = valid(schema.properties?.['calls']?.items ?? {}, '') as Arbitrary<Call>;
  const expectations = [
    {},
    { state: 'READY' },
    { state: 'OPEN', replay: false },
    { balances: { overdrawn: '0' } },
    { id: 1 },
  ];
  const ties = fc.record({
    isTied: mostly([3, fc.constant(false)], [1, fc.constant(true)]),
    from: mostly([5, fc.constant(0)], [1, fc.nat(3)]),
    member: one(undefined, undefined, 'scopeId', 'messageId', 'x'),
    expect: mostly<unknown>([12, fc.constant(undefined)], [2, one(...expectations)], [1, one(...hostile)]),
  });
  return fc.array(fc.tuple(call, ties), { minLength: 1, maxLength: 4 }).map((list) => {
    const calls = list.map(([made, { isTied, from, member, expect }], index) => {
      const { expect: _, idempotencyKey: __, ...fields } = made;
      const ids = Object.keys(fields).filter((name) => isTied && index > 0 && name.endsWith('Id'));
      const named = ids.slice(0, 1).map((name) => [name, { $from: from, member }]);
      return { ...fields, ...Object.fromEntries(named), ...(expect !== undefined && { expect }) };
    });
    return { body: JSON.stringify({ atomic: true, calls }) };
  });
}

function bodies(schema: Schema): Arbitrary<Pick<Draft, 'body' | 'bytes'>> {
  const object = valid(schema, '') as Arbitrary<Record<string, unknown>>;
  const json = object.map((value) => JSON.stringify(value));
  const properties = Object.entries(schema.properties ?? {});
  const spoiled = properties.map(([name, usual]) =>
    fc.tuple(object, wrong(usual)).map(([value, bad]) => JSON.stringify({ ...value, [name]: bad })),
  );
  const lacking = properties.map(([name]) => object.map(({ [name]: _, ...rest }) => JSON.stringify(rest)));
  const extra = fc
    .tuple(object, one('__proto__', 'constructor', 'x', 'id', '', 'toString'), one(...hostile))
    .map(([value, name, bad]) => {
      const text = JSON.stringify(value);
      return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(bad)}}`;
    });
  const twice = object.map((value) => {
    const text = JSON.stringify(value);
    return text === '{}' ? '{"x":1,"x":2}' : `${text.slice(0, -1)},${text.slice(1)}`;
  });
  const cut = fc.tuple(json, fc.nat(40)).map(([text, length]) => text.slice(0, length));
  const nested = fc
    .tuple(json, one(510, 513, 20_000))
    .map(([text, depth]) => `${text.slice(0, -1)}${text === '{}' ? '' : ','}"payload":${deep(depth)}}`);
  const odd = one(
    '',
    'null',
    '5',
    '"x"',
    '[]',
    '[{}]',
    '\ufeff{}',
    '{"a":NaN}',
    '{,}',
    ' { } ',
    'name=x',
    '{"a":1e999}',
    `${'{"a":'.repeat(3000)}1`,
    '<a/>',
  );
  const noUtf8 = json.map((text) => `${text.slice(0, -1).replace(/"([^"⟨]*)"$/, '"\xff\xfe$1"')}}`);
  return mostly<Pick<Draft, 'body' | 'bytes'>>(
    [40, json.map((body) => ({ body }))],
    [spoiled.length > 0 ? 14 : 0, fc.oneof(...spoiled, json).map((body) => ({ body }))],
    [3, fc.oneof(...lacking, json).map((body) => ({ body }))],
    [3, fc.oneof(extra, twice, cut, nested, odd).map((body) => ({ body }))],
    [1, noUtf8.map((body) => ({ body, bytes: true }))],
    [1, fc.constant({ body: undefined })],
  );
}
