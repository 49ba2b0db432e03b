import { readHead } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { Refusal } from '../redis/scripts.ts';
import type { ApiError } from '../route/errors.ts';
import { isUuid } from '../route/fields.ts';

/**
 * Has the store check the caller, the space and the rates of an invalid call, so that only a caller with access learns what
 * is wrong with it. Resolves with the error and the rate headers; throws the store's refusal. run: runs space/admit; given:
 * the space as sent.
 */
export async function authorizeThenRefuse(
  error: ApiError,
  given: unknown,
  execute: (spaceId: string) => Promise<Reply>,
): Promise<ApiError> {
  const isWellFormed = typeof given === 'string' && isUuid(given);
  const withRates = (head: string): ApiError =>
    error.with({ headers: { ...error.headers, ...readHead(head).headers } });
  try {
    const [head] = await execute(isWellFormed ? given.toLowerCase() : '');
    return withRates(String(head));
  } catch (refusal) {
    if (!isWellFormed && refusal instanceof Refusal && refusal.code === 'SPACE_NOT_FOUND')
      return withRates(refusal.head);
    throw refusal;
  }
}
