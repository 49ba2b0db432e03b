import type { ErrorTable } from '../route/errors.ts';
import { isOfSpace, pathNames, patternOf, type Route, roomOf } from '../route/route.ts';
import { exampleOf } from './example.ts';
import { pathParameter } from './path-parameter.ts';
import { responses } from './responses.ts';
import { type JsonSchema, jsonSchema, type Target } from './schema.ts';

const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });

/** A path in OpenAPI's form: `/v1/spaces/{spaceId}/mailboxes/{mailboxId}` for `/mailboxes/:mailboxId`. */
export function pathOf(route: Route): string {
  return patternOf(route).replaceAll(/:(\w+)/g, '{$1}');
}

export function operation(route: Route, errors: ErrorTable, target: Target) {
  return {
    operationId: route.call,
    ...titleOf(route),
    tags: [roomOf(route)],
    'x-permission': route.permission,
    parameters: [...pathParameters(route, target), ...queryParameters(route, target), ...headerParameters(route)],
    // A body of GET or DELETE has no meaning in HTTP, so it is not described, though a DELETE's is checked.
    ...(!['GET', 'DELETE'].includes(route.method) && { requestBody: requestBody(route, target) }),
    responses: responses(route, errors, target),
  };
}

/** The first words of a summary are the title in a list of calls; the rest starts the description. */
function titleOf({ summary, description, needsAllMailboxes }: Route): { summary: string; description?: string } {
  const [, title = summary, rest] = /^(.{4,}?)(?:[;:.]|,(?= (?:oldest|newest) first\b)) (.*)$/s.exec(summary) ?? [];
  const opening = rest === undefined ? [] : [`${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`];
  const text = [
    ...opening,
    ...(description === undefined ? [] : [description]),
    ...(needsAllMailboxes === true ? ['Not for keys that are limited to mailboxes.'] : []),
    ...(needsAllMailboxes === 'without mailboxId' ? ['Keys that are limited to mailboxes must name one of them.'] : []),
  ].join(' ');
  return { summary: title, ...(text !== '' && { description: text }) };
}

function pathParameters(route: Route, target: Target): object[] {
  return [
    ...(isOfSpace(route) ? [parameter('SpaceId')] : []),
    ...pathNames(route).map((name) => {
      const { description, ...schema } = pathParameter(route, name, target);
      return { name, in: 'path', required: true, description, schema, example: exampleOf(schema, target, name) };
    }),
  ];
}

function queryParameters(route: Route, target: Target): object[] {
  if (!route.query) return [];
  const { properties, required = [] } = jsonSchema(route.query, target) as {
    properties: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function headerParameters(route: Route): object[] {
  const optional = ['OptionalIdempotencyKey'];
  const keys = { required: ['IdempotencyKey'], optional, calls: optional, never: [] }[route.idempotency];
  return [...keys, ...(route.streams ? ['LastEventId'] : [])].map(parameter);
}

/** Calls without fields accept no body or `{}`. */
function requestBody(route: Route, target: Target): object {
  const schema = route.body ? jsonSchema(route.body, target) : { type: 'object', additionalProperties: false };
  const example = route.body && { example: exampleOf(schema, target) };
  return { required: 'required' in schema, content: { 'application/json': { schema, ...example } } };
}
