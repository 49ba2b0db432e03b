import type { ErrorTable } from './errors.ts';
import type { Route } from './route.ts';

/** The OpenAPI 3.1 description of all routes. */
export function openapi(routes: readonly Route[], _errors: ErrorTable): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Muster', version: '1' },
    paths: Object.fromEntries(routes.map((route) => [route.path, {}])),
  };
}
