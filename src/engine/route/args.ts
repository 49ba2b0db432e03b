import { randomUUID } from 'node:crypto';

/** The arguments of a script by name. */
export type Args = Readonly<Record<string, string | number>>;

/** The arguments of lib/call that every script takes, with defaults for a call that has no caller. */
export const callArgs = {
  apiKeyDigest: '',
  permission: '',
  spaceId: '',
  rateClass: 'held',
  callName: '',
  idempotencyDigest: '',
  fingerprint: '',
  requestId: '',
  sweptThrough: '',
  openedMessages: '',
};

/** One object of arguments; later ones replace earlier ones. V8 copies so many members to an ordinary object much slower. */
export function joinArgs<T extends Args>(first: T, ...others: readonly (Args | undefined)[]): T & Args {
  return Object.assign(Object.create(null), first, ...others);
}

/** A path parameter. Mounting the routes checks that the path has it. */
export function param({ params }: { readonly params: Readonly<Record<string, string>> }, name: string): string {
  return params[name] ?? '';
}

/** The random part of a UUIDv7, `xxx-yxxx-xxxxxxxxxxxx`; the script prepends its time and the version. */
export function randomTail(): string {
  return randomUUID().slice(15);
}

/** A claim's token: 122 random bits as 32 characters. */
export function randomToken(): string {
  return randomUUID().replaceAll('-', '');
}
