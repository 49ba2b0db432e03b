import type { Reply } from '../declare/value.ts';
import { Refusal } from '../redis/scripts.ts';
import { readNote } from './envelope.ts';
import { ApiError } from './errors.ts';
import { isUuid } from './fields.ts';

/**
 * A wrong shape is told only to a caller who may call, in a space that exists, within the rates: resolves with the error,
 * which gets the headers of the rates, or throws the refusal. run: runs space/admit.
 */
export async function admitted(
  error: ApiError,
  given: unknown,
  run: (spaceId: string) => Promise<Reply>,
): Promise<ApiError> {
  const wellFormed = typeof given === 'string' && isUuid(given);
  const noted = (note: string): ApiError =>
    new ApiError(error.status, error.code, error.message, { ...error.headers, ...readNote(note).headers });
  try {
    const [note] = await run(wellFormed ? given.toLowerCase() : '');
    return noted(String(note));
  } catch (refusal) {
    if (!wellFormed && refusal instanceof Refusal && refusal.code === 'SPACE_NOT_FOUND') return noted(refusal.note);
    throw refusal;
  }
}
