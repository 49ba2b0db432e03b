import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../redis/connection.ts';
import type { Due } from '../redis/due.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import type { ErrorTable } from './errors.ts';
import type { GivingBack } from './giving-back.ts';
import type { OpenRequests } from './open-requests.ts';

/** Room objects that live as long as the service. Rooms add theirs to this interface; src/service.ts creates them. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it by declaration merging.
export interface RoomServices {}

/** The packed records that a call's scripts have asked for so far, as an argument of scripts. */
export interface OpenedRecords {
  readonly text: string;
}

/** Opens packed records for scripts that reply PACKED. */
export interface RecordOpener {
  /** Whether the detail of a PACKED reply asks for records of this kind. */
  isWanted(detail: string): boolean;
  /** Adds the records that the detail asks for to those opened before. */
  openMore(detail: string, before?: OpenedRecords): Promise<OpenedRecords>;
}

export interface CallService {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly due: Due;
  readonly opener: RecordOpener;
  readonly wake: Wake;
  readonly openRequests: OpenRequests;
  readonly givingBack: GivingBack;
  /** The channel on which scripts publish their changes in a space. */
  readonly channel: (org: string, spaceId: string) => string;
  /** PUBLIC_URL; if undefined, callers reach the API where it listens. */
  readonly publicUrl: string | undefined;
  readonly parts: RoomServices;
  readonly log: Logger;
  readonly errors: ErrorTable;
  readonly metrics: Metrics;
}
