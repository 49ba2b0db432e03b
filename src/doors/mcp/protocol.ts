import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  fromJsonSchema,
  isLegacyRequest,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isObject } from '../../engine/call/read-input.ts';
import { mayLoseDigits } from '../../engine/route/json.ts';
import { guide, instructions } from './guide.ts';
import { answerIn, inputRequestsOf, isFailure, taskMethods, taskOf, tasksExtension } from './tasks.ts';
import { sendAndWaitName, type Tool } from './tools.ts';

/** A tool's answer or refusal. */
export interface McpOutcome {
  readonly isError: boolean;
  /** JSON; `null` for an answer without content. */
  readonly text: string;
  /** What to do first if the answer is empty. */
  readonly hint?: string | undefined;
  /** The tool has an output schema, so each answer needs structured content. */
  readonly isDescribed?: boolean;
}

/** The services that the protocol needs. */
export interface McpCalls {
  readonly version: string;
  /** The tools that the caller may use, and all its permissions, as some have no tool. */
  readonly tools: () => { readonly tools: readonly Tool[]; readonly permissions: readonly string[] };
  /**
   * Calls a tool; undefined if there is no such tool. leavesUnseen: the caller may give up the call but keep the
   * connection. Versions before 2026-07-28 do so: they send `notifications/cancelled`, perhaps to another process, or
   * nothing. meta: `_meta` of the message.
   */
  readonly call: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    leavesUnseen: boolean,
    meta: Readonly<Record<string, unknown>>,
  ) => Promise<McpOutcome | undefined>;
  /** Answers a question for a person, which is no tool: models must not. fields: those of question.answer. */
  readonly answerQuestion: (
    fields: Readonly<Record<string, unknown>>,
    meta: Readonly<Record<string, unknown>>,
  ) => Promise<McpOutcome>;
}

interface Reply {
  readonly status: number;
  /** JSON, unless `type` says otherwise; undefined for no content. */
  readonly text?: string;
  readonly type?: string;
}

/** Versions with lists of messages, which the next version removed. */
const batchVersions = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < '2025-06-18');

/** Whether this version allows a list of messages. Without a version it is 2025-03-26. */
export const hasBatches = (version = '2025-03-26'): boolean => batchVersions.includes(version);

/** The caller's permissions in the answer of tools/list, for the console. */
const permissionsMeta = 'muster/permissions';
const guideUri = 'muster://guide';
const guideName = 'guide';
const guideTitle = 'How agents work together with Muster';

/** Answers one message, in any protocol version that the SDK supports. headers: the protocol's. */
export async function answer(
  message: unknown,
  headers: Readonly<Record<string, string>>,
  calls: McpCalls,
): Promise<Reply> {
  const request = new Request('http://muster/mcp', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  });
  const isLegacy = await isLegacyRequest(request, message);
  const exact = new ExactAnswers();
  const { extensions, elicitation } = isLegacy ? {} : capabilitiesOf(message);
  const takesTasks = isObject(extensions) && isObject(extensions[tasksExtension]);
  const server = serverOf(calls, { isLegacy, takesTasks, showsForms: isObject(elicitation), exact });
  // Lists never change here, so a subscription is acknowledged and ended at once.
  const answered = await (isLegacy
    ? answerLegacy(server, request, message)
    : createMcpHandler(() => server, { legacy: 'reject' }).fetch(request, { parsedBody: message }));
  const text = exact.putInto(await answered.text());
  const type = answered.headers.get('content-type') ?? undefined;
  return { status: answered.status, ...(text !== '' && { text }), ...(type !== undefined && { type }) };
}

/** Before 2026-07-28: a request without a session, answered as JSON. */
async function answerLegacy(server: Server, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const answered = await transport.handleRequest(request, { parsedBody });
  await server.close();
  return answered;
}

/** A modern client declares its capabilities in each request. */
function capabilitiesOf(message: unknown): Readonly<Record<string, unknown>> {
  const meta = isObject(message) && isObject(message['params']) ? message['params']['_meta'] : undefined;
  const capabilities = isObject(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
  return isObject(capabilities) ? capabilities : {};
}

/** The texts of answers that may have a number that would lose digits, for the SDK's own serialization. */
class ExactAnswers {
  /** Nobody who sends a payload knows it. */
  readonly #mark = randomUUID();
  readonly #texts: string[] = [];

  /** An object that stands for the text of one. */
  standFor(text: string): Record<string, unknown> {
    return { [this.#mark]: this.#texts.push(text) - 1 };
  }

  /** Replaces the objects by the texts. */
  putInto(serialized: string): string {
    if (this.#texts.length === 0) return serialized;
    const objects = new RegExp(`\\{"${this.#mark}":(\\d+)\\}`, 'g');
    return serialized.replaceAll(objects, (_, index) => this.#texts[Number(index)] ?? '');
  }
}

/** A tool's answer. A refusal has only its text. */
function toolResult({ isError, text, hint, isDescribed }: McpOutcome, exact: ExactAnswers): CallToolResult {
  const content = [text, hint].flatMap((one) => (one === undefined ? [] : [{ type: 'text' as const, text: one }]));
  const value: unknown = isError ? null : (JSON.parse(text) ?? (isDescribed ? {} : null));
  const structured = isObject(value) && (mayLoseDigits(text) ? exact.standFor(text) : value);
  return { content, isError, ...(structured && { structuredContent: structured }) };
}

/** Answers requests about tasks. A task is a message. */
function answerTasks(server: Server, calls: McpCalls, { takesTasks, showsForms, exact }: Asking): void {
  const params = fromJsonSchema<{ taskId: string }>({
    type: 'object',
    properties: { taskId: { type: 'string' } },
    required: ['taskId'],
  });
  for (const method of taskMethods)
    server.setRequestHandler(method, { params }, async ({ taskId: messageId }, { mcpReq }) => {
      const needed = { extensions: { [tasksExtension]: {} } };
      if (!takesTasks) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: needed });
      const meta = mcpReq._meta ?? {};
      const tool = method === 'tasks/cancel' ? 'message_cancel' : 'message_view';
      const outcome = await calls.call(tool, { messageId }, false, meta);
      const text = outcome?.text ?? '{"error":{"message":"there are no tasks"}}';
      const { error, ...message } = JSON.parse(text);
      if (method === 'tasks/cancel' && (error === undefined || error.code === 'MESSAGE_FINISHED')) return {};
      if (error !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
      if (method === 'tasks/update') {
        const fields = answerIn(mcpReq.inputResponses ?? {}, message);
        const answered = fields && (await calls.answerQuestion(fields, meta));
        const { error: refused } = answered?.isError ? JSON.parse(answered.text) : {};
        // Somebody else was faster: the task goes on either way.
        if (refused === undefined || refused.code === 'QUESTION_CLOSED') return {};
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, refused.message);
      }
      const task = taskOf(message);
      // Without forms, somebody answers elsewhere.
      if (task['status'] === 'input_required')
        return { ...task, inputRequests: showsForms ? inputRequestsOf(message, text) : {} };
      if (task['status'] !== 'completed') return task;
      const result = { text, isError: isFailure(message) };
      return { ...task, result: { resultType: 'complete', ...toolResult(result, exact) } };
    });
}

interface Asking {
  readonly isLegacy: boolean;
  readonly takesTasks: boolean;
  /** The client shows forms to a person. */
  readonly showsForms: boolean;
  readonly exact: ExactAnswers;
}

function serverOf(calls: McpCalls, asking: Asking): Server {
  const { isLegacy, takesTasks, exact } = asking;
  const info = { name: 'muster', title: 'Muster', version: calls.version };
  const server = new Server(info, {
    capabilities: { tools: {}, prompts: {}, resources: {}, ...(!isLegacy && { extensions: { [tasksExtension]: {} } }) },
    instructions,
  });
  server.setRequestHandler('tools/list', () => {
    const { tools, permissions } = calls.tools();
    return { tools: tools.map((tool) => ({ ...tool })), _meta: { [permissionsMeta]: permissions } };
  });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const isTask = takesTasks && params.name === sendAndWaitName;
    const args = { ...params.arguments, ...(isTask && { waitSeconds: 0 }) };
    const outcome = await calls.call(params.name, args, isLegacy, params._meta ?? {});
    if (!outcome) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${params.name}`);
    const message: unknown = isTask ? JSON.parse(outcome.text) : undefined;
    // A refusal is an answer, as nothing was sent.
    if (!isObject(message) || 'error' in message) return toolResult(outcome, exact);
    // The SDK passes it on unchanged, though its types only know results of the base protocol.
    return { resultType: 'task', ...taskOf(message) } as unknown as CallToolResult;
  });
  if (!isLegacy) answerTasks(server, calls, asking);
  server.setRequestHandler('prompts/list', () => ({
    prompts: [
      { name: guideName, title: guideTitle, description: 'The model of work in a page: read it before you begin' },
    ],
  }));
  server.setRequestHandler('prompts/get', ({ params: { name } }) => {
    if (name !== guideName) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no prompt ${name}`);
    return { messages: [{ role: 'user', content: { type: 'text', text: guide } }] };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: [{ uri: guideUri, name: guideName, title: guideTitle, mimeType: 'text/markdown' }],
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    if (uri !== guideUri) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: 'text/markdown', text: guide }] };
  });
  return server;
}
