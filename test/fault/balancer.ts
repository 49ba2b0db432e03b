import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** One address for several API processes, which may die and be replaced. Each connection goes to one of them in turn. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #urls: () => readonly string[];
  #turn = 0;

  private constructor(urls: () => readonly string[]) {
    this.#urls = urls;
    this.#server = createServer((near) => this.#accept(near));
  }

  /** urls: the addresses of the processes, as they are now. */
  static async before(urls: () => readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(urls);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  #accept(near: Socket): void {
    const urls = this.#urls();
    const url = urls[this.#turn++ % urls.length];
    if (url === undefined) return void near.destroy();
    const far = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
