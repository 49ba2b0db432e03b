import { invalid } from '../call/errors.ts';
import { fieldNames } from '../call/from-fields.ts';
import { pathNames, type Route } from '../call/route.ts';
import { type JsonSchema, jsonSchema } from '../http/openapi/schema.ts';
import { parameters } from './parameters.ts';
import { advice } from './refusals.ts';
import { type Words, words } from './words.ts';

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

/** A tool, the call that it makes, and the permission that it needs. */
export interface Listed {
  readonly tool: Tool;
  readonly call: string;
  readonly permission: Route['permission'];
}

/** `message_recv` of `message.recv`. */
export const toolName = (call: string): string => call.replaceAll('.', '_');

/** The tools by name, in the order of their words: those whose routes are served. Throws for a parameter without a text. */
export function toolsOf(routes: readonly Route[]): ReadonlyMap<string, Listed> {
  const byCall = new Map(routes.map((route) => [route.call, route]));
  return new Map(
    Object.entries(words).flatMap(([call, texts]) => {
      const route = byCall.get(call);
      const name = toolName(call);
      return route ? [[name, { tool: toolOf(name, route, texts), call, permission: route.permission }]] : [];
    }),
  );
}

function toolOf(name: string, route: Route, { title, description, destructive, repeatable }: Words): Tool {
  const isRead = route.method === 'GET';
  const refusals = route.refuses.map((code) => `\n- ${code}: ${said(advice, code)}`);
  return {
    name,
    title,
    description: refusals.length === 0 ? description : `${description}\nIf refused:${refusals.join('')}`,
    inputSchema: inputSchema(name, route),
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: destructive ?? false,
      idempotentHint: isRead || (repeatable ?? false),
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

/** Path parameters, query parameters and fields of the body in one object. */
function inputSchema(name: string, route: Route): Tool['inputSchema'] {
  const path = pathNames(route);
  const properties: Record<string, JsonSchema> = {};
  for (const param of path) properties[param] = { type: 'string', format: 'uuid' };
  const required = [...path];
  for (const schema of [route.query, route.body]) {
    if (!schema) continue;
    const json = jsonSchema(schema) as { properties: Record<string, JsonSchema>; required?: readonly string[] };
    Object.assign(properties, json.properties);
    required.push(...(json.required ?? []));
  }
  if (route.idempotency !== 'never') properties['idempotencyKey'] = { type: 'string', minLength: 1, maxLength: 255 };
  return {
    type: 'object',
    properties: described(properties, (field) => parameters[`${name}.${field}`] ?? said(parameters, field)),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Puts our texts to the properties. null is left out of their types: what may be null may be left out. */
function described(
  properties: Record<string, JsonSchema>,
  textOf: (name: string) => string,
): Record<string, JsonSchema> {
  const all = Object.entries(properties).map(([name, { type, properties: members, ...schema }]) => {
    const [first, second] = Array.isArray(type) ? type : [type];
    return [
      name,
      {
        ...(first !== undefined && { type: second === undefined || second === 'null' ? first : type }),
        ...schema,
        ...(members !== undefined && {
          properties: described(members as Record<string, JsonSchema>, (member) => textOf(`${name}.${member}`)),
        }),
        description: textOf(name),
      },
    ];
  });
  return Object.fromEntries(all);
}

function said(texts: Readonly<Record<string, string>>, name: string): string {
  const text = texts[name];
  if (text === undefined) throw new Error(`src/mcp has no text for ${name}`);
  return text;
}
