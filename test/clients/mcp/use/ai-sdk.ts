import { createMCPClient } from '@ai-sdk/mcp';
import { type Access, type Connected, firstText } from './client.ts';

/** The AI SDK's client, with the schemas of the server. */
export async function connect({ url, key }: Access): Promise<Connected> {
  const client = await createMCPClient({
    transport: { type: 'http', url, headers: { Authorization: `Bearer ${key}` } },
  });
  const tools = await client.tools();
  return {
    tools: await Promise.all(
      Object.entries(tools).map(async ([name, { description, inputSchema }]) => ({
        name,
        description: typeof description === 'string' ? description : undefined,
        schema: 'jsonSchema' in inputSchema ? await inputSchema.jsonSchema : undefined,
      })),
    ),
    call: async (name, args) => {
      const tool = tools[name];
      if (!tool) throw new Error(`no tool ${name}`);
      const answered = await tool.execute(args, { toolCallId: name, messages: [], context: {} });
      if (!('content' in answered)) throw new Error(`no content: ${JSON.stringify(answered)}`);
      return { isError: answered['isError'] === true, text: firstText(answered['content']) };
    },
    close: () => client.close(),
  };
}
