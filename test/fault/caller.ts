import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '../support/processes.ts';
import { traceOf } from '../support/trace.ts';

/** What came back. */
export interface Heard {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are of every shape.
  readonly body: any;
}

export interface Counts {
  attempts: number;
  /** Attempts after which nobody knew whether the call had happened: no answer, or a 503. */
  unknown: number;
  /** Attempts that met nobody: they have not happened. */
  unmet: number;
  retries: number;
  /** Answers marked Idempotent-Replayed: what was unknown had happened. */
  replayed: number;
}

const pauseMs = 40;

/** A client of several API processes that gives up an attempt after a while and goes on with another process. */
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

  /** One attempt, at any of the processes; the path is below the space, or whole: null when nobody knows whether it happened, `unmet` when it has not. */
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
    // The store may have done it before it went away.
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

  /** Nobody goes on after this. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }
}

/** What is no JSON is for the caller to be surprised at. */
function parsed(text: string): Heard['body'] {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return { error: { code: 'NOT_JSON', message: text } };
  }
}
