import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '../support/processes.ts';
import { traceOf } from '../support/trace.ts';

/** An answer. */
export interface Heard {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are of every shape.
  readonly body: any;
}

export interface Counts {
  attempts: number;
  /** Attempts whose effect is unknown: no answer, or a 503. */
  unknown: number;
  /** Attempts whose connection was refused: they had no effect. */
  unmet: number;
  retries: number;
  /** Answers marked Idempotent-Replayed: an attempt of unknown effect had taken effect. */
  replayed: number;
}

const pauseMs = 40;

/** A client of several API processes. It gives up an attempt after a timeout, and retries with any of them. */
export class Caller {
  readonly counts: Counts = { attempts: 0, unknown: 0, unmet: 0, retries: 0, replayed: 0 };
  /** The longest time that a call went on without an answer. */
  longestMs = 0;
  readonly #urls: () => readonly string[];
  readonly #timeoutMs: number;
  #isClosed = false;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(urls: () => readonly string[], timeoutMs = 1_500) {
    this.#urls = urls;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Makes one attempt, at any of the processes. path: below the space, or a whole path below /v1. Resolves with null if
   * its effect is unknown, and with `unmet` if it had none.
   */
  async attempt(
    { spaceId, apiKey }: Access,
    path: string,
    id: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Heard | null | 'unmet'> {
    if (this.#isClosed) throw new Error('the workload is over');
    this.counts.attempts++;
    const urls = this.#urls();
    const below = path.startsWith('/v1/') ? path : `/v1/spaces/${spaceId}${path}`;
    const url = `${urls[Math.floor(Math.random() * urls.length)]}${below}`;
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      Authorization: `Bearer ${apiKey}`,
      'X-Request-Id': id,
      ...traceOf(id),
      ...(body !== undefined && {
        'Idempotency-Key': id,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      }),
    };
    const heard = await new Promise<Heard | null | 'unmet'>((resolve) => {
      const options = { agent: this.#agent, headers, method };
      const outgoing = request(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => resolve(null));
        response.on('close', () => resolve(null));
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString();
          if (response.headers['idempotent-replayed'] === 'true') this.counts.replayed++;
          resolve({ status: response.statusCode ?? 0, body: parsed(answer) });
        });
      });
      const timer = setTimeout(() => outgoing.destroy(), this.#timeoutMs);
      outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'unmet' : null));
      outgoing.on('close', () => clearTimeout(timer));
      outgoing.end(text);
    });
    if (heard === 'unmet') this.counts.unmet++;
    // The store may have made the change before it went away.
    else if (heard === null || heard.status === 503) this.counts.unknown++;
    else return heard;
    return heard === 'unmet' ? heard : null;
  }

  /** Repeats a call under one Idempotency-Key until it is answered. */
  async insist(access: Access, path: string, id: string, body?: unknown, method?: string): Promise<Heard> {
    const begun = performance.now();
    for (;;) {
      const heard = await this.attempt(access, path, id, body, method);
      this.longestMs = Math.max(this.longestMs, performance.now() - begun);
      if (heard !== null && heard !== 'unmet') return heard;
      this.counts.retries++;
      await sleep(pauseMs);
    }
  }

  /** Ends the client: later attempts throw. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }
}

/** Text that is not JSON becomes an unexpected error, which the workload reports. */
function parsed(text: string): Heard['body'] {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return { error: { code: 'NOT_JSON', message: text } };
  }
}
