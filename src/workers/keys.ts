import type { KeyTable } from '../redis/keys.ts';

/** BullMQ's keys, all in one hash slot. Never the source of truth: they may be deleted at any time. */
export const queuePrefix = '{muster}:queue';

export type QueueName = 'sweep' | 'deliver';

export const workerKeys = {
  queue: {
    pattern: '{muster}:queue:*',
    type: 'hash',
    holds: "BullMQ's own: jobs of the workers, rebuilt from the other keys when deleted",
    goes: 'by itself',
  },
  round: {
    pattern: 'muster:round:<job>',
    type: 'string',
    holds: 'the moment at which a job that comes round (repair, outbox, retain, snapshot) is due next',
    goes: 'never; deleted, the job is done at once (a snapshot after its interval)',
  },
} satisfies KeyTable;
