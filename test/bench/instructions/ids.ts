import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

let next = 0;

/** Replaces random ids; the sequence is the same in each run. */
export function nextId(): ReturnType<typeof crypto.randomUUID> {
  const hex = createHash('sha256').update(`${next++}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** From here on every module of this process gets these ids from node:crypto. */
export function replaceRandomIds(): void {
  crypto.randomUUID = nextId;
  syncBuiltinESMExports();
}
