import { randomUUID } from 'node:crypto';

/** The random part of a UUIDv7, `xxx-yxxx-xxxxxxxxxxxx`; the script puts its own time and the version in front. */
export function randomTail(): string {
  return randomUUID().slice(15);
}

/** 122 random bits as 32 characters: a claim's token. */
export function randomToken(): string {
  return randomUUID().replaceAll('-', '');
}
