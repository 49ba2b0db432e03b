import type { Route } from '../route/route.ts';
import { describe, type JsonSchema, jsonSchema, type Target } from './schema.ts';

/** The schema of a path parameter, with its description: an id unless the route says otherwise. */
export function pathParameter({ params }: Pick<Route, 'params'>, name: string, target: Target): JsonSchema {
  const { properties } = (params ? jsonSchema(params, target) : {}) as { properties?: Record<string, JsonSchema> };
  const own = properties?.[name];
  if (own) return own;
  const id = { type: 'string', format: 'uuid' };
  return { ...id, description: describe(name, id, target) };
}
