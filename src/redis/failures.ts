import { Refusal, StoreUnavailable } from './scripts.ts';

/** For `catch`: one refusal is the answer null, everything else stays an error. */
export function unless(code: string) {
  return (error: unknown): null => {
    if (error instanceof Refusal && error.code === code) return null;
    throw error;
  };
}

/** A command outside the scripts fails as they do: with StoreUnavailable. */
export function orUnavailable<T>(reply: Promise<T>): Promise<T> {
  return reply.catch((error: Error) => {
    throw new StoreUnavailable(error.message);
  });
}
