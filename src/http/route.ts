import type { IncomingHttpHeaders } from 'node:http';
import type Joi from 'joi';
import type { Answered, Fields } from '../declare/field.ts';
import type { ServeContext } from './context.ts';
import { fields, queryInteger } from './fields.ts';
import { type Hold, holdRead, type Wait } from './hold.ts';

/** What a key may be allowed to do. None implies another. */
export const permissions = ['coordination_read', 'coordination_write', 'resource_config'] as const;
export type Permission = (typeof permissions)[number];

/** A request whose shape is right; ids are lower-cased, absent fields undefined. */
export interface Input<Query = unknown, Body = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
}

/** A success. `body` undefined: no content. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  /** In place of a body: the text of server-sent events, as they come. */
  readonly stream?: AsyncIterable<string>;
}

/**
 * One endpoint. The list of all of them feeds the router, the validation, OpenAPI and the typed client; adding one adds
 * nothing elsewhere.
 */
export interface Route<Query = unknown, Body = unknown, R extends Fields = Fields> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /v1/spaces/:spaceId. */
  readonly path: string;
  /** The call's name in usage, e.g. `message.send`. */
  readonly call: string;
  readonly summary: string;
  /** `any`: whatever the key's are, in no space. */
  readonly permission: Permission | 'any';
  /** `never`: the header is not looked at. */
  readonly idempotency: 'required' | 'optional' | 'never';
  /** Recovery calls use the reserved share of the rates; `limits` is never refused by the space's rate. */
  readonly rate?: 'recovery' | 'limits';
  readonly query?: Joi.ObjectSchema<Query>;
  readonly body?: Joi.ObjectSchema<Body>;
  /** The member whose text is kept as it is, e.g. ['payload']. */
  readonly opaque?: readonly string[];
  /** Success statuses with what they carry; null: no body. */
  readonly success: Readonly<Record<number, Joi.Schema | null>>;
  /** Answers 200 as server-sent events where the request accepts text/event-stream. */
  readonly streams?: true;
  /** Error codes beyond those of every route. */
  readonly refuses: readonly string[];
  /** The script, e.g. `mailbox/send`. */
  readonly script: string;
  /** What it takes beside lib/call's arguments and the path parameters, which it takes by their names. */
  readonly args?: (input: Input<Query, Body>) => Record<string, string | number>;
  /** What is read of the script's reply: the members that its `@reply` names. */
  readonly reply: R;
  /**
   * What is answered. Left out: the first success status, with the record where the reply is one, else with the reply.
   * Where the script replies with nothing, it is 204 anyway.
   */
  readonly answer?: (reply: Answered<R>, input: Input<Query, Body>, replayed: boolean) => Answer;
  /** Holds the request while there is nothing to answer; undefined: does not. */
  readonly hold?: (input: Input<Query, Body>) => Hold | undefined;
  /** For what one run of the script cannot answer (a watch, a look at the network): runs it by itself, any times. */
  readonly serve?: (input: Input<Query, Body>, context: ServeContext<R>) => Promise<Answer>;
}

/** Declares an endpoint; the types of its query, body and reply are those of their declarations. */
export function route<Query = unknown, Body = unknown, R extends Fields = Fields>(
  definition: Route<Query, Body, R>,
): Route {
  return definition as unknown as Route;
}

interface Read<Query, R extends Fields>
  extends Omit<Route<Query, unknown, R>, 'method' | 'permission' | 'idempotency' | 'hold'> {
  /** Lets callers wait (`waitSeconds`) for what they read to come to its end. */
  readonly wait?: Wait<Query, R>;
}

const waitSeconds = queryInteger(0, 30, 0).description(
  'holds the request for at most so long until the record has come to its end, then answers it as it stands',
);

/** Declares a read: whoever may read may call it, and repeating it changes nothing. */
export function read<Query = unknown, R extends Fields = Fields>({ wait, ...definition }: Read<Query, R>): Route {
  const own = { ...definition, method: 'GET', permission: 'coordination_read', idempotency: 'never' } as const;
  if (!wait) return route(own);
  const query = ((own.query ?? fields({})) as Joi.ObjectSchema).keys({ waitSeconds });
  return route({ ...own, query, hold: (input) => holdRead(wait, input) });
}

/** A path parameter; that the path has it is checked when the routes are mounted. */
export function param(input: Input<unknown, unknown>, name: string): string {
  return input.params[name] ?? '';
}
