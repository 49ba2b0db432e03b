import { isObject } from '../call/read-input.ts';

/** The extension with which a client takes a task for an answer, and asks for it until it has ended. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** The requests of the extension. Nothing is sent to a task: what people are asked they answer elsewhere. */
export const taskMethods = ['tasks/get', 'tasks/cancel'] as const;

/** A message looked at every five seconds is 12 requests a minute. */
const pollIntervalMs = 5_000;

type Message = Readonly<Record<string, unknown>>;

const endedBadly: ReadonlySet<unknown> = new Set(['FAILED', 'REJECTED', 'EXPIRED']);

/** Whether a message ended without being done: an error for whom waits for it. A cancelled one was not wanted any more. */
export const isFailure = ({ state }: Message): boolean => endedBadly.has(state);

/** The members of a task that say how its message stands. */
export function taskOf(message: Message): Readonly<Record<string, unknown>> {
  const { id, createdAt, claimedAt, finishedAt, reason, lastError } = message;
  const status = statusOf(message);
  const why = status === 'cancelled' ? reason : lastError;
  return {
    taskId: id,
    status,
    statusMessage: typeof why === 'string' ? `${message['state']}: ${why}` : message['state'],
    createdAt,
    lastUpdatedAt: finishedAt ?? claimedAt ?? createdAt,
    // A message that has not ended is kept; one that has, for as long as its plan says.
    ttlMs: null,
    pollIntervalMs,
  };
}

function statusOf(message: Message): 'working' | 'input_required' | 'completed' | 'cancelled' {
  if (message['state'] === 'CANCELLED') return 'cancelled';
  if (message['state'] === 'ACKED' || isFailure(message)) return 'completed';
  const { question } = message;
  return isObject(question) && question['state'] === 'OPEN' ? 'input_required' : 'working';
}
