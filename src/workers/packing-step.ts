import type { Logger } from 'pino';
import type { Journal } from '../event/journal.ts';
import type { Store } from '../redis/connection.ts';
import type { Scripts } from '../redis/scripts.ts';

/** The parts that packing needs. */
export interface PackingParts {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly journal: Journal;
  readonly log: Logger;
}

/** For tests and tools: packs what is older than that, all of it, without pauses. */
export interface PackNow {
  readonly sealAfterMs?: number;
  /** For messages: those that are not over so long after they were sent are passed over. */
  readonly patienceMs?: number;
  /** Not only whole segments. */
  readonly isAll?: boolean;
  readonly size?: number;
}

/** `inMs`: there is nothing more to pack for so long. */
export interface Step {
  readonly isPacked?: boolean;
  readonly inMs?: number;
}
