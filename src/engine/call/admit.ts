import type { Reply } from '../declare/value.ts';
import { Refusal } from '../redis/scripts.ts';
import type { ApiError } from '../route/errors.ts';
import { isUuid } from '../route/fields.ts';
import { readNote } from '../route/note.ts';

/**
 * Has the store check the caller, the space and the rates of an invalid call, so that only a caller with access learns what
 * is wrong with it. Resolves with the error and the rate headers; throws the store's refusal. run: runs space/admit; given:
 * the space as sent.
 */
export async function admitMistake(
  error: ApiError,
  given: unknown,
  run: (spaceId: string) => Promise<Reply>,
): Promise<ApiError> {
  const isWellFormed = typeof given === 'string' && isUuid(given);
  const withRates = (note: string): ApiError =>
    error.with({ headers: { ...error.headers, ...readNote(note).headers } });
  try {
    const [note] = await run(isWellFormed ? given.toLowerCase() : '');
    return withRates(String(note));
  } catch (refusal) {
    if (!isWellFormed && refusal instanceof Refusal && refusal.code === 'SPACE_NOT_FOUND')
      return withRates(refusal.note);
    throw refusal;
  }
}
