import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { World } from '../support/world.ts';

/** Versions of the protocol: by a handshake before each session, and without one. */
export const versions = ['2025-11-25', '2026-07-28'] as const;

export interface Answer {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly value: any;
  /** Advice for an empty answer. */
  readonly hint: string | undefined;
}

/** An agent that knows nothing but MCP: the official client, over HTTP. */
export class Agent {
  readonly client: Client;
  readonly name = `agent-${randomUUID().slice(0, 8)}`;

  private constructor(client: Client) {
    this.client = client;
  }

  static async connect(
    world: World,
    {
      key = world.apiKey,
      version = versions[0] as string,
      spaceId = world.spaceId,
      fetch = globalThis.fetch,
      groups = '',
    } = {},
  ): Promise<Agent> {
    const isModern = version >= '2026';
    const client = new Client(
      { name: 'test', version: '1' },
      isModern ? { versionNegotiation: { mode: { pin: version } } } : { supportedProtocolVersions: [version] },
    );
    const url = new URL(`${world.url}/v1/spaces/${spaceId}/mcp${groups && `?tools=${groups}`}`);
    const headers = { Authorization: `Bearer ${key}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch }));
    return new Agent(client);
  }

  /** Calls a tool; a refusal is an answer as well. */
  async call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: args }, signal && { signal });
    const [first, hint] = result.content;
    if (first?.type !== 'text' || result.content.length > 2) throw new Error(`${name}: not one text, or two`);
    const value: unknown = JSON.parse(first.text);
    const isError = result.isError === true;
    const { structuredContent } = result;
    // The value comes twice: structured, and as text. A refusal has only the text, and null is an object without
    // members.
    const expected = isError ? [undefined] : value === null ? [undefined, '{}'] : [JSON.stringify(value)];
    if (!expected.includes(JSON.stringify(structuredContent)))
      throw new Error(`${name}: ${first.text} is not ${JSON.stringify(structuredContent)}`);
    return { isError, value, hint: hint?.type === 'text' ? hint.text : undefined };
  }

  /** Calls a tool, and expects a success. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer.
  async mustCall(name: string, args: Record<string, unknown> = {}): Promise<any> {
    const { isError, value } = await this.call(name, args);
    if (isError) throw new Error(`${name}: ${JSON.stringify(value)}`);
    return value;
  }

  /** Calls a tool, and expects a refusal; returns its code. */
  async refused(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { isError, value } = await this.call(name, args);
    if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(value)}`);
    return value.error.code;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
