import type { Answered, Fields } from '../declare/field.ts';
import type { Store } from '../redis/connection.ts';

/** What rooms keep for each running service; each declares its own here, and src/service.ts makes it. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it by declaration merging.
export interface Parts {}

/** What a route works with that serves its requests by itself. */
export interface ServeContext<R extends Fields = Fields> extends Parts {
  readonly org: string;
  readonly apiKeyDigest: string;
  readonly store: Store;
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal;
  /**
   * Runs the route's script with the arguments of `args`, changed by `changes`. `again`: a further look of the same
   * request, which is not charged. `reply` undefined: the script replied with nothing. Throws what it is refused with.
   */
  run(
    changes?: Readonly<Record<string, string | number>>,
    again?: boolean,
  ): Promise<{ readonly reply: Answered<R> | undefined; readonly replayed: boolean }>;
}
