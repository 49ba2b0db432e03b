import { isBatched } from '../../batch/route.ts';
import { pathNames, type Route } from '../../call/route.ts';
import { idempotencyKey } from './components.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas, schemaRef } from './schema.ts';

/** Names the calls that a batch takes, as they are called there, and their union, which `call` tells apart. */
export function* batchedCalls(routes: readonly Route[], named: NamedSchemas): Generator<void, void> {
  const batched = routes.filter(isBatched);
  for (const route of batched) {
    if (named.has(route.call)) throw new Error(`${route.call} is the name of a call and of something else`);
    named.set(route.call, callSchema(route));
    yield;
  }
  const oneOf = batched.map(({ call }) => schemaRef(call));
  named.set('Call', { oneOf, discriminator: { propertyName: 'call' } });
}

/** A call with its path parameters and body fields in one object. */
function callSchema({ call, path, summary, body, idempotency, hold }: Route): JsonSchema {
  const { properties, required, description } = (body ? jsonSchema(body) : {}) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
    description?: string;
  };
  // A receive that waits has a request of its own.
  const taken = Object.entries(properties ?? {}).filter(([name]) => !(hold && name === 'waitSeconds'));
  const ids = pathNames({ path });
  const id = { type: 'string', format: 'uuid' };
  return {
    type: 'object',
    description: description === undefined ? summary : `${summary}; ${description}`,
    required: ['call', ...ids, ...(required ?? [])],
    additionalProperties: false,
    properties: {
      call: { const: call },
      ...Object.fromEntries(ids.map((name) => [name, id])),
      ...Object.fromEntries(taken),
      ...(idempotency !== 'never' && { idempotencyKey: { ...idempotencyKey, type: ['string', 'null'] } }),
    },
  };
}
