import { setImmediate } from 'node:timers/promises';
import { version } from '../../package.ts';
import type { EventDeclaration } from '../declare/event.ts';
import type { Glossary } from '../declare/glossary.ts';
import type { ErrorTable } from '../route/errors.ts';
import { type Route, roomOf, type Tag } from '../route/route.ts';
import { batchedCalls } from './batched.ts';
import { components, systemPaths } from './components.ts';
import { webhooks } from './events.ts';
import { nameSchemas } from './names.ts';
import { operation, pathOf } from './operation.ts';
import type { NamedSchemas } from './schema.ts';

const license = { name: 'Apache License 2.0', identifier: 'Apache-2.0' };
const description =
  'Coordination for concurrent workers. Times are ISO 8601 UTC with milliseconds; amounts of money are digit strings in ' +
  'minor units; null for an optional field means absent, and absent values in answers are null.\n\n' +
  'Every call takes the headers `traceparent` and `tracestate` of W3C Trace Context, which the message it creates keeps. ' +
  'Every call takes a header `X-Request-Id` of the caller (1 to 128 characters of `A-Za-z0-9._-`) and answers it; it stands in ' +
  'events and logs, too. If it is absent or malformed, one is generated.';

/** The parts of a product that the description needs. */
export interface Described {
  readonly routes: readonly Route[];
  readonly spacelessRoutes: readonly Route[];
  readonly errors: ErrorTable;
  readonly events: readonly EventDeclaration[];
  readonly tags: ReadonlyMap<string, Tag>;
  readonly glossary: (room: string) => Glossary;
}

/** The OpenAPI 3.1 description of all routes. */
export function openapi(described: Described): object {
  const steps = describe(described);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The description as text, made in small steps: Joi takes long to describe its schemas, and other requests must not wait. */
export async function openapiText(described: Described): Promise<string> {
  const steps = describe(described);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return JSON.stringify(value);
    await setImmediate();
  }
}

function* describe({ routes, spacelessRoutes, errors, events, tags, glossary }: Described): Generator<void, object> {
  const named: NamedSchemas = new Map();
  const targetOf = (room: string) => ({ named, glossary: glossary(room) });
  const pushed = yield* webhooks(events, targetOf('event'));
  yield* batchedCalls(routes, targetOf);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of [...routes, ...spacelessRoutes]) {
    const path = pathOf(route);
    const described = operation(route, errors, targetOf(roomOf(route)));
    nameSchemas(described, named);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: described };
    yield;
  }
  const system = { name: 'system', 'x-displayName': 'System', description: 'Without a key.' };
  return {
    openapi: '3.1.0',
    info: { title: 'Muster', version, description, license },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: [
      ...Array.from(tags, ([name, { title, description }]) => ({ name, 'x-displayName': title, description })),
      system,
    ],
    paths: { ...paths, ...systemPaths() },
    webhooks: pushed,
    components: components(errors, named),
  };
}
