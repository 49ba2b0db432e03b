import { createConnection, type Socket } from 'node:net';

/** Many connections that do the same; answers are counted by status. */
export class Sockets {
  readonly answers = new Map<string, number>();
  open = 0;
  opened = 0;
  readonly #url: URL;
  readonly #all: Socket[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Opens connections, a hundred at a time, and calls `act` with each when it is connected. */
  async connect(count: number, act: (socket: Socket) => void): Promise<this> {
    for (let left = count; left > 0; left -= 100)
      await Promise.all(Array.from({ length: Math.min(100, left) }, () => this.#connect(act)));
    return this;
  }

  /** Keeps this many connections busy for a time, replacing each that closes. */
  async keep(count: number, ms: number, act: (socket: Socket) => void): Promise<this> {
    const end = performance.now() + ms;
    const one = async (): Promise<void> => {
      while (performance.now() < end) {
        const socket = await this.#connect(act);
        if (performance.now() > end) socket.destroy();
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      }
    };
    const cut = setTimeout(() => this.destroy(), ms);
    await Promise.all(Array.from({ length: count }, one));
    clearTimeout(cut);
    return this;
  }

  #connect(act: (socket: Socket) => void): Promise<Socket> {
    return new Promise((resolve) => {
      const socket = createConnection(Number(this.#url.port), this.#url.hostname);
      this.#all.push(socket);
      let first = '';
      socket.setEncoding('latin1').on('data', (text: string) => {
        if (first.length < 12) first += text.slice(0, 12);
      });
      socket.once('connect', () => {
        this.open++;
        this.opened++;
        socket.once('close', () => {
          this.open--;
          const answer = /^HTTP\/1\.1 (\d+)/.exec(first)?.[1] ?? 'none';
          this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
        });
        act(socket);
        resolve(socket);
      });
      // Expected: the server resets connections that are still sending.
      socket.on('error', () => undefined).on('close', () => resolve(socket));
    });
  }

  destroy(): void {
    for (const socket of this.#all.splice(0)) socket.destroy();
  }

  toString(): string {
    return [...this.answers].map(([status, count]) => `${count} × ${status}`).join(', ');
  }
}

/** Writes endlessly, as fast as the other side reads. */
export function pour(socket: Socket, piece: string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

/** Writes a little at intervals. */
export function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.once('close', () => clearInterval(timer));
}
