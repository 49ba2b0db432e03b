import type { KeyTable } from '../redis/keys.ts';

/** BullMQ's keys, in one hash slot of their own. Never the source of truth: they may be deleted at any time. */
export const queuePrefix = '{muster}:queue';

export type QueueName = 'sweep' | 'retain' | 'deliver' | 'snapshot';

export const queueKeys = {
  queue: {
    pattern: '{muster}:queue:*',
    type: 'hash',
    holds: "BullMQ's own: jobs of the workers, rebuilt from the other keys when deleted",
    goes: 'by itself',
  },
} satisfies KeyTable;
