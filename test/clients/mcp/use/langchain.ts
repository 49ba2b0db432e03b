import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { type Access, type Connected, firstText } from './client.ts';

/** LangChain's tools for the server. */
export async function connect({ url, key }: Access): Promise<Connected> {
  const client = new MultiServerMCPClient({
    mcpServers: { muster: { transport: 'http', url, headers: { Authorization: `Bearer ${key}` } } },
    throwOnLoadError: true,
  });
  const tools = await client.getTools();
  return {
    tools: tools.map(({ name, description, schema }) => ({ name, description, schema })),
    call: async (name, args) => {
      const tool = tools.find((one) => one.name === name);
      if (!tool) throw new Error(`no tool ${name}`);
      try {
        // As the tool node of an agent calls it; its schema checks the arguments first.
        const { content } = await tool.invoke({ type: 'tool_call', id: name, name, args });
        if (typeof content !== 'string') return { isError: false, text: firstText(content) };
        // A text with structured content beside it is shown as the JSON of both.
        const shown = JSON.parse(content);
        return { isError: false, text: shown?.type === 'text' ? firstText(shown) : content };
      } catch (thrown) {
        // A refusal is thrown: its text follows the words of the adapter.
        const refusal = /returned an error: (\{.*\})$/s.exec(String(thrown))?.[1];
        if (refusal === undefined) throw thrown;
        return { isError: true, text: refusal };
      }
    },
    close: () => client.close(),
  };
}
