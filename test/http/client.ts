import { createConnection } from 'node:net';
import type { World } from '../support/world.ts';

/** Writes exactly these bytes to a new connection; resolves with everything that it receives. */
export function rawRequest(world: Pick<World, 'url'>, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(world.url);
  return new Promise((resolve, reject) => {
    const socket = createConnection(Number(port), hostname, () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

/** A request with this target and an API key; the connection closes after it. */
export function rawGet(world: World, target: string): Promise<string> {
  const head = [`GET ${target} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${world.apiKey}`, 'Connection: close'];
  return rawRequest(world, `${head.join('\r\n')}\r\n\r\n`);
}
