// Shared by the tests that compare calls in one FCALL with the same calls one after the other.
import { hash } from 'node:crypto';
import type { Reply } from '../../src/engine/declare/value.ts';
import type { World } from '../support/world.ts';

/** The digest of a key, as in engine/route/caller.ts. */
export const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** The fingerprint of a request, as in engine/call/call-args.ts. */
export const fingerprint = (text: string): string => digest(text).slice(0, 10);

interface CallOf {
  readonly script: string;
  readonly callName: string;
  /** '' for none. */
  readonly idempotencyDigest: string;
  readonly fingerprint: string;
  readonly args: Readonly<Record<string, string | number>>;
}

/** Calls a script like a request of the world. */
export function callIn(
  world: World,
  { script, callName, idempotencyDigest, fingerprint, args }: CallOf,
): Promise<Reply> {
  return world.service.scripts.execute(script, world.org, {
    apiKeyDigest: hash('sha256', world.apiKey, 'base64url'),
    permission: 'coordination_write',
    rateClass: 'ordinary',
    callName,
    idempotencyDigest,
    fingerprint,
    sweptThrough: '',
    openedMessages: '',
    spaceId: world.spaceId,
    requestId: '',
    ...args,
  });
}

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A message's place in its queue. Its last digits order events within a millisecond, so they differ between runs. */
const places = /("[0-9a-f]{8}-[0-9a-f]{4}-7)[0-9a-f]{3} "/g;

/**
 * Replaces each id by its order of first appearance, because two runs create different ids; of a place, the time is
 * kept.
 */
export function withNumberedIds(value: unknown): unknown {
  const names = new Map<string, string>();
  const text = JSON.stringify(value).replace(uuids, (id) => {
    if (!names.has(id)) names.set(id, `#${names.size}`);
    return names.get(id) ?? '';
  });
  return JSON.parse(text.replace(places, '$1"'));
}
