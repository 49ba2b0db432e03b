import { batchRoute, isAtomic, isBatched, isOffered } from '../batch/route.ts';
import { adviceOf, type ErrorTable, invalid } from '../call/errors.ts';
import { fieldNames } from '../call/from-fields.ts';
import { pathNames, type Route, roomOf } from '../call/route.ts';
import type { Described } from '../openapi/openapi.ts';
import { pathParameter } from '../openapi/path-parameter.ts';
import { describe, type JsonSchema, jsonSchema, type Target } from '../openapi/schema.ts';

/** A tool as tools/list shows it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [name: string]: unknown };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: false;
  };
}

/** A tool, the call that it makes, and what that needs. */
export interface Listed extends Pick<Route, 'call' | 'permission' | 'needsAllMailboxes'> {
  readonly tool: Tool;
}

/** `message_recv` of `message.recv`. */
export const toolName = (call: string): string => call.replaceAll('.', '_');

/** The parts of a product that tools are made of. */
export type Offer = Pick<Described, 'routes' | 'errors' | 'tags' | 'glossary'>;

/** The tools by name, in the order of the reference. Throws for a parameter without a description. */
export function toolsOf({ routes, errors, tags, glossary }: Offer): ReadonlyMap<string, Listed> {
  const rooms = [...tags.keys()];
  const batched = routes.filter((one) => (isBatched(one) || isAtomic(one)) && isOffered(one, { isModel: true }));
  // The batch, which is of no room, comes last.
  const placeOf = (route: Route): number => [...rooms, batchRoute.call].indexOf(roomOf(route));
  return new Map(
    routes
      .toSorted((a, b) => placeOf(a) - placeOf(b))
      .flatMap((route) => {
        const { tool, call, permission, needsAllMailboxes = false } = route;
        const target = { named: new Map(), glossary: glossary(roomOf(route)), isForModels: true } as const;
        const name = toolName(call);
        return tool === undefined
          ? []
          : [[name, { tool: toolOf(name, tool, route, errors, target, batched), call, permission, needsAllMailboxes }]];
      }),
  );
}

/** batched: the routes of the calls that a batch by a model takes. */
function toolOf(
  name: string,
  description: string,
  route: Route,
  errors: ErrorTable,
  target: Target,
  batched: readonly Route[],
): Tool {
  const isRead = route.method === 'GET';
  const refusals = route.refuses.map((code) => `\n- ${code}: ${adviceOf(errors, code)}`);
  return {
    name,
    title: route.title ?? name,
    description: refusals.length === 0 ? description : `${description}\nIf refused:${refusals.join('')}`,
    inputSchema: route.call === batchRoute.call ? batchSchema(route, target, batched) : inputSchema(route, target),
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: route.isDestructive ?? false,
      idempotentHint: isRead || (route.isRepeatable ?? false),
      openWorldHint: false,
    },
  };
}

/** Throws VALIDATION_FAILED for a field that the call does not take. */
export function checkFields(fields: Readonly<Record<string, unknown>>, route: Route): void {
  const { path, query, body } = fieldNames(route);
  const known = [...path, ...query, ...body];
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const names = [...known, 'idempotencyKey'].join(', ');
  throw invalid(`${unknown} is not a field of ${route.call}, which takes ${names}`);
}

/** The schema of a batch. It names its calls; their fields are in the schemas of their own tools. */
function batchSchema(route: Route, target: Target, batched: readonly Route[]): Tool['inputSchema'] {
  const schema = inputSchema(route, target);
  const properties = schema['properties'] as Record<string, JsonSchema>;
  const call = {
    enum: batched.map((one) => one.call),
    description: 'the call; its other fields stand beside this one',
  };
  const expect = { type: 'object', description: 'with atomic: members that the answer must have, compared exactly' };
  const items = { type: 'object', properties: { call, expect }, required: ['call'] };
  return { ...schema, properties: { ...properties, calls: { ...properties['calls'], items } } };
}

/** Path parameters, query parameters and fields of the body in one object. */
function inputSchema(route: Route, target: Target): Tool['inputSchema'] {
  const path = pathNames(route);
  const described = (name: string, json: JsonSchema) => ({ ...json, description: describe(name, json, target) });
  const properties: Record<string, JsonSchema> = {};
  for (const name of path) properties[name] = pathParameter(route, name, target);
  const required = [...path];
  for (const schema of [route.query, route.body]) {
    if (!schema) continue;
    const json = jsonSchema(schema, target) as { properties: Properties; required?: readonly string[] };
    Object.assign(properties, withoutNull(json.properties));
    required.push(...(json.required ?? []));
  }
  if (route.idempotency !== 'never')
    properties['idempotencyKey'] = described('idempotencyKey', { type: 'string', minLength: 1, maxLength: 255 });
  for (const [name, { description }] of Object.entries(properties))
    if (!description) throw new Error(`${route.call}: nothing describes ${name}`);
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

type Properties = Readonly<Record<string, JsonSchema>>;

/** null is left out of types and values: what may be null may be left out. Models need no examples. */
function withoutNull(properties: Properties): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, schemaWithoutNull(schema)]));
}

function schemaWithoutNull({
  type,
  enum: values,
  properties: members,
  items,
  examples: _,
  ...schema
}: JsonSchema): JsonSchema {
  const [first, second] = Array.isArray(type) ? type : [type];
  return {
    ...(first !== undefined && { type: second === undefined || second === 'null' ? first : type }),
    ...(values !== undefined && { enum: (values as unknown[]).filter((value) => value !== null) }),
    ...schema,
    ...(items !== undefined && { items: schemaWithoutNull(items as JsonSchema) }),
    ...(members !== undefined && { properties: withoutNull(members as Properties) }),
  };
}
