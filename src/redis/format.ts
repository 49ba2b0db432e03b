import type { Store } from './connection.ts';
import { within } from './failures.ts';

/** Raised by a version that would misread what the one before has written, or whose own records that one would. */
const format = '3';
const formatKey = 'muster:format';
/** A store that does not tell it by then takes no calls either. */
const patienceMs = 500;

/** The store was written by a version that this one must not share it with. */
export class OtherFormat extends Error {}

/** Says in which format a store is written: beside the name of its first organization. */
export async function markFormat(store: Store): Promise<void> {
  await store.set(formatKey, format, 'NX');
}

/**
 * Before the first call: versions that share a store must read and write it alike. A store that cannot be asked now
 * passes.
 *
 * @throws OtherFormat
 */
export async function checkFormat(store: Store): Promise<void> {
  const found = await within(patienceMs, store.get(formatKey)).catch(() => null);
  if (found === null || found === format) return;
  throw new OtherFormat(
    `the store is written in format ${found}, and this version of Muster reads and writes format ${format}: ` +
      'run the version that wrote it, or use another store',
  );
}
