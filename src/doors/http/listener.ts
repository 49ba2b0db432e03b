import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Open requests are cut off after this time. Once held ones are released, none takes as long. */
const drainMs = 3_000;
const pollMs = 20;

const explanations: Record<string, string> = {
  EADDRINUSE: 'is in use: stop what listens there, or set PORT to another one (0: any free one)',
  EACCES: 'may not be used by this user: set PORT to 1024 or above',
  EADDRNOTAVAIL: 'is not an address of this machine: set HOST to one that is, or to 0.0.0.0',
  ENOTFOUND: 'is not a known host: set HOST to a name or an address of this machine',
};

/** A listening server that can be drained. */
export class Listener {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: ReadonlySet<Socket>;

  private constructor(server: Server, host: string, sockets: ReadonlySet<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Starts listening. If that fails, rejects with a one-line message that names the setting. */
  static async start(server: Server, host: string, port: number, setting = 'PORT'): Promise<Listener> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        const why = explanations[error.code ?? '']?.replace(/\bPORT\b/, setting);
        reject(why === undefined ? error : new Error(`${host}:${port} ${why}`));
      });
      server.listen(port, host, resolve);
    });
    return new Listener(server, host, sockets);
  }

  /**
   * Refuses new connections. Closes each open one after the answer it waits for (which has `Connection: close`), or at once
   * if it is idle.
   */
  async drain(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    const poll = setInterval(() => {
      // When a stream ends, its connection stays open and becomes idle.
      this.#server.closeIdleConnections();
      // A browser opens connections ahead, and fetch opens one after an abort. To Node they are not idle.
      for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    }, pollMs);
    const cut = setTimeout(() => this.#server.closeAllConnections(), drainMs);
    await closed;
    clearInterval(poll);
    clearTimeout(cut);
  }
}
