import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Destination } from './records.ts';

const withDestination = 'with its destination';

export const webhookKeys = {
  destinations: {
    pattern: 'muster:{org}:<spaceNumber>:destinations',
    type: 'zset',
    holds: 'ids of the webhook destinations, in order of creation (score 0)',
    goes: 'each entry with its destination',
  },
  destination: {
    pattern: 'muster:{org}:<spaceNumber>:destination:<destinationId>',
    type: 'hash',
    holds: fieldsIn(
      Destination,
      'eventTypes: `*` or `,type,prefix.*,`; position: how far it has read the journal; readCount: the number of entries up to there',
    ),
    goes: 'when it is deleted',
  },
  unfinished: {
    pattern: 'muster:{org}:<spaceNumber>:destination:<destinationId>:unfinished',
    type: 'zset',
    holds: 'journal entries that are to be delivered to it, at most 10,000, scored by the time of the next attempt',
    goes: withDestination,
  },
  running: {
    pattern: 'muster:{org}:<spaceNumber>:destination:<destinationId>:running',
    type: 'zset',
    holds: 'those of them that a worker is delivering, scored by the time at which it is considered lost',
    goes: withDestination,
  },
  attempts: {
    pattern: 'muster:{org}:<spaceNumber>:destination:<destinationId>:attempts',
    type: 'hash',
    holds: 'unfinished entry to its number of attempts and, while one is running, a space and its start time',
    goes: withDestination,
  },
  deliveries: {
    pattern: 'muster:{org}:<spaceNumber>:deliveries',
    type: 'stream',
    holds: "one row per attempt (MessagePack); the entry's id contains its time",
    goes: 'entries after max(retention window, 30 days)',
  },
  sending: {
    pattern: 'muster:{org}:<spaceNumber>:sending:<digestAndCaller>',
    type: 'string',
    holds: 'id of the request that is sending a test or redelivery with this Idempotency-Key of this caller',
    goes: 'with its answer, or after 25 seconds',
  },
  outboxSpaces: {
    pattern: 'muster:{org}:outbox',
    type: 'set',
    holds: 'spaces that have destinations',
    goes: 'with the last destination',
  },
  outbox: {
    pattern: 'muster:outbox',
    type: 'set',
    holds: '`org spaceId` of all spaces that have destinations, for the workers; rebuilt if deleted',
    goes: 'with the last destination',
  },
} satisfies KeyTable;
