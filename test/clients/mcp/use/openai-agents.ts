import {
  type FunctionTool,
  invokeFunctionTool,
  MCPServerStreamableHttp,
  mcpToFunctionTool,
  RunContext,
} from '@openai/agents';
import { type Access, type Connected, firstText } from './client.ts';

/** A server of OpenAI's agents, and the tools that an agent makes from it. */
async function open({ url, key }: Access, isStrict: boolean) {
  const server = new MCPServerStreamableHttp({
    name: 'muster',
    url,
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
    errorFunction: null,
  });
  await server.connect();
  const tools = (await server.listTools()).map((tool) => mcpToFunctionTool(tool, server, isStrict));
  return { server, tools };
}

export async function connect(access: Access): Promise<Connected> {
  const { server, tools } = await open(access, false);
  return {
    tools: tools.map(({ name, description, parameters }) => ({ name, description, schema: parameters })),
    call: async (name, args) => {
      const { content, isError } = await server.callToolResult(name, args);
      return { isError: isError === true, text: firstText(content) };
    },
    close: () => server.close(),
  };
}

/** Agents with `convertSchemasToStrict`: their model gives every argument, and null for one left out. */
export async function connectStrictly(access: Access) {
  const { server, tools } = await open(access, true);
  return {
    /** The tools whose schema stays as it is, as strict schemas have no free values. */
    unconverted: tools.flatMap(({ name, strict }) => (strict ? [] : [name])),
    /** Calls a tool with these arguments, and null for all others. */
    call: async (name: string, args: Readonly<Record<string, unknown>>): Promise<string> => {
      const tool = tools.find((one) => one.name === name) as FunctionTool | undefined;
      if (!tool) throw new Error(`no tool ${name}`);
      const nulls = Object.keys(tool.parameters.properties).map((field) => [field, null]);
      const input = JSON.stringify({ ...Object.fromEntries(nulls), ...args });
      return firstText(await invokeFunctionTool({ tool, runContext: new RunContext(), input }));
    },
    close: () => server.close(),
  };
}
