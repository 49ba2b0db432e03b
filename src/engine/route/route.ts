import type { IncomingHttpHeaders } from 'node:http';
import type Joi from 'joi';
import type { Answered, Fields } from '../declare/field.ts';
import type { RecordDeclaration } from '../declare/record.ts';
import type { Timed } from '../metrics/traffic.ts';
import type { Store } from '../redis/connection.ts';
import type { Refusal } from '../redis/scripts.ts';
import { type Args, param } from './args.ts';
import type { Caller, Permission } from './caller.ts';
import { fields, queryInteger } from './fields.ts';
import type { LinkTo } from './link.ts';
import type { LongPoll } from './long-poll.ts';
import type { OpenRequests } from './open-requests.ts';
import { type Given, recordAnswer } from './record-answer.ts';
import type { RoomServices } from './service.ts';
import type { TraceContext } from './trace.ts';

/** A validated call; ids are lower-cased, absent fields undefined. */
export interface Input<Query = unknown, Body = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  readonly trace: TraceContext;
  /** The caller is a model, over MCP. */
  readonly isModel?: boolean | undefined;
}

/** A success. Without `body` it has no content. */
export interface RouteAnswer {
  readonly status: number;
  readonly body?: unknown;
  /** Server-sent events as they occur, instead of a body. */
  readonly stream?: AsyncIterable<string | Buffer>;
}

/** The limit of all messages received in one answer, a batch's included. */
export const maxReceivedBytes = 4 * 1024 * 1024;
/** More than the record of a message takes beside its payload, progress and question, unless it has long lists. */
export const maxRecordBytes = 20_480;

/** The limit of a request's body. */
export const defaultMaxBodyBytes = 256 * 1024;

/** A call that receives messages. Its script takes `bytesLimit`, the limit of all of them together. */
export interface Receives<Query = unknown, Body = unknown, R extends Fields = Fields> {
  /** The most bytes it receives, however large the messages are. */
  readonly maxBytes: (input: Input<Query, Body>) => number;
  /** The bytes it has received. */
  readonly bytes: (reply: Answered<R>) => number;
}

/** What a call takes for its caller. It is given back if the answer was certainly not written. */
export interface Takes<R extends Fields = Fields> {
  /** The script that gives it back. It takes `items`. */
  readonly script: string;
  /** Each is a few words. */
  readonly items: (reply: Answered<R>) => readonly string[];
}

/** The parts that a route's `serve` needs. */
export interface ServeContext<R extends Fields = Fields> extends RoomServices {
  readonly caller: Caller;
  readonly store: Store;
  readonly openRequests: OpenRequests;
  /** Aborts when the caller disconnects. */
  readonly gone: AbortSignal;
  /**
   * Runs the route's script with its `args`, overridden by `changes`. `again`: a further run of the same request, which the
   * rates do not count. `reply` is undefined if the script replied with nothing. Throws refusals.
   */
  execute(
    changes?: Args,
    again?: boolean,
  ): Promise<{ readonly reply: Answered<R> | undefined; readonly replayed: boolean }>;
}

/** A group of calls in the reference, and of tools. */
export interface Tag {
  /** Its place among the groups; without one, it comes last. */
  readonly place?: number;
  readonly title: string;
  readonly description: string;
  /** The name of its group of tools, which a client may request alone; by default the room's. */
  readonly tools?: string;
}

/** One endpoint. The router, validation, OpenAPI and the typed client are derived from the list of all routes. */
export interface Route<Query = unknown, Body = unknown, R extends Fields = Fields> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below /v1/spaces/:spaceId or, for a call without a space, below /v1 (`patternOf`). */
  readonly path: string;
  /** The call's name in usage, e.g. `message.send`. */
  readonly call: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * Makes the call a tool. Says what it is for, when to call it and what comes back, to a model that knows nothing of Muster.
   */
  readonly tool?: string;
  /** The title of the tool, for people. */
  readonly title?: string;
  /** For tools of an agent's loop, which describe their answers: the schema, or true for the one in `success`. */
  readonly toolAnswer?: true | Joi.ObjectSchema;
  /** Fields that its tool leaves out, as a model has no use for them. */
  readonly notInTool?: readonly string[];
  /** For tools: what to do first if the answer is empty. */
  readonly whenEmpty?: string;
  /** For tools: the answer has counts by state instead of lists, unless the caller sets `full`. */
  readonly isBrief?: true;
  /** For tools: the call ends something, or takes it back, for good. */
  readonly isDestructive?: true;
  /** For tools: repeating an answered call changes nothing more, whatever its idempotencyKey. */
  readonly isRepeatable?: true;
  /** `none`: every key of the space may call it. `any` (the same) and `key_admin` are for calls without a space. */
  readonly permission: Permission | 'any' | 'none';
  /**
   * A key limited to mailboxes may not call it, because it shows or ends messages of any mailbox, always or unless the query
   * names a `mailboxId`.
   */
  readonly needsAllMailboxes?: boolean | 'without mailboxId';
  /** The permissions needed instead for a call with this body, which may be malformed; undefined for no change. */
  readonly permissionsFor?: (body: unknown) => readonly Permission[] | undefined;
  /** `never`: the header is ignored; `calls`: the calls in the body have keys derived from it. */
  readonly idempotency: 'required' | 'optional' | 'never' | 'calls';
  /**
   * Recovery calls use the reserved share of the rates. `operator`: so do these, if the caller may raise the limit, by
   * resource_config; for others they are ordinary. `limits` is never refused for the space's rate. `held` is neither
   * refused nor counted itself; its parts are.
   */
  readonly rate?: 'recovery' | 'operator' | 'limits' | 'held';
  readonly params?: Joi.ObjectSchema;
  readonly query?: Joi.ObjectSchema<Query>;
  readonly body?: Joi.ObjectSchema<Body>;
  /** The member whose text is kept unchanged, e.g. ['payload']. */
  readonly opaque?: readonly string[];
  /** Another such member. */
  readonly alsoOpaque?: readonly string[];
  /** If it differs from `defaultMaxBodyBytes`. */
  readonly maxBodyBytes?: number;
  /** Members of the answer in OpenAPI's example, where it differs from the record's usual example. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Success statuses and their bodies; null for no body. */
  readonly success: Readonly<Record<number, Joi.Schema | null>>;
  /** Answers 200 with server-sent events if the request accepts text/event-stream. */
  readonly streams?: true;
  /** Error codes beyond those of every route. */
  readonly refuses: readonly string[];
  /** The `…_NOT_FOUND` codes that may also be about an id in the body, although the path has an id of that kind. */
  readonly refusesInBody?: readonly string[];
  /** The calls it is made of, whose errors it may answer. */
  readonly parts?: readonly Route[];
  /** Answered by a gateway that makes calls itself, not by one run of the script. */
  readonly gateway?: true;
  /** The script, e.g. `mailbox/send`. */
  readonly script: string;
  /** The script's arguments beyond those of lib/call and the path parameters, which it gets by name. */
  readonly args?: (input: Input<Query, Body>) => Args;
  /** The members of the script's reply, as in its `@reply`. */
  readonly reply: R;
  /**
   * The record that the answer is, if the script replies only with what the request does not say: it is made of members of
   * the reply and `given`, by their names in scripts. A nullable record of the reply is answered in its place, as a replay.
   */
  readonly makes?: RecordDeclaration;
  /** The values of that record that follow from the request. A member of the reply takes the place of an absent one. */
  readonly given?: (input: Input<Query, Body>) => Given;
  /**
   * Builds the answer. By default it is the record that the call `makes`, or the reply's record, or else the reply, with the
   * highest success status, or the lowest if the record was `known`. If the script replies with nothing, the answer is
   * always 204.
   */
  readonly answer?: (reply: Answered<R>, input: Input<Query, Body>, replayed: boolean, linkTo: LinkTo) => RouteAnswer;
  /** Completes the detail of the script's refusal with data of the route, such as a list's cursor. */
  readonly detail?: (refusal: Refusal, input: Input<Query, Body>) => string;
  readonly receives?: Receives<Query, Body, R>;
  readonly takes?: Takes<R>;
  /** The times that metrics record of a success, unless it is a replay. */
  readonly times?: (reply: Answered<R>, input: Input<Query, Body>) => readonly Timed[];
  /**
   * Lets an atomic batch take a read of one record: with these arguments of its script, which leave its lists out, and
   * without these members of its answer.
   */
  readonly asRecord?: { readonly args?: Args; readonly without?: readonly string[] };
  /** Works in steps that are kept one by one, so it cannot be part of an atomic batch. */
  readonly isStepwise?: true;
  /** How to hold the request while there is nothing to answer; undefined if it is not held. */
  readonly hold?: (input: Input<Query, Body>) => LongPoll | undefined;
  /**
   * Answers calls that one run of the script cannot (a watch, a network request). It runs the script itself, as often as
   * needed.
   */
  readonly serve?: (input: Input<Query, Body>, context: ServeContext<R>) => Promise<RouteAnswer>;
}

/** Declares an endpoint. Its types are inferred from its query, body and reply. */
export function route<Query = unknown, Body = unknown, R extends Fields = Fields>(
  definition: Route<Query, Body, R>,
): Route {
  const declared = definition as unknown as Route;
  return declared.answer ? declared : { ...declared, ...recordAnswer(declared) };
}

/** When a held read ends. */
interface Wait<Query, R extends Fields> {
  /**
   * The path parameter whose value is the topic that scripts publish (`journal.wake`) with each change that may end the hold.
   */
  readonly on: string | ((input: Input<Query>) => string);
  /** Whether there is nothing more to wait for. first: the reply when the hold began; undefined if it was refused. */
  readonly isOver: (reply: Answered<R>, input: Input<Query>, first: Answered<R> | undefined) => boolean;
  /** Whether to go on waiting despite this refusal; by default never. */
  readonly outlasts?: (code: string, input: Input<Query>, first: Answered<R> | undefined) => boolean;
}

interface Read<Query, R extends Fields>
  extends Omit<Route<Query, unknown, R>, 'method' | 'permission' | 'idempotency' | 'hold'> {
  /** Lets callers wait (`waitSeconds`) until the record that they read has ended. */
  readonly wait?: Wait<Query, R>;
}

const waitSeconds = queryInteger(0, 30, 0)
  .description(
    'how long the request may be held until there is something to answer; when the time is up, the record is answered as it is',
  )
  .meta({ model: 'the longest wait; prefer 20 to 30' });

/** Declares a GET, for keys with coordination_read. */
export function read<Query = unknown, R extends Fields = Fields>({ wait, ...definition }: Read<Query, R>): Route {
  const base = { ...definition, method: 'GET', permission: 'coordination_read', idempotency: 'never' } as const;
  if (!wait) return route(base);
  const query = ((base.query ?? fields({})) as Joi.ObjectSchema).keys({ waitSeconds });
  return route({ ...base, query, hold: (input) => holdRead(wait, input) });
}

/** The room whose script answers. */
export function roomOf({ script }: Pick<Route, 'script'>): string {
  return script.split('/', 1)[0] ?? '';
}

/** Whether the call is made in a space. */
export function isOfSpace({ permission }: Pick<Route, 'permission'>): boolean {
  return permission !== 'any' && permission !== 'key_admin';
}

/** The full path, `/v1/spaces/:spaceId/mailboxes/:mailboxId`. */
export function patternOf(route: Pick<Route, 'permission' | 'path'>): string {
  return `/v1${isOfSpace(route) ? '/spaces/:spaceId' : ''}${route.path}`;
}

/** The names of a route's path parameters, without the space. */
export function pathNames({ path }: Pick<Route, 'path'>): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** Holds a read with `waitSeconds`. When the time is up, it answers the record as it is then. */
function holdRead<Query, R extends Fields>(
  { on, isOver, outlasts }: Wait<Query, R>,
  input: Input<Query>,
): LongPoll | undefined {
  const { waitSeconds } = input.query as { readonly waitSeconds: number };
  if (waitSeconds === 0) return undefined;
  let isFirst = true;
  let first: Answered<R> | undefined;
  return {
    waitSeconds,
    topic: typeof on === 'string' ? param(input, on) : on(input),
    isShared: true,
    isOver: (result) => {
      const reply = result.reply as Answered<R>;
      if (isFirst) first = reply;
      isFirst = false;
      return isOver(reply, input, first);
    },
    outlasts: ({ code }) => {
      isFirst = false;
      return outlasts?.(code, input, first) === true;
    },
  };
}
