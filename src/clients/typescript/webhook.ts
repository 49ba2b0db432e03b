import type { Event } from './types.ts';

/** A webhook message whose signature has been verified. */
export interface WebhookMessage {
  /** The event's type; `destination.test` for a test. */
  readonly type: Event['type'] | 'destination.test';
  /** When the event happened. */
  readonly timestamp: string;
  /** The event as in the journal. */
  readonly data: Event;
}

/** Headers in the forms of fetch, Node's http and most frameworks. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How old, or how far in the future, a message may be; default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** The current time in epoch milliseconds; default: the clock's. */
  readonly now?: number | undefined;
}

/** The message has no valid signature, or its timestamp is too far from now. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/**
 * Verifies that a webhook message is Muster's (Standard Webhooks 1.0), and returns it. Pass the body exactly as received:
 * parsed and serialized again, it may differ. Messages may come twice, so drop a `data.eventId` that you have seen.
 *
 * @param secret the destination's `signingSecret`; several while one is being replaced
 * @throws WebhookError if no signature matches a secret, the timestamp is outside the tolerance, or a header is missing
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookMessage> {
  const named = isHeaders(headers)
    ? headers
    : new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const header = (name: string): string => {
    const value = named.get(name);
    if (typeof value !== 'string' || value === '') throw new WebhookError(`the header ${name} is missing`);
    return value;
  };
  const [id, timestamp, signatures] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now / 1000 - seconds) <= toleranceSeconds))
    throw new WebhookError(`webhook-timestamp is more than ${toleranceSeconds} seconds from now`);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const given = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? (bytesOf(one.slice(3)) ?? []) : []));
  for (const one of typeof secret === 'string' ? [secret] : secret)
    if (await isSignedWith(one, given, signed)) return JSON.parse(text) as WebhookMessage;
  throw new WebhookError('no signature matches this secret');
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

async function isSignedWith(
  secret: string,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0) throw new TypeError('secret must be a signingSecret: whsec_ and base64');
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  // Compares in constant time.
  for (const signature of signatures) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true;
  return false;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
