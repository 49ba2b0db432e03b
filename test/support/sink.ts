import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkEvent } from './declared.ts';

/** A request received by a webhook receiver. */
interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly body: any;
}

/** A webhook receiver on the loopback. `answer` sets its answers, by default 200. */
export class Sink {
  readonly received: Received[] = [];
  answer: (response: ServerResponse, received: Received) => void = (response) => response.end('ok');
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const body = JSON.parse(text);
        // A test message's event is not in a journal and not declared.
        if (body.type !== 'destination.test') checkEvent(body.data);
        const received = { path: request.url ?? '', headers: request.headers, text, body };
        this.received.push(received);
        this.answer(response, received);
        for (const look of this.#waiting) look();
      });
    });
  }

  static async start(): Promise<Sink> {
    const sink = new Sink();
    await new Promise<void>((resolve) => sink.#server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }

  /** Resolves when a path has received at least this many requests. */
  async got(count: number, path = '/'): Promise<Received[]> {
    while (this.at(path).length < count) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
      });
    }
    return this.at(path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
