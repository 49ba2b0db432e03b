import { randomUUID } from 'node:crypto';

/** The random part of a UUIDv7, `xxx-yxxx-xxxxxxxxxxxx`; the script prepends its time and the version. */
export function randomTail(): string {
  return randomUUID().slice(15);
}

/** A claim's token: 122 random bits as 32 characters. */
export function randomToken(): string {
  return randomUUID().replaceAll('-', '');
}
