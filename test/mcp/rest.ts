import { randomUUID } from 'node:crypto';
import { sendAndWaitName, toolName } from '../../src/doors/mcp/tools.ts';
import type { Route } from '../../src/engine/route/route.ts';
import { allRoutes } from '../../src/primitives/primitives.ts';
import type { Reply, World } from '../support/world.ts';

export type Args = Readonly<Record<string, unknown>>;

/** The tool that makes two calls: its fields are the first call's. */
export const sendAndWait = sendAndWaitName;

/** The names of all tools. */
export const toolNames = [
  ...allRoutes.flatMap(({ tool, call }) => (tool === undefined ? [] : [toolName(call)])),
  sendAndWait,
];

/** The route that a tool calls. */
export function routeOf(tool: string): Route {
  const name = tool === sendAndWait ? 'message_send' : tool;
  const route = allRoutes.find(({ call }) => toolName(call) === name);
  if (!route) throw new Error(`${tool} calls no route`);
  return route;
}

/** The same call as a request of its own. */
export function overRest(world: World, tool: string, args: Args, key = world.apiKey): Promise<Reply> {
  const { method, path } = routeOf(tool);
  const { idempotencyKey = randomUUID(), ...fields } = args;
  const rest: Record<string, unknown> = { ...fields };
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    delete rest[name];
    return encodeURIComponent(String(fields[name]));
  });
  const query = new URLSearchParams(
    Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const headers = { Authorization: `Bearer ${key}`, 'Idempotency-Key': String(idempotencyKey) };
  return method === 'GET' || method === 'DELETE'
    ? world.call(method, query.size === 0 ? filled : `${filled}?${query}`, undefined, headers)
    : world.call(method, filled, rest, headers);
}
