import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';

export interface Call {
  method: 'GET' | 'POST' | 'PUT';
  /** Below the space's path. */
  path: string;
  body?: unknown;
}

export interface Traffic {
  /** Bytes from clients, with headers. */
  in: number;
  /** Bytes to clients, with headers. */
  out: number;
}

/** Calls one space over a number of connections, and counts their traffic. */
export class Caller {
  readonly #agent: Agent;
  readonly #sockets = new Set<Socket>();
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #nextKey = 0;

  constructor(url: string, headers: Record<string, string>, connections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#url = url;
    this.#headers = headers;
  }

  /** The answer's body; null if it has none. */
  async call(call: Call): Promise<unknown> {
    const key = `scale-${process.pid}-${this.#nextKey++}`;
    // A connection that was idle while this process was busy may be closed by the time that it is used.
    return this.#send(call, key).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET') throw error;
      return this.#send(call, key);
    });
  }

  #send({ method, path, body }: Call, key: string): Promise<unknown> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      ...this.#headers,
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...(method !== 'GET' && !path.endsWith('/recv') && { 'idempotency-key': key }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(this.#url + path, { method, headers, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString();
          if ((response.statusCode ?? 500) < 300) return resolve(answer ? JSON.parse(answer) : null);
          reject(new Error(`${method} ${path} answered ${response.statusCode}: ${answer}`));
        });
      });
      sent.once('socket', (socket) => this.#sockets.add(socket));
      sent.once('error', reject);
      sent.end(text);
    });
  }

  traffic(): Traffic {
    const traffic = { in: 0, out: 0 };
    for (const socket of this.#sockets) {
      traffic.in += socket.bytesWritten;
      traffic.out += socket.bytesRead;
    }
    return traffic;
  }

  stop(): void {
    this.#agent.destroy();
  }
}
