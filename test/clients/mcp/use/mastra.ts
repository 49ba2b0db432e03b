import { noopObserve } from '@mastra/core/tools';
import { getMcpCallToolContent, MCPClient } from '@mastra/mcp';
import { type Access, type Connected, firstText } from './client.ts';

/** Mastra's client and the tools that it makes. */
export async function connect({ url, key }: Access): Promise<Connected> {
  const client = new MCPClient({
    servers: {
      muster: { url: new URL(url), requestInit: { headers: { Authorization: `Bearer ${key}` } } },
    },
  });
  // Its listTools() leaves a server out that it cannot reach.
  const { tools, errors } = await client.listToolsWithErrors();
  if (errors['muster'] !== undefined) throw new Error(errors['muster']);
  return {
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({
      name: name.replace(/^muster_/, ''),
      description,
      schema: inputSchema?.['~standard'].jsonSchema.input({ target: 'draft-2020-12' }),
    })),
    call: async (name, args) => {
      const tool = tools[`muster_${name}`];
      if (!tool?.execute) throw new Error(`no tool ${name}`);
      try {
        const answered = await tool.execute(args, { observe: noopObserve });
        // Arguments that its own check refuses are an answer.
        if (answered?.error === true) throw new Error(answered.message);
        // If the answer is structured, the text that a model reads is beside it.
        return { isError: false, text: firstText(getMcpCallToolContent(answered) ?? answered?.content) };
      } catch (thrown) {
        // A refusal is thrown, with its text as the message.
        const { message } = thrown as Error;
        if (!message.startsWith('{"error":')) throw thrown;
        return { isError: true, text: message };
      }
    },
    close: () => client.disconnect(),
  };
}
