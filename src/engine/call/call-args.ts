import { hash } from 'node:crypto';
import { callArgs } from '../route/args.ts';
import { allowedBy } from '../route/caller.ts';
import { ApiError, apiError } from '../route/errors.ts';
import type { Route } from '../route/route.ts';
import type { Call, CallParts, Origin } from './call.ts';

/** The arguments of lib/call for a call: who calls, what that needs, how it counts, and how it is recognized again. */
export type CallArgs = { -readonly [Name in keyof typeof callArgs]: string };

/** The arguments of lib/call without those of the Idempotency-Key. */
export function argsOfCall(call: Call, route: Route): CallArgs {
  return {
    ...callArgs,
    apiKeyDigest: call.caller.apiKeyDigest,
    permission: permissionOf(route, call),
    rateClass: rateClassOf(route),
    callName: route.call,
    requestId: call.requestId,
  };
}

export const rateClassOf = ({ rate }: Route): string => rate ?? 'ordinary';

/** The permissions that the caller needs, as the script takes them. Of permissions separated by commas any one will do. */
export function permissionOf(route: Route, call: Call): string {
  const { permission, permissionsFor } = route;
  if (permission === 'any') return '';
  const needed = permissionsFor?.(partsOf(route, call)?.body) ?? [permission];
  const permissions = needed.map((one) => allowedBy(one).join());
  if (needsAllMailboxes(route, call)) permissions.push('mailboxes');
  return permissions.join(' ');
}

function needsAllMailboxes(route: Route, call: Call): boolean {
  if (route.needsAllMailboxes !== 'without mailboxId') return route.needsAllMailboxes === true;
  return partsOf(route, call)?.query['mailboxId'] === undefined;
}

/** The parts as sent; undefined if they cannot be read, which is refused later. */
function partsOf(route: Route, call: Call): CallParts | undefined {
  try {
    return call.parts(route);
  } catch {
    return undefined;
  }
}

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** Adds the arguments of the Idempotency-Key, if the route uses it. Throws IDEMPOTENCY_KEY_*. */
export function addIdempotency(args: CallArgs, call: Call, route: Route): void {
  const { idempotencyKey, origin } = call;
  if (idempotencyKey === undefined || route.idempotency === 'never') {
    if (route.idempotency === 'required') throw ofKey(apiError('IDEMPOTENCY_KEY_REQUIRED'), origin);
    return;
  }
  if (!call.hasDerivedKey) checkIdempotencyKey(idempotencyKey, origin);
  args.idempotencyDigest = digest(String(idempotencyKey), 22);
  args.fingerprint = digest(call.identity, 10);
}

/** Throws IDEMPOTENCY_KEY_INVALID. */
export function checkIdempotencyKey(key: unknown, origin: Origin): void {
  if (typeof key !== 'string' || !visibleAscii.test(key)) throw ofKey(apiError('IDEMPOTENCY_KEY_INVALID'), origin);
}

/** The error with the key's name in this call. */
const ofKey = ({ status, code, message }: ApiError, { key }: Origin): ApiError =>
  new ApiError(status, code, message.replace('the header Idempotency-Key', key));

/**
 * The first characters of a SHA-256, 6 bits each. Idempotency keys get 132 bits, because callers choose them. A fingerprint
 * gets 60: a caller who makes two of its own requests collide only gets the answer of the other one.
 */
function digest(text: string, characters: number): string {
  return hash('sha256', text, 'base64url').slice(0, characters);
}
