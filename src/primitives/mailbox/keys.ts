import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Mailbox, Message } from './records.ts';

const untilFinished = 'with its last message';

export const mailboxKeys = {
  mailboxes: {
    pattern: 'muster:{org}:<spaceNumber>:mailboxes',
    type: 'zset',
    holds: 'ids of the mailboxes, in order of creation (score 0)',
    goes: 'each entry with its mailbox',
  },
  mailboxNames: {
    pattern: 'muster:{org}:<spaceNumber>:mailboxNames',
    type: 'zset',
    holds: '`name}mailboxId` of the mailboxes, by name, then in order of creation (score 0)',
    goes: 'each entry with its mailbox',
  },
  mailbox: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>',
    type: 'hash',
    holds: fieldsIn(
      Mailbox,
      'ready, claimed, failed: messages in that state; `failedTotal` and so on: how often that has happened; goneTotal: messages removed or packed; unackedTotal: claims that ended other than by a completion; undecidedGroups: the number of those that deliver their tasks through it',
    ),
    goes: 'when it is deleted',
  },
  mailboxFigures: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:figures',
    type: 'hash',
    holds:
      'what was counted of its messages, as `period sent claimed acked rejected failed expired cancelled`: `m0` to `m59` by minutes since 1970, each at its remainder by 60; `t0` to `t143` by ten minutes, at their remainder by 144; base: the counters when figuresMinute began',
    goes: 'when the mailbox is deleted; each place is used again',
  },
  mailboxErrors: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:errors:<place>',
    type: 'zset',
    holds:
      'at most 100 errors of attempts that failed on a UTC day, without ids and numbers, scored by 131,072 times their count and the second of the day at which they came last; the member `` is scored by the days since 1970, below 0; place: these days modulo 7',
    goes: 'when the mailbox is deleted; each place is used again',
  },
  figures: {
    pattern: 'muster:{org}:<spaceNumber>:figures',
    type: 'hash',
    holds: 'the same of all messages of the space',
    goes: 'each place is used again',
  },
  messages: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:messages',
    type: 'zset',
    holds: 'ids of its messages, in order of creation (score 0)',
    goes: untilFinished,
  },
  ready: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:ready:<scopeId>',
    type: 'zset',
    holds:
      'ids of READY messages of the scope and below, each after its `place` if it has one, scored by when they became ready, less 10^13 for each step of priority',
    goes: 'with its last READY message',
  },
  delayed: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:delayed',
    type: 'zset',
    holds: 'ids of its DELAYED messages, scored by when they become ready',
    goes: 'with its last DELAYED message',
  },
  blocked: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:blocked',
    type: 'zset',
    holds: 'ids of its BLOCKED messages, scored by when they began to wait',
    goes: 'with its last BLOCKED message',
  },
  keyed: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:keyed:<key>',
    type: 'zset',
    holds: 'ids of its messages with this key, in order of creation (score 0)',
    goes: 'each entry with its message',
  },
  keyActive: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:keyActive:<key>',
    type: 'zset',
    holds:
      'ids of the messages with this key that are READY, CLAIMED, between two attempts, or wait for units or for an answer without yielding the key (score 0), at most perKey',
    goes: 'each entry with the end of its message',
  },
  keyWaiting: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:keyWaiting:<key>',
    type: 'zset',
    holds:
      'ids of the messages that are BLOCKED by this key, each after its `place`, scored by when they began to wait for it',
    goes: 'with its last one',
  },
  waitedKeys: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:waitedKeys',
    type: 'zset',
    holds: 'the keys that BLOCKED messages wait for, in order (score 0)',
    goes: 'each entry with the last message that waits for it',
  },
  parked: {
    pattern: 'muster:{org}:<spaceNumber>:parked:<resourceId>:<mailboxId>:<scopeId>',
    type: 'zset',
    holds:
      'messages of this mailbox and scope that are BLOCKED by this pool or allowance, as they were in :ready, to which they return',
    goes: 'with its last one',
  },
  parkedQueues: {
    pattern: 'muster:{org}:<spaceNumber>:parkedQueues:<resourceId>',
    type: 'zset',
    holds: '`mailboxId scopeId` of the sets of messages that are BLOCKED by this pool or allowance (score 0)',
    goes: 'each entry with its set',
  },
  parkedWalks: {
    pattern: 'muster:{org}:<spaceNumber>:parkedWalks',
    type: 'hash',
    holds:
      'the id of a pool or allowance to where workers go on to free its messages, with tabs between: kind, set, member and the units that are left to that set',
    goes: 'each entry when they have come to the end',
  },
  dependents: {
    pattern: 'muster:{org}:<spaceNumber>:dependents:<place>',
    type: 'list',
    holds:
      'ids of the BLOCKED messages that are after a message or a group, in the order in which they were sent; place: its id, `id#n` after its nth end that left some to the workers, or `id#WAIT` for those that wait until it is ACKED',
    goes: 'when its end has freed or cancelled them',
  },
  decisions: {
    pattern: 'muster:{org}:<spaceNumber>:decisions',
    type: 'hash',
    holds: 'ends that workers have to go on with: the place of a list of dependents to `STATE requestId`',
    goes: 'each entry with its list',
  },
  waits: {
    pattern: 'muster:{org}:<spaceNumber>:waits',
    type: 'hash',
    holds:
      'what messages wait for to the number of their set: `m`, `g` or `s` and the id of a message, group or scope, or `n`, the SHA-1 of `scopeId key` of a note, a colon and its version',
    goes: 'each entry when it is over, or with the last message that waits for it',
  },
  waiters: {
    pattern: 'muster:{org}:<spaceNumber>:waiters:<setNumber>',
    type: 'zset',
    holds: 'ids of the BLOCKED messages that wait for one thing, scored by when they began to',
    goes: 'with its last one',
  },
  passed: {
    pattern: 'muster:{org}:<spaceNumber>:passed',
    type: 'hash',
    holds:
      'while something is paused: `mailboxId scopeId` of a queue to the last of its paused READY messages that receives pass over',
    goes: 'when anything is paused or resumed',
  },
  turns: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:turns',
    type: 'zset',
    holds:
      'root scopes with READY messages, in the order in which a receive for `*` serves them; only after such a receive',
    goes: 'with its last READY message',
  },
  heads: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:heads',
    type: 'zset',
    holds:
      'root scopes with READY messages, scored by when the oldest became ready, or earlier while the next one has a priority',
    goes: 'with its last READY message',
  },
  oldestReady: {
    pattern: 'muster:{org}:<spaceNumber>:oldestReady',
    type: 'zset',
    holds: 'mailboxes with READY messages, scored by the first of those',
    goes: 'with the last READY message of the space',
  },
  claims: {
    pattern: 'muster:{org}:<spaceNumber>:claims',
    type: 'zset',
    holds:
      'ids of all CLAIMED messages, scored by the end of their lease; they share one timer, `mailbox:lease:spaceNumber:`',
    goes: 'with the last CLAIMED message of the space',
  },
  tombstones: {
    pattern: 'muster:{org}:<spaceNumber>:tombstones',
    type: 'list',
    holds: '`finishedAt messageId` of tasks whose message was removed, in the order in which they finished',
    goes: 'each entry with its tombstone, max(retention window, 30 days) after the message',
  },
  requeueable: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:requeueable:<state>',
    type: 'zset',
    holds: 'ids of its messages in that final state, in order of creation (score 0); ACKED ones are in none',
    goes: 'each entry with its message, or when the message is requeued',
  },
  workKeys: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:workKeys',
    type: 'hash',
    holds: 'workKey to messageId',
    goes: 'each entry with its message',
  },
  message: {
    pattern: 'muster:{org}:<spaceNumber>:message:<messageId>',
    type: 'hash',
    holds: fieldsIn(
      Message,
      'prerequisites: the policy, then each as `m`, `g` or `s` and its id, with `=STATE` once it has ended (mailbox/_prerequisite); suspended, awaited, awaitedNote: its last suspension (mailbox/_suspension); taskId: absent where it is the id of the message, empty where there is no task; pastAttempts: what became of its last attempts (mailbox/_claim); a tombstone has tombstoneOf, its mailbox, and what says how its task ended. Made at the moment of its id',
    ),
    goes: "when the plan's retention window has passed since finishedAt; the tombstone of its task max(window, 30 days) later",
  },
  scopeMessages: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:messages',
    type: 'zset',
    holds: 'ids of its messages and of the tombstones of its tasks, in order of creation (score 0)',
    goes: 'each entry with its message or tombstone',
  },
  mailboxSegments: {
    pattern: 'muster:{org}:<spaceNumber>:mailbox:<mailboxId>:segments',
    type: 'zset',
    holds: 'for each segment with messages of it their ids, newest first, with blanks between (score 0)',
    goes: 'each entry with its messages',
  },
  messageSegments: {
    pattern: 'muster:{org}:<spaceNumber>:messageSegments',
    type: 'zset',
    holds:
      '`last first number digest count kind`: the segments of packed messages in order (score 0), with the ids of their first and last one; kind: MESSAGES, or TOMBSTONES of their tasks',
    goes: 'each entry with its segment',
  },
  messageSegment: {
    pattern: 'muster:{org}:<spaceNumber>:messageSegment:<segmentNumber>',
    type: 'string',
    holds:
      'the messages of a segment, deflated: a line for each, `id` and a JSON array of the fields and values of its record',
    goes: "when the plan's retention window has passed since the last of them finished; its tombstones max(window, 30 days) later",
  },
  messageSegmentEnds: {
    pattern: 'muster:{org}:<spaceNumber>:messageSegmentEnds:<kind>',
    type: 'zset',
    holds: 'the entries of :messageSegments of a kind, scored by when the last message of the segment finished',
    goes: 'each entry with its segment',
  },
  unpackedMessages: {
    pattern: 'muster:{org}:<spaceNumber>:unpackedMessages',
    type: 'zset',
    holds:
      'ids of messages that are no longer as their segment has them, because they were brought back or joined a group (score 0)',
    goes: 'each entry with its segment',
  },
} satisfies KeyTable;
