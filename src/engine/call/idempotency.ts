import { hash } from 'node:crypto';
import { ApiError, apiError } from '../route/errors.ts';
import type { Route } from '../route/route.ts';
import type { Call, Origin } from './call.ts';

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/**
 * The first characters of a SHA-256, 6 bits each. Idempotency keys get 132 bits, because callers choose them. A fingerprint
 * gets 60: a caller who makes two of its own requests collide only gets the answer of the other one.
 */
function digest(text: string, characters: number): string {
  return hash('sha256', text, 'base64url').slice(0, characters);
}

/** Throws IDEMPOTENCY_KEY_INVALID. */
export function checkIdempotencyKey(key: unknown, origin: Origin): void {
  if (typeof key !== 'string' || !visibleAscii.test(key)) throw ofKey(apiError('IDEMPOTENCY_KEY_INVALID'), origin);
}

/** The error with the key's name in this call. */
const ofKey = ({ status, code, message }: ApiError, { key }: Origin): ApiError =>
  new ApiError(status, code, message.replace('the header Idempotency-Key', key));

/** Sets the script's idempotency arguments from the key, if the route uses it. Throws IDEMPOTENCY_KEY_*. */
export function readIdempotency(call: Call, route: Route, args: Record<string, string | number>): void {
  const { idempotencyKey, origin } = call;
  if (idempotencyKey === undefined || route.idempotency === 'never') {
    if (route.idempotency === 'required') throw ofKey(apiError('IDEMPOTENCY_KEY_REQUIRED'), origin);
    return;
  }
  if (!call.hasDerivedKey) checkIdempotencyKey(idempotencyKey, origin);
  args['idempotencyDigest'] = digest(String(idempotencyKey), 22);
  args['fingerprint'] = digest(call.identity, 10);
}
