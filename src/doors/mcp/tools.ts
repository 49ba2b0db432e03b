import { fieldNames } from '../../engine/call/call-from-object.ts';
import type { Described } from '../../engine/openapi/openapi.ts';
import { pathParameter } from '../../engine/openapi/path-parameter.ts';
import { describe, type JsonSchema, jsonSchema, type Target } from '../../engine/openapi/schema.ts';
import { atomicRule, batchRoute, isAtomic, isBatched, isOffered } from '../../engine/route/batch-route.ts';
import { invalid } from '../../engine/route/errors.ts';
import { pathNames, type Route, roomOf } from '../../engine/route/route.ts';

/** A tool as tools/list shows it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  /** Hints left out have the protocol's defaults. */
  readonly annotations:
    | { readonly readOnlyHint: true; readonly openWorldHint: false }
    | { readonly destructiveHint: boolean; readonly idempotentHint?: true; readonly openWorldHint: false };
}

type ObjectSchema = { readonly type: 'object'; readonly [name: string]: unknown };

/** A tool, its calls, their requirements, and the name of its group. */
export interface Listed extends Pick<Route, 'needsAllMailboxes'> {
  readonly tool: Tool;
  /** The tool for keys that are bound to a holder, and so need not name it, if it differs. */
  readonly boundTool?: Tool;
  readonly calls: readonly [string, ...string[]];
  readonly permissions: readonly Route['permission'][];
  readonly group: string;
}

/** The name of a tool: `message_recv` for `message.recv`. */
export const toolName = (call: string): string => call.replaceAll('.', '_');

/** The tool that makes two calls. */
export const sendAndWaitName = 'message_send_and_wait';

/** The parts of a product that tools are made from. */
export type Offer = Pick<Described, 'routes' | 'tags' | 'glossary'>;

/** The tools by name, in the order of the reference. Throws for a parameter without a description. */
export function toolsOf({ routes, tags, glossary }: Offer): ReadonlyMap<string, Listed> {
  const rooms = [...tags.keys()];
  const batched = routes.filter((one) => (isBatched(one) || isAtomic(one)) && isOffered(one, { isModel: true }));
  // The batch belongs to no room and comes last.
  const placeOf = (route: Route): number => [...rooms, batchRoute.call].indexOf(roomOf(route));
  const tools = routes
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .flatMap((route): Listed[] => {
      const { tool, call, permission, needsAllMailboxes = false } = route;
      if (tool === undefined) return [];
      const target: Target = { named: new Map(), glossary: glossary(roomOf(route)), isForModels: true };
      const group = tags.get(roomOf(route))?.tools ?? roomOf(route);
      const described = toolOf(tool, route, target, batched);
      const listed = { calls: [call] as const, permissions: [permission], needsAllMailboxes, group };
      return [
        {
          ...listed,
          ...(needsOwnName(route) ? { tool: withHolder(described), boundTool: described } : { tool: described }),
        },
      ];
    });
  const all = tools.flatMap((listed) =>
    listed.tool.name === 'message_view' ? [listed, sendAndWait(tools)] : [listed],
  );
  return new Map(all.map((listed) => [listed.tool.name, listed]));
}

/** Whether the call is refused without `holder`, unless the key is bound to one. */
const needsOwnName = ({ body }: Route): boolean => {
  const { holder } = (body?.describe()['keys'] ?? {}) as { holder?: { metas?: readonly { actor?: true }[] } };
  return holder?.metas?.some(({ actor }) => actor) === true;
};

function withHolder({ inputSchema, ...tool }: Tool): Tool {
  const { required = [] } = inputSchema as unknown as Fields;
  return { ...tool, inputSchema: { ...inputSchema, required: [...required, 'holder'] } };
}

export const groupsOf = (tools: ReadonlyMap<string, Listed>): readonly string[] => [
  ...new Set([...tools.values()].map(({ group }) => group)),
];

/**
 * Sends a message and waits for its end. It makes two calls, for clients whose model can make only one tool call at a time.
 */
function sendAndWait(tools: readonly Listed[]): Listed {
  const [send, view] = ['message_send', 'message_view'].map((name) => tools.find(({ tool }) => tool.name === name));
  if (!send || !view) throw new Error('there is no tool to send with, or to view with');
  const { properties, required } = send.tool.inputSchema as unknown as Fields;
  const { outputSchema: _, ...viewed } = view.tool;
  return {
    ...send,
    tool: {
      ...viewed,
      name: sendAndWaitName,
      title: 'Send work, wait for its end',
      description:
        'message_send, then message_view with waitSeconds, in one call: answers the message as it ended, or as it stands after ' +
        'waitSeconds (look at `state`). Call it again with the same workKey, or the same idempotencyKey, to wait on. Other ' +
        'fields as in message_send.',
      inputSchema: {
        type: 'object',
        properties: {
          ...Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, withoutWords(schema)])),
          waitSeconds: { type: 'integer', default: 30, minimum: 0, maximum: 30 },
        },
        ...(required && { required }),
        additionalProperties: false,
      },
      annotations: send.tool.annotations,
    },
    calls: [...send.calls, ...view.calls],
    permissions: [...send.permissions, ...view.permissions],
  };
}

/** The schema of a field without descriptions, which are in the schema of another tool. */
function withoutWords({ description: _, properties, items, ...schema }: JsonSchema): JsonSchema {
  const members = Object.entries((properties ?? {}) as Properties).map(([name, json]) => [name, withoutWords(json)]);
  return {
    ...schema,
    ...(properties !== undefined && { properties: Object.fromEntries(members) }),
    ...(items !== undefined && { items: withoutWords(items as JsonSchema) }),
  };
}

interface Fields {
  readonly properties: Properties;
  readonly required?: readonly string[];
}

/** batched: the routes that a model's batch may call. */
function toolOf(description: string, route: Route, target: Target, batched: readonly Route[]): Tool {
  const { title, isDestructive = false, isRepeatable, method, call } = route;
  const name = toolName(call);
  const output = outputSchema(route, target);
  return {
    name,
    title: title ?? name,
    description,
    inputSchema: call === batchRoute.call ? batchSchema(route, target, batched) : inputSchema(route, target),
    ...(output && { outputSchema: output }),
    annotations:
      method === 'GET'
        ? { readOnlyHint: true, openWorldHint: false }
        : { destructiveHint: isDestructive, ...(isRepeatable && { idempotentHint: true }), openWorldHint: false },
  };
}

/**
 * The members of the answer and their types. None is required: an empty answer is `{}`, and newer servers may add members.
 * The description says what they mean; the answer itself shows their contents.
 */
function outputSchema({ toolAnswer, success }: Route, target: Target): ObjectSchema | undefined {
  const schema = toolAnswer === true ? Object.values(success)[0] : toolAnswer;
  if (!schema) return undefined;
  const named: Target = { ...target, named: new Map() };
  const written = jsonSchema(schema, named);
  const name = /[^/]+$/.exec(String(written['$ref']))?.[0] ?? '';
  const { properties } = (named.named.get(name) ?? written) as { properties: Properties };
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties)
        .map(([field, json]) => [field, typeOnly(json)] as const)
        .filter(([, json]) => Object.keys(json).length > 0),
    ),
  };
}

/** A record inside another is just an object. */
function typeOnly({ type, enum: values, $ref, anyOf }: JsonSchema): JsonSchema {
  if ($ref !== undefined) return { type: 'object' };
  if (Array.isArray(anyOf)) return { type: ['object', 'null'] };
  // A union of types would say less than it costs, so such a member is left out.
  if (Array.isArray(type)) return {};
  if (type === undefined) return {};
  return { type, ...(values !== undefined && { enum: values }), ...(type === 'array' && { items: {} }) };
}

/** Throws VALIDATION_FAILED for a field unknown to the call, with those of the tool. */
export function checkFields(fields: Readonly<Record<string, unknown>>, route: Route, tool?: Tool): void {
  const { path, query, body } = fieldNames(route);
  const known = [...path, ...query, ...body];
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const names = tool ? Object.keys(tool.inputSchema['properties'] as Properties) : known;
  throw invalid(`${unknown} is not a field of ${tool?.name ?? route.call}, which takes ${names.join(', ')}`);
}

/** The schema of a batch. It names the calls; their fields are in the schemas of their tools. */
function batchSchema(route: Route, target: Target, batched: readonly Route[]): Tool['inputSchema'] {
  const schema = inputSchema(route, target);
  const properties = schema['properties'] as Record<string, JsonSchema>;
  const call = {
    type: 'string',
    enum: batched.map((one) => one.call),
    description: atomicRule,
  };
  const expect = { type: 'object', description: 'with atomic; compared exactly' };
  const items = { type: 'object', properties: { call, expect }, required: ['call'] };
  return { ...schema, properties: { ...properties, calls: { ...properties['calls'], items } } };
}

/** Path parameters, query parameters and fields of the body in one object. */
function inputSchema(route: Route, target: Target): Tool['inputSchema'] {
  const path = pathNames(route);
  const described = (name: string, json: JsonSchema) => ({ ...json, description: describe(name, json, target) });
  const properties: Record<string, JsonSchema> = {};
  for (const name of path) properties[name] = inShort(pathParameter(route, name, target));
  const required = [...path];
  for (const schema of [route.query, route.body]) {
    if (!schema) continue;
    const json = jsonSchema(schema, target) as { properties: Properties; required?: readonly string[] };
    Object.assign(properties, withoutNull(json.properties));
    for (const name of route.notInTool ?? []) delete properties[name];
    required.push(...(json.required ?? []));
  }
  // Repeating any other call changes nothing, even without a key.
  if (route.idempotency !== 'never' && !route.isRepeatable)
    properties['idempotencyKey'] = described('idempotencyKey', { type: 'string' });
  if (route.isBrief) properties['full'] = { type: 'boolean', description: 'true: the records, not their numbers' };
  for (const [name, { description }] of Object.entries(properties))
    if (!description) throw new Error(`${route.call}: nothing describes ${name}`);
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

type Properties = Readonly<Record<string, JsonSchema>>;

function withoutNull(properties: Properties): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, inShort(schema)]));
}

/** No model reaches a limit above this by accident. */
const enough = 10_000;

/**
 * A schema without the parts that a model does not need: null, as a nullable field may be left out; examples; and rules
 * whose refusal says what would be right.
 */
function inShort({
  type,
  enum: values,
  properties: members,
  items,
  examples: _examples,
  minLength: _minLength,
  maxLength: _maxLength,
  not: _not,
  pattern: _pattern,
  minItems: _minItems,
  maxItems: _maxItems,
  additionalProperties: _additional,
  format,
  maximum,
  minimum,
  default: preset,
  ...schema
}: JsonSchema): JsonSchema {
  const [first, second] = Array.isArray(type) ? type : [type];
  return {
    ...(first !== undefined && { type: second === undefined || second === 'null' ? first : type }),
    ...(values !== undefined && { enum: (values as unknown[]).filter((value) => value !== null) }),
    ...(format !== 'uuid' && format !== undefined && { format }),
    ...(Number(minimum) > 1 && { minimum }),
    ...(Number(maximum) < enough && { maximum }),
    // Null would not be of the type.
    ...(preset !== undefined && preset !== null && { default: preset }),
    ...schema,
    ...(items !== undefined && { items: inShort(items as JsonSchema) }),
    ...(members !== undefined && { properties: withoutNull(members as Properties) }),
  };
}
