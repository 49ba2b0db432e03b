import type { Sent } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { invalid } from './errors.ts';
import type { Asked, Caller, Origin } from './request.ts';
import { pathNames, type Route } from './route.ts';

/** One call inside a request: path parameters but the space, query parameters and fields of the body in one object. */
export interface Call {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: unknown;
}

/** What the calls inside a request have in common. */
export interface CallContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** As it was sent. */
  readonly spaceId: string;
  readonly gone: AbortSignal;
  /** The caller may give up and keep its connection. */
  readonly leavesUnseen: boolean;
}

const from: Origin = { kind: 'a field', prefix: '', path: '', key: 'idempotencyKey' };

/** Calls that come inside another request, each answered, or refused, as by a request of its own; reads too. */
export class Calls {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly #fields = new WeakMap<Route, Fields>();

  /** endpoints: by the names of their calls. */
  constructor(endpoints: ReadonlyMap<string, Endpoint>) {
    this.endpoints = endpoints;
  }

  /** Throws what refuses it. */
  run(endpoint: Endpoint, { fields, idempotencyKey }: Call, context: CallContext): Promise<Sent> {
    const { route } = endpoint;
    const known = this.#fields.get(route) ?? new Fields(route);
    this.#fields.set(route, known);
    const query = known.queryOf(fields);
    const text = JSON.stringify(fields);
    const asked: Asked = {
      requestId: context.requestId,
      headers: {},
      params: { spaceId: context.spaceId, ...known.paramsOf(fields) },
      // Asked for where a mistake is told only to a caller who may call.
      get querystring() {
        known.check(fields);
        return Object.keys(query).join('&');
      },
      query,
      text,
      fields: known.bodyOf(fields),
      from,
      idempotencyKey,
      // No request of its own has this.
      identity: `call ${route.call}\n${text}`,
      gone: () => context.gone,
      leavesUnseen: context.leavesUnseen,
    };
    return endpoint.call(context.caller, asked);
  }
}

/** The fields of a call, by where they stand in a request of its own. */
class Fields {
  readonly #call: string;
  readonly #path: readonly string[];
  readonly #query: readonly string[];
  readonly #body: readonly string[];

  constructor(route: Route) {
    this.#call = route.call;
    this.#path = pathNames(route);
    this.#query = Object.keys(route.query?.describe()['keys'] ?? {});
    this.#body = Object.keys(route.body?.describe()['keys'] ?? {});
  }

  /** Throws for a field that the call does not take. */
  check(fields: Call['fields']): void {
    const known = [...this.#path, ...this.#query, ...this.#body];
    const unknown = Object.keys(fields).find((name) => !known.includes(name));
    if (unknown === undefined) return;
    const names = [...known, 'idempotencyKey'].join(', ');
    throw invalid(`${unknown} is not a field of ${this.#call}, which takes ${names}`);
  }

  paramsOf(fields: Call['fields']): Record<string, unknown> {
    return Object.fromEntries(this.#path.map((name) => [name, fields[name]]));
  }

  /** In a query everything is text, and null is not there. */
  queryOf(fields: Call['fields']): Record<string, unknown> {
    const given = Object.entries(pick(fields, this.#query)).filter(([, value]) => value !== null);
    return Object.fromEntries(given.map(([name, value]) => [name, isScalar(value) ? String(value) : value]));
  }

  bodyOf(fields: Call['fields']): Record<string, unknown> {
    return pick(fields, this.#body);
  }
}

function pick(fields: Call['fields'], names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';
