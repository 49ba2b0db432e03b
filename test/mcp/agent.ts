import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { World } from '../support/world.ts';

/** Versions of the protocol: by a handshake before each session, and without one. */
export const versions = ['2025-11-25', '2026-07-28'] as const;

export interface Answer {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly value: any;
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
    { key = world.apiKey, version = versions[0] as string, spaceId = world.spaceId, fetch = globalThis.fetch } = {},
  ): Promise<Agent> {
    const isModern = version >= '2026';
    const client = new Client(
      { name: 'test', version: '1' },
      isModern ? { versionNegotiation: { mode: { pin: version } } } : { supportedProtocolVersions: [version] },
    );
    const url = new URL(`${world.url}/v1/spaces/${spaceId}/mcp`);
    const headers = { Authorization: `Bearer ${key}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch }));
    return new Agent(client);
  }

  /** Calls a tool; a refusal is an answer as well. */
  async call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: args }, signal && { signal });
    const [first] = result.content;
    if (result.content.length !== 1 || first?.type !== 'text') throw new Error(`${name}: not one text`);
    const value: unknown = JSON.parse(first.text);
    // Structured and as text: the same, twice.
    if (value !== null && JSON.stringify(result.structuredContent) !== JSON.stringify(value))
      throw new Error(`${name}: ${first.text} is not ${JSON.stringify(result.structuredContent)}`);
    return { isError: result.isError === true, value };
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
