import { isObject } from '../../engine/call/read-input.ts';
import { cut } from '../../engine/route/json.ts';

/** The extension with which a client accepts a task as an answer, and polls it until it has ended. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** The requests of the extension. */
export const taskMethods = ['tasks/get', 'tasks/update', 'tasks/cancel'] as const;

/** Polling a message every five seconds makes 12 requests a minute. */
const pollIntervalMs = 5_000;

type Message = Readonly<Record<string, unknown>>;

const endedBadly: ReadonlySet<unknown> = new Set(['FAILED', 'REJECTED', 'EXPIRED']);

/**
 * Whether a message ended without being done, which is an error for those waiting for it. A cancelled message is not an
 * error: nobody wanted it any more.
 */
export const isFailure = ({ state }: Message): boolean => endedBadly.has(state);

/** The members of a task that show the state of its message. */
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
    // A message is kept until it has ended, then for as long as its plan says.
    ttlMs: null,
    pollIntervalMs,
  };
}

/**
 * The question that a message waits for, as a form for the person at the client; its key is the question's id.
 *
 * @param text the message's JSON, with all digits of its numbers
 */
export function inputRequestsOf({ question }: Message, text: string): Readonly<Record<string, object>> {
  if (!isObject(question)) return {};
  const { id, question: asked, options } = question;
  const answer = { type: 'string', title: 'Your answer', ...(Array.isArray(options) && { enum: options }) };
  const requestedSchema = {
    type: 'object',
    properties: { answer, answeredBy: { type: 'string', title: 'Your name', minLength: 1, maxLength: 256 } },
    required: ['answer', 'answeredBy'],
  };
  const message = typeof asked === 'string' ? asked : cut(text, ['question', 'question']);
  return { [String(id)]: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } } };
}

/** The fields of the call that answers the message's question; undefined if nothing in the responses does. */
export function answerIn(responses: Message, { question }: Message): Message | undefined {
  if (!isObject(question) || question['state'] !== 'OPEN') return undefined;
  const response = responses[String(question['id'])];
  // A person who declines leaves the question to others.
  if (!isObject(response) || response['action'] !== 'accept' || !isObject(response['content'])) return undefined;
  const { answer, answeredBy } = response['content'];
  return { questionId: question['id'], answer, answeredBy };
}

function statusOf(message: Message): 'working' | 'input_required' | 'completed' | 'cancelled' {
  if (message['state'] === 'CANCELLED') return 'cancelled';
  if (message['state'] === 'ACKED' || isFailure(message)) return 'completed';
  const { question } = message;
  return isObject(question) && question['state'] === 'OPEN' ? 'input_required' : 'working';
}
