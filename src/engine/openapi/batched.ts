import { pascalCase } from '../declare/event.ts';
import { isAtomic, isBatched } from '../route/batch-route.ts';
import { pathNames, type Route, roomOf } from '../route/route.ts';
import { idempotencyKey } from './components.ts';
import { pathParameter } from './path-parameter.ts';
import { describe, type JsonSchema, jsonSchema, schemaRef, type Target, unionOf } from './schema.ts';

/** A reference, which a call takes in place of an id: src/doors/batch/references.ts. */
const from: JsonSchema = {
  type: 'object',
  description:
    'An id that an earlier call of the batch answered, in place of an id in any field whose name ends with Id.',
  required: ['$from'],
  additionalProperties: false,
  properties: {
    $from: {
      type: 'integer',
      minimum: 0,
      description: 'The index of that call, from 0; it must come before this one.',
      examples: [0],
    },
    member: {
      type: 'string',
      description: 'The member of its answer that has the id; by default `id`.',
      examples: ['scopeId'],
    },
  },
};

/** The expectation of a call in an atomic batch: src/doors/batch/terms.ts. */
const expect: JsonSchema = {
  type: ['object', 'null'],
  description:
    'Members that the answer must have, including those of its balances or counts, compared exactly. If one differs, the batch is refused (EXPECTATION_FAILED) and nothing happens. Only if `atomic` is true.',
  additionalProperties: true,
  examples: [{ state: 'READY' }],
};

/**
 * Adds a schema for each call that batches take, and their union, discriminated by `call`. Only atomic batches take reads and
 * `expect`.
 */
export function* batchedCalls(routes: readonly Route[], targetOf: (room: string) => Target): Generator<void, void> {
  const { named } = targetOf('');
  named.set('From', from);
  const batched = routes.filter((route) => isBatched(route) || isAtomic(route));
  const byCall: [string, JsonSchema][] = [];
  for (const route of batched) {
    const name = `${pascalCase(route.call)}Call`;
    named.set(name, callSchema(route, targetOf(roomOf(route))));
    byCall.push([route.call, schemaRef(name)]);
    yield;
  }
  named.set('Call', unionOf('call', byCall));
}

/** A field of a call. Each id in it may also be the id of an earlier call. */
function referring([name, json]: readonly [string, JsonSchema]): [string, JsonSchema] {
  if (/Id$/.test(name)) {
    const { description, examples, ...id } = json;
    return [name, { anyOf: [id, schemaRef('From')], description, ...(examples !== undefined && { examples }) }];
  }
  const { properties, items } = json as { properties?: Record<string, JsonSchema>; items?: JsonSchema };
  return [
    name,
    {
      ...json,
      ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(referring)) }),
      ...(items && { items: referring(['', items])[1] }),
    },
  ];
}

/** A call with its path parameters, query parameters and body fields in one object. */
function callSchema(route: Route, target: Target): JsonSchema {
  const { call, summary, idempotency, hold } = route;
  // A read answers only its record.
  const fields = route.method === 'GET' ? undefined : (route.body ?? route.query);
  const { properties, required, description } = (fields ? jsonSchema(fields, target) : {}) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
    description?: string;
  };
  // A receive that waits must be a request of its own.
  const taken = Object.entries(properties ?? {}).filter(([name]) => !(hold && name === 'waitSeconds'));
  const ids = pathNames(route);
  const described = (name: string, json: JsonSchema) => ({ ...json, description: describe(name, json, target) });
  return {
    type: 'object',
    description: description === undefined ? summary : `${summary}; ${description}`,
    required: ['call', ...ids, ...(required ?? [])],
    additionalProperties: false,
    properties: {
      call: described('call', { const: call }),
      ...Object.fromEntries(ids.map((name) => referring([name, pathParameter(route, name, target)]))),
      ...Object.fromEntries(taken.map(referring)),
      ...(isAtomic(route) && { expect }),
      ...(idempotency !== 'never' && {
        idempotencyKey: described('idempotencyKey', { ...idempotencyKey, type: ['string', 'null'] }),
      }),
    },
  };
}
