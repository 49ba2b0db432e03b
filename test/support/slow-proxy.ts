import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A proxy in front of a server, which it passes every chunk to, and back, after a delay. A side that has ended its half of a
 * connection still gets what the other side writes. url: of the server, or a function that chooses one for each
 * connection; undefined: there is none now. isBlind: it does not pass on that a client has gone.
 */
export async function slowProxy(
  url: string | (() => string | undefined),
  delayMs: number,
  { isBlind = false } = {},
): Promise<{ readonly url: string; close(): void }> {
  const all = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const to = typeof url === 'string' ? url : url();
    if (to === undefined) return void near.destroy();
    const { hostname, port } = new URL(to);
    const far = connect({ port: Number(port), host: hostname, allowHalfOpen: true, noDelay: true });
    for (const [source, sink] of [
      [near, far],
      [far, near],
    ] as const) {
      all.add(source);
      const passesEnd = !isBlind || source === far;
      source
        .on('data', (bytes) => setTimeout(() => sink.write(bytes), delayMs))
        .on('end', () => passesEnd && setTimeout(() => sink.end(), delayMs))
        .on('error', () => undefined)
        .on('close', () => {
          all.delete(source);
          if (passesEnd) setTimeout(() => sink.destroy(), delayMs);
        });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      for (const socket of all) socket.destroy();
    },
  };
}
