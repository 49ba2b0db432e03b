import type { Response } from '../../engine/call/call.ts';
import { isObject } from '../../engine/call/read-input.ts';
import { refusalOf } from '../../engine/call/refusal.ts';
import { ApiError } from '../../engine/route/errors.ts';
import { elements } from '../../engine/route/json.ts';
import { McpMessage, type McpMessageParts, type Received } from './message.ts';
import { rpcCodes, rpcError } from './rpc.ts';

/** The SDK's own limit. */
const maxMessages = 100;

/**
 * Answers a list of messages, as in versions before 2025-06-18: each is answered, counted and refused separately. An error
 * that would refuse every message refuses the request.
 */
export async function answerBatch(
  messages: readonly unknown[],
  headers: Readonly<Record<string, string>>,
  parts: McpMessageParts,
): Promise<Response> {
  const mistake = await mistakeIn(messages, headers['mcp-protocol-version']);
  const before = await new McpMessage(parts).admit(mistake === undefined ? 'held' : 'ordinary');
  if (mistake !== undefined) throw new ApiError(400, 'VALIDATION_FAILED', mistake, before);
  const texts = elements(`{"list":${parts.request.text}}`, 'list');
  const received = messages.map((message, i) => ({ message, text: texts[i] ?? '', one: new McpMessage(parts, false) }));
  const answers = await Promise.all(received.map((one) => answerOf(one, headers, parts)));
  if (received.every(({ one }) => one.refusal !== undefined)) throw received[0]?.one.refusal;
  const answered = answers.flatMap(({ text }) => text ?? []);
  const { headers: rates } = answers.findLast((answer) => 'RateLimit' in answer.headers) ?? { headers: before };
  if (answered.length === 0) return { status: 202, headers: rates };
  return { status: 200, headers: rates, text: `[${answered.join(',')}]` };
}

async function mistakeIn(messages: readonly unknown[], version: string | undefined): Promise<string | undefined> {
  const { hasBatches } = await import('./protocol.ts');
  if (!hasBatches(version))
    return `MCP-Protocol-Version ${version} has no lists of messages, which were taken away in 2025-06-18: send each message by itself`;
  if (messages.length === 0 || messages.length > maxMessages)
    return `the body must be one message, or a list of 1 to ${maxMessages}`;
  const isHandshake = messages.some((message) => isObject(message) && message['method'] === 'initialize');
  return isHandshake ? 'initialize must be sent by itself, not in a list of messages' : undefined;
}

interface One extends Received {
  readonly one: McpMessage;
}

/** A refused request is answered with a JSON-RPC error; a notification has no answer. */
async function answerOf(
  { message, text, one }: One,
  headers: Readonly<Record<string, string>>,
  { service, request, state }: McpMessageParts,
): Promise<Pick<Response, 'headers' | 'text'>> {
  try {
    return await one.answer({ message, text }, headers);
  } catch (thrown) {
    const { error, answer } = refusalOf(thrown, service, { ...state, requestId: request.requestId });
    const { 'Retry-After': retryAfter, ...rates } = answer.headers;
    const id = isObject(message) ? message['id'] : undefined;
    if (id === undefined) return { headers: rates };
    const data = { code: error.code, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) };
    return { headers: rates, text: rpcError(rpcCodes.refused, error.message, id, data) };
  }
}
