import type { KeyTable } from '../../engine/library/keys.ts';

/** BullMQ's keys, all in one hash slot. They are never the source of truth, and may be deleted at any time. */
export const queuePrefix = '{muster}:queue';

export type QueueName = 'sweep' | 'deliver';

/** The periodic job that every worker of every version has. */
export const repairJob = 'repair';

export const workerKeys = {
  queue: {
    pattern: '{muster}:queue:*',
    type: 'hash',
    holds: "BullMQ's keys: jobs of the workers, rebuilt from the other keys if deleted",
    goes: 'when BullMQ removes it',
  },
  round: {
    pattern: 'muster:round:<job>',
    type: 'string',
    holds: 'the next due time of a periodic job (repair, outbox, retain, claims, late, pack, snapshot)',
    goes: 'never; if deleted, the job runs immediately (a snapshot after its interval)',
  },
  oldestClaim: {
    pattern: 'muster:oldestClaim',
    type: 'string',
    holds: 'when the oldest claim of all was made, for the metrics; absent if nothing is claimed',
    goes: 'five minutes after a worker has last looked',
  },
  lateDestinations: {
    pattern: 'muster:lateDestinations',
    type: 'string',
    holds: 'the 50 webhook destinations that are the furthest behind, as JSON, for the metrics; absent if none is',
    goes: 'five minutes after a worker has last looked',
  },
} satisfies KeyTable;
