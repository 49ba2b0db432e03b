import type { Server } from 'node:http';

/** What is still unanswered after this long is cut off: nothing of ours takes so long once held requests are let go. */
const drainMs = 3_000;
const lookEveryMs = 20;

const sentences: Record<string, string> = {
  EADDRINUSE: 'is in use: stop what listens there, or set PORT to another one (0: any free one)',
  EACCES: 'may not be used by this user: set PORT to one from 1024 on',
  EADDRNOTAVAIL: 'is not an address of this machine: set HOST to one that is, or to 0.0.0.0',
  ENOTFOUND: 'is not a known host: set HOST to a name or an address of this machine',
};

/** A server that listens, and can be drained. */
export class Listener {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, host: string) {
    this.#server = server;
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Rejects with one clear line, which names the setting, when it cannot listen there. */
  static async start(server: Server, host: string, port: number, setting = 'PORT'): Promise<Listener> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        const why = sentences[error.code ?? '']?.replace(/\bPORT\b/, setting);
        reject(why === undefined ? error : new Error(`${host}:${port} ${why}`));
      });
      server.listen(port, host, resolve);
    });
    return new Listener(server, host);
  }

  /**
   * No new connections; every one that there is ends with the answer it waits for (the application says so where it
   * writes one), at once when there is none.
   */
  async drain(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    // A streamed answer has said keep-alive already; its connection is idle after it.
    const look = setInterval(() => this.#server.closeIdleConnections(), lookEveryMs);
    const cut = setTimeout(() => this.#server.closeAllConnections(), drainMs);
    await closed;
    clearInterval(look);
    clearTimeout(cut);
  }
}
