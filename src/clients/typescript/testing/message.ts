import type { WorkerMessage } from '../worker/task.ts';
import { TestClock } from './clock.ts';

/** A claimed message with this payload, in its first attempt. `fields` override its fields. */
export function testMessage<Payload = unknown, Result = unknown>(
  payload: Payload,
  fields: Partial<WorkerMessage<Payload, Result>> = {},
  clock = new TestClock(),
): WorkerMessage<Payload, Result> {
  const { attempt = 1 } = fields;
  const message: WorkerMessage = {
    id: crypto.randomUUID(),
    mailboxId: crypto.randomUUID(),
    scopeId: crypto.randomUUID(),
    taskId: null,
    groupId: null,
    taskKey: null,
    state: 'CLAIMED',
    reason: null,
    priority: 0,
    key: null,
    attempts: attempt,
    maxAttempts: 5,
    lastError: null,
    progress: null,
    workKey: null,
    after: [],
    onFailure: null,
    requires: null,
    blockedBy: [],
    holds: [],
    consumptions: [],
    question: null,
    suspension: null,
    attemptSeconds: null,
    attemptEndsAt: null,
    payload,
    deadline: null,
    readyAt: null,
    holder: 'test',
    holderSession: 'test',
    claimedAt: clock.in(0),
    leaseExpiresAt: clock.in(30),
    result: null,
    createdAt: clock.in(0),
    finishedAt: null,
    traceparent: null,
    tracestate: null,
    token: crypto.randomUUID(),
    attempt,
    leaseSeconds: 30,
  };
  return { ...message, ...fields, payload } as WorkerMessage<Payload, Result>;
}
