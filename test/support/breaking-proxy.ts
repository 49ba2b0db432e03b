import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';

/**
 * A proxy between two unix sockets that breaks a connection at the first chunk it may not pass on.
 *
 * @param passes called for each chunk, with the number of its connection, from 1
 */
export async function breakingProxy(
  target: string,
  at: string,
  passes: (connection: number) => boolean,
): Promise<{ server: Server; count: () => number }> {
  let count = 0;
  const server = createServer((near) => {
    const connection = ++count;
    const far = connect(target);
    near
      .on('data', (bytes) => (passes(connection) ? far.write(bytes) : near.destroy()))
      .on('close', () => far.destroy());
    far.on('data', (bytes) => near.write(bytes)).on('close', () => near.destroy());
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  await once(server.listen(at), 'listening');
  return { server, count: () => count };
}
