import type { Store } from './connection.ts';
import { within } from './failures.ts';

/** Bump when old and new versions can't read each other's records. */
const format = '3';
const formatKey = 'muster:format';
/** A store slower than this accepts no calls either. */
const timeoutMs = 500;

export class OtherFormat extends Error {}

/** Records the format of a store, along with its first organization. */
export async function markFormat(store: Store): Promise<void> {
  await store.set(formatKey, format, 'NX');
}

/**
 * Checks the format before the first call. A store that cannot be read at the moment passes.
 *
 * @throws OtherFormat
 */
export async function checkFormat(store: Store): Promise<void> {
  const found = await within(timeoutMs, store.get(formatKey)).catch(() => null);
  if (found === null || found === format) return;
  throw new OtherFormat(
    `the store is written in format ${found}, and this version of Muster reads and writes format ${format}: ` +
      'run the version that wrote it, or use another store',
  );
}
