import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A proxy in front of a server, which it passes every chunk to, and back, after a delay. A side that has ended its half of a
 * connection still gets what the other side writes. isBlind: it does not pass on that a client has gone.
 */
export async function slowProxy(
  url: string,
  delayMs: number,
  { isBlind = false } = {},
): Promise<{ readonly url: string; close(): void }> {
  const { hostname, port } = new URL(url);
  const all = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
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
