import { iso } from '../../engine/declare/field.ts';
import type { Refusal } from '../../engine/redis/scripts.ts';
import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';

const lostHolds: Record<string, (at: string) => string> = {
  HOLD_WAITING: () => 'the hold is still WAITING, and its token holds nothing yet: wait until it is HELD, or cancel it',
  HOLD_RELEASED: (at) => `the hold was released at ${at}, and its units are others’: stop, and acquire again`,
  HOLD_LAPSED: (at) => `the lease of the hold ended at ${at}, and its units are others’: stop, and acquire again`,
  HOLD_CANCELLED: (at) => `the hold was cancelled at ${at}, before it was granted: acquire again`,
  HOLD_EXPIRED: (at) => `the hold was not granted within its ttlSeconds, which ended at ${at}: acquire again`,
  HOLD_NOT_ISSUED: () => 'this token was never issued for this hold: send the token that acquire answered with it',
};

/** A moment in a detail; `…` in the description of an error, which has no details. */
const timeIn = (word: string | undefined): string => (/^\d+$/.test(word ?? '') ? iso(word) : '…');

/** How a claim ended, by the outcome of its attempt. */
const endsOfClaims: Record<string, (attempt: string, at: string) => string> = {
  LEASE_EXPIRED: (attempt, at) => `the lease of this claim, attempt ${attempt}, ended at ${at}`,
  RELEASED: (attempt, at) => `this claim, attempt ${attempt}, was released by an operator at ${at}`,
  RETURNED: (attempt, at) => `this claim, attempt ${attempt}, was given back at ${at}`,
  UNTRIED: (attempt, at) => `this claim, attempt ${attempt}, was given back untried at ${at}`,
  SUSPENDED: (attempt, at) => `this claim, attempt ${attempt}, was suspended at ${at}`,
  ASKED: (attempt, at) => `this claim, attempt ${attempt}, ended with a question at ${at}`,
  REJECTED: (attempt, at) => `this claim, attempt ${attempt}, rejected the message at ${at}`,
  ACKED: (attempt, at) => `this claim, attempt ${attempt}, completed the message at ${at}`,
  EXPIRED: (attempt, at) => `this claim, attempt ${attempt}, ended with the deadline of the message at ${at}`,
  CANCELLED: (attempt, at) => `this claim, attempt ${attempt}, ended at ${at}, as the message was cancelled`,
  EARLIER: () => 'the claim of this token has ended',
};

/** What the message is now. */
const statesNow: Record<string, (at: string, attempts: string, reason: string) => string> = {
  CLAIMED: (at, attempts) => `the message was claimed again at ${at} as attempt ${attempts}`,
  READY: () => 'the message is READY for another attempt',
  DELAYED: (at) => `the message is DELAYED until ${at}`,
  BLOCKED: () => 'the message is BLOCKED',
  ACKED: (at, attempts) => `another claim, attempt ${attempts}, completed the message at ${at}`,
  REJECTED: (at, attempts) => `another claim, attempt ${attempts}, rejected the message at ${at}`,
  FAILED: (at, _, reason) => `the message is FAILED since ${at} (${reason})`,
  EXPIRED: (at) => `the message is EXPIRED since ${at}`,
  CANCELLED: (at, _, reason) => `the message is CANCELLED since ${at} (${reason})`,
};

/** Ends of a claim that say what the message is now. */
const isWhole: ReadonlySet<string> = new Set(['ACKED', 'REJECTED', 'EXPIRED']);

/** The message of CLAIM_LOST from its detail (lua/mailbox/_claim.lua, lua/pool/_hold.lua). */
function claimLost(detail: string): string {
  const [how = '', first = '', second = '', state = '', at = '', attempts = '', reason = ''] = detail.split(' ');
  const ofHold = lostHolds[how]?.(timeIn(first));
  if (ofHold !== undefined) return ofHold;
  const ended = endsOfClaims[how]?.(first, timeIn(second));
  if (how === 'NOT_ISSUED')
    return 'this token was never issued for this message: send the token that recv answered with it';
  if (ended === undefined) return 'the token holds no claim: it has ended as the message says, or was never issued';
  const isNow = isWhole.has(how) && how === state ? undefined : statesNow[state]?.(timeIn(at), attempts, reason);
  const parts = [ended, isNow].filter((part) => part !== undefined);
  return `${parts.join('; ')}: ${how === 'ACKED' ? 'there is nothing left to do' : 'drop the work'}`;
}

export const mailboxErrors: ErrorTable = {
  MAILBOX_NOT_FOUND: advised('look the id up with mailbox_list', 404, (field) =>
    field === 'mailboxes'
      ? 'no space of the organization has all of these mailboxes: mailboxes must be ids of one space; name it in spaces'
      : `there is no such mailbox in this space${field === '' ? '' : `: ${field.replace('query.', 'query parameter ')} must be the id of one`}`,
  ),
  MESSAGE_NOT_FOUND: entry(
    404,
    (field) =>
      `there is no such message in this space${field === '' ? '' : `: ${field} must name messages that exist`}`,
  ),
  MAILBOX_CONFLICT: advised(
    'use another name, or leave out what differs to take the mailbox as it is',
    409,
    (detail) => {
      const [field = '', id, ...value] = detail.split(' ');
      const is = value.join(' ') === '' ? 'no recipientId' : `the ${field} ${value.join(' ')}`;
      return `the mailbox ${id} of this name has ${is}: leave ${field} out to use it as it is, or take another name`;
    },
  ),
  PREREQUISITE_FAILED: advised(
    'find out why it failed; have its work done anew and name that in after, or send without it',
    409,
    (detail) => {
      const [kind, id, state = ''] = detail.split(' ');
      return `the ${kind} ${id} of after is ${state}: send with onFailure RUN, or name in after what succeeds in its place; a message can also be requeued`;
    },
  ),
  DEPENDENTS_FULL: entry(409, (detail) => {
    const [kind, id, limit = ''] = detail.split(' ');
    return `${limit} messages wait for the ${kind} ${id} already: send again once it has ended`;
  }),
  SUSPENSIONS_FULL: advised(
    'finish the message, and send what is left as messages of its own',
    409,
    (limit) =>
      `the message was suspended ${limit} times already: complete it, and send the rest of its work as new messages`,
  ),
  LEASE_LIMIT_EXCEEDED: entry(400, (limit) => `leaseSeconds must not exceed the space's maxLeaseSeconds of ${limit}`),
  RECIPIENT_MISMATCH: entry(409, "holder must be the inbox's recipientId"),
  CLAIM_LOST: advised(
    'you hold nothing by this token: do what the message says; if what you had is lost, drop it and publish nothing',
    409,
    claimLost,
  ),
  RESULT_CONFLICT: advised(
    'the message is done: leave it as it is',
    409,
    (at) =>
      `this token completed the message at ${timeIn(at)} with another result.payload, which stands: leave it out, or send the same`,
  ),
  MESSAGE_FINISHED: entry(409, (state) => `the message is ${state}: only one that has not ended can be cancelled`),
  MESSAGE_NOT_CLAIMED: entry(
    409,
    (state) => `the message is ${state}: only the claim of a CLAIMED message can be released`,
  ),
  MESSAGE_NOT_REQUEUABLE: entry(
    409,
    (state) => `the message is ${state}: only a FAILED, REJECTED, EXPIRED or CANCELLED message can be requeued`,
  ),
  MAILBOX_NOT_EMPTY: entry(409, (detail) => {
    const [count, what] = detail.split(' ');
    return what === 'groups'
      ? `the mailbox delivers the tasks of ${count} undecided groups: delete it when they are decided`
      : `the mailbox holds ${count} queued or in-progress messages: purge or finish them first`;
  }),
  BACKLOG_FULL: advised('the queue is full: work on it, or send later', 409, (detail) => {
    const [what, limit] = detail.split(' ');
    return what === 'mailbox'
      ? `the mailbox holds its backlogLimit of ${limit} queued and claimed messages: send again once one is finished, or to a mailbox with a higher backlogLimit`
      : `the space holds its maxBacklog of ${limit} queued and claimed messages: send again once one is finished, or raise maxBacklog with PUT /limits`;
  }),
  TIMERS_FULL: advised(
    'leave out deadline, delaySeconds or settleBy if you sent one; otherwise try later',
    409,
    (limit) =>
      `the space has its maxArmedTimers of ${limit} deadlines, delays, settleBy moments and open questions: leave out deadline, delaySeconds or settleBy, retry once some have passed, or raise maxArmedTimers with PUT /limits`,
  ),
  RETAINED_BYTES_EXCEEDED: advised(
    'the space is full: finish work, or have what is finished removed',
    409,
    (limit) =>
      `the space keeps no more than ${limit} bytes (maxRetainedBytes, or the plan's): remove what is finished with POST /mailboxes/{mailboxId}/purge and finished, delete notes, or raise maxRetainedBytes with PUT /limits`,
  ),
  ACTIVE_TASKS_LIMITED: entry(
    409,
    (limit) =>
      `the organization has its plan's ${limit} pending and running tasks: send again once one has ended, or move to a larger plan`,
  ),
  ACTIVE_RUNS_LIMITED: entry(
    409,
    (limit) =>
      `the organization has its plan's ${limit} active runs: use a scopeId that exists, or retry when a run has ended`,
  ),
  MESSAGES_DAMAGED: advised('nobody can read it: say so', 500, (detail) => {
    const [first = '', last = '', cursor] = detail.split(' ');
    const rest = cursor === undefined ? 'all others are as before' : `cursor=${cursor} continues after them`;
    return `the store has damaged the messages ${first} to ${last}: tell the operator; ${rest}`;
  }),
  CONCURRENCY_LIMITED: entry(
    429,
    (limit) =>
      `the organization has its plan's ${limit} agents at once, claims and units of pools together: retry when one has ended`,
  ),
};

/**
 * The detail of a list's refusal. For MESSAGES_DAMAGED, the last word, the last damaged id, is replaced with the cursor
 * after it.
 */
export function damagedDetail({ code, detail }: Refusal, cursorBehind: (id: string) => string | null): string {
  const [first = '', last = '', behind] = detail.split(' ');
  if (code !== 'MESSAGES_DAMAGED' || behind === undefined) return detail;
  return `${first} ${last} ${cursorBehind(behind)}`;
}
