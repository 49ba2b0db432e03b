import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { guide, instructions } from './guide.ts';
import type { Tool } from './tools.ts';

/** A tool's answer or refusal. */
export interface Outcome {
  readonly isError: boolean;
  /** JSON; of an answer without content, `null`. */
  readonly text: string;
  /** What to do first where the answer has nothing in it. */
  readonly hint?: string | undefined;
  /** The tool describes its answers, so each of them needs something structured. */
  readonly isDescribed?: boolean;
}

/** The parts that the protocol needs. */
export interface Desk {
  readonly version: string;
  /** The tools that the caller may use. */
  readonly tools: () => readonly Tool[];
  /**
   * Undefined: there is no such tool. leavesUnseen: the caller may give the call up and keep the connection, as before
   * 2026-07-28: then it sends `notifications/cancelled` to whichever process, or nothing at all.
   */
  readonly call: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    leavesUnseen: boolean,
  ) => Promise<Outcome | undefined>;
}

interface Reply {
  readonly status: number;
  /** JSON, unless `type` is another one; undefined: no content. */
  readonly text?: string;
  readonly type?: string;
}

/** Those of lists of messages, which the next version took away. */
const batchVersions = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < '2025-06-18');

/** Whether a list of messages may be sent in this version; without one, it is 2025-03-26. */
export const hasBatches = (version = '2025-03-26'): boolean => batchVersions.includes(version);

const guideUri = 'muster://guide';
const guideName = 'guide';
const guideTitle = 'How agents work together with Muster';

/** Answers one message, of any version of the protocol that the SDK knows. headers: those of the protocol. */
export async function answer(message: unknown, headers: Readonly<Record<string, string>>, desk: Desk): Promise<Reply> {
  const request = new Request('http://muster/mcp', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  });
  const isLegacy = await isLegacyRequest(request, message);
  const server = serverOf(desk, isLegacy);
  // No list of ours ever changes, so a subscription is acknowledged and has ended at once.
  const answered = await (isLegacy
    ? answerLegacy(server, request, message)
    : createMcpHandler(() => server, { legacy: 'reject' }).fetch(request, { parsedBody: message }));
  const text = await answered.text();
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

function serverOf(desk: Desk, isLegacy: boolean): Server {
  const info = { name: 'muster', title: 'Muster', version: desk.version };
  const server = new Server(info, { capabilities: { tools: {}, prompts: {}, resources: {} }, instructions });
  server.setRequestHandler('tools/list', () => ({ tools: desk.tools().map((tool) => ({ ...tool })) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const outcome = await desk.call(params.name, params.arguments ?? {}, isLegacy);
    if (!outcome) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${params.name}`);
    const { isError, text, hint, isDescribed } = outcome;
    const content = [text, hint].flatMap((one) => (one === undefined ? [] : [{ type: 'text' as const, text: one }]));
    const value: unknown = isError ? null : (JSON.parse(text) ?? (isDescribed ? {} : null));
    if (value === null) return { content, isError };
    return { content, isError, structuredContent: value as Record<string, unknown> };
  });
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
