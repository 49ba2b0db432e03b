import { apiError } from '../../engine/route/errors.ts';

const cursorForm = /^([0-9a-f]{8})\.([0-9A-Za-z]+)\.((?:0|[1-9]\d{0,14})-(?:0|[1-9]\d{0,18}))$/;

/** A position in a space's journal; `epoch` is the journal's generation, which a restore renews. */
export interface Position {
  readonly epoch: string;
  /**
   * A stream id; '' for the oldest entry kept, `latest` for the end of the journal, `since <ms>` for a moment, `scope <id>`
   * for the creation of a scope.
   */
  readonly entryId: string;
}

/**
 * Encodes a cursor, opaque to callers. It contains the end of the space's id, so that a cursor of another space is refused.
 */
export function writeCursor(spaceId: string, epoch: string, entryId: string): string {
  return Buffer.from(`${spaceId.slice(-8)}.${epoch}.${entryId}`).toString('base64url');
}

/**
 * Decodes a cursor; without one, reads from `since` or from the beginning. Throws INVALID_CURSOR for a malformed cursor or
 * one of another space.
 */
export function readCursor(spaceId: string, cursor: string | undefined, since?: number): Position {
  // All events are later than 1970, and a stream id's time cannot be negative.
  if (cursor === undefined) return { epoch: '', entryId: since === undefined || since <= 0 ? '' : `since ${since}` };
  if (cursor === 'latest') return { epoch: '', entryId: 'latest' };
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, space, epoch = '', entryId = ''] = cursorForm.exec(text) ?? [];
  // Base64 decoding skips invalid characters, so encode again and compare.
  if (space !== spaceId.slice(-8) || writeCursor(spaceId, epoch, entryId) !== cursor) throw apiError('INVALID_CURSOR');
  return { epoch, entryId };
}
