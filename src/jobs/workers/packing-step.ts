import type { Logger } from 'pino';
import type { Store } from '../../engine/redis/connection.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import type { Journal } from '../../primitives/event/journal.ts';

/** The parts that packing needs. */
export interface PackingParts {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly journal: Journal;
  readonly log: Logger;
}

/** For tests and tools: packs everything older than `sealAfterMs`, without pauses. */
export interface PackNow {
  readonly sealAfterMs?: number;
  /** Messages still unfinished this long after they were sent are skipped. */
  readonly patienceMs?: number;
  /** Also packs segments that are not full. */
  readonly isAll?: boolean;
  readonly size?: number;
}

/** inMs: how long there is nothing more to pack. */
export interface Step {
  readonly isPacked?: boolean;
  readonly inMs?: number;
}
