import type { Feeds } from '../event/feeds.ts';
import type { Store } from '../redis/connection.ts';
import type { Reply } from '../redis/reply.ts';
import type { Targets } from '../webhook/target.ts';

/** What a route works with that serves its requests by itself. */
export interface ServeContext {
  readonly org: string;
  readonly apiKeyDigest: string;
  readonly store: Store;
  readonly feeds: Feeds;
  readonly targets: Targets;
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal;
  /**
   * Runs the route's script with the arguments of `args`, changed by `changes`. `again`: a further look of the same
   * request, which is not charged. Throws what it is refused with.
   */
  run(
    changes?: Readonly<Record<string, string | number>>,
    again?: boolean,
  ): Promise<{ readonly values: Reply; readonly replayed: boolean }>;
}
