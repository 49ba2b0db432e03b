import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { endByStatus } from '../../src/clients/typescript/spend/outcome.ts';

/** The format in which the provider reports its limits. */
type Style = 'openai' | 'anthropic';

interface Plan {
  readonly tokensPerWindow: number;
  readonly windowMs: number;
  readonly style?: Style;
  readonly latencyMs?: number;
}

/** A test's instruction to the model: answer with this many tokens, or fail. */
interface Ask {
  readonly tokens?: number;
  /** Default 200. */
  readonly status?: number;
  /** What the call is billed; default: the tokens, of a success. */
  readonly bills?: number;
  /** A stream, or an answer without a usage; default JSON with a usage. */
  readonly as?: 'stream' | 'silent';
  /** Fail after the work: with a 500 that reports the usage, without an answer, without an end, or in the middle of it. */
  readonly fail?: 'billed' | 'cut' | 'hang' | 'half';
  /** How many calls of the account are first refused with 429. */
  readonly refusals?: number;
}

/** What an account has asked for. */
class Account {
  billed = 0;
  requests = 0;
  refusals = 0;
  readonly #received: (() => void)[] = [];

  begins(): void {
    this.requests++;
    for (const tell of this.#received.splice(0)) tell();
  }

  /** Resolves once a request has arrived, if need be the next. */
  async received(): Promise<void> {
    if (this.requests === 0) await new Promise<void>((resolve) => void this.#received.push(resolve));
  }
}

/** A request with an Idempotency-Key, which says whose it is. */
interface Bill {
  readonly key: string;
  readonly billed: number;
  /** Whether the caller has been sent a complete answer that says what the call costs. */
  isKnown: boolean;
}

async function bodyOf(request: IncomingMessage): Promise<Ask> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** A provider of models with a limit of tokens per window. Windows begin at multiples of their length since 1970. */
export class Provider {
  readonly #server: Server;
  readonly #plan: Plan;
  /** For each window: the tokens and number of answered calls, and the number of refused ones. */
  readonly windows = new Map<number, { tokens: number; calls: number; refused: number }>();

  readonly #accounts = new Map<string, Account>();
  readonly bills: Bill[] = [];

  private constructor(plan: Plan) {
    this.#plan = plan;
    this.#server = createServer((request, response) => {
      const account = this.account(request.url?.split('/').at(-1) ?? '');
      const answered = request.method === 'GET' ? tell(account, response) : this.#respond(account, request, response);
      // The caller has gone.
      answered.catch(() => response.destroy());
    });
  }

  /** What was asked for with this name at the end of the URL. `GET` of that URL answers it once a request has arrived. */
  account(name: string): Account {
    const account = this.#accounts.get(name) ?? new Account();
    this.#accounts.set(name, account);
    return account;
  }

  async #respond(account: Account, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ask = await bodyOf(request);
    const before = account.billed;
    const { status, headers, body } = this.#answer(ask, account);
    const bill = { key: String(request.headers['idempotency-key']), billed: account.billed - before, isKnown: false };
    this.bills.push(bill);
    account.begins();
    await sleep(this.#plan.latencyMs ?? 0);
    if (status === 200 && ask.fail === 'hang') return;
    if (status === 200 && ask.fail === 'cut') return void response.destroy();
    const isStream = ask.as === 'stream' && status === 200;
    response.writeHead(status, { 'Content-Type': isStream ? 'text/event-stream' : 'application/json', ...headers });
    const text = isStream ? 'data: an\n\ndata: answer\n\n' : JSON.stringify(body);
    if (status !== 200 || ask.fail !== 'half') {
      bill.isKnown = status === 200 || endByStatus(status) === 'free';
      return void response.end(text);
    }
    await new Promise((sent) => response.write(text.slice(0, text.length / 2), sent));
    response.destroy();
  }

  static async start(plan: Plan): Promise<Provider> {
    const provider = new Provider(plan);
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/messages`;
  }

  /** The window of a moment. */
  at(now = Date.now()) {
    const start = now - (now % this.#plan.windowMs);
    const window = this.windows.get(start) ?? { tokens: 0, calls: 0, refused: 0 };
    this.windows.set(start, window);
    return window;
  }

  #answer({ tokens = 0, status = 200, as, fail, refusals = 0, bills }: Ask, account: Account) {
    const now = Date.now();
    const window = this.at(now);
    const { tokensPerWindow, windowMs } = this.#plan;
    const leftMs = windowMs - (now % windowMs);
    if (account.refusals < refusals) {
      account.refusals++;
      return { status: 429, headers: { 'Retry-After': 1 }, body: { error: { type: 'rate_limit_error' } } };
    }
    if (window.tokens + tokens > tokensPerWindow) {
      window.refused++;
      const headers = {
        ...this.#limits(tokensPerWindow - window.tokens, leftMs),
        'Retry-After': Math.ceil(leftMs / 1000),
      };
      return { status: 429, headers, body: { error: { type: 'rate_limit_error' } } };
    }
    window.tokens += tokens;
    window.calls++;
    account.billed += bills ?? (status === 200 ? tokens : 0);
    const headers = this.#limits(tokensPerWindow - window.tokens, leftMs);
    const usage = tokens > 0 && as === undefined ? { usage: this.#usage(tokens) } : {};
    if (fail === 'billed') return { status: 500, headers, body: { error: 'internal', ...usage } };
    if (status !== 200) return { status, headers, body: { error: 'as told', ...usage } };
    return { status, headers, body: { content: 'an answer', ...usage } };
  }

  #usage(tokens: number): object {
    const output = Math.floor(tokens / 3);
    if (this.#plan.style === 'anthropic')
      return { input_tokens: tokens - output - 1, cache_read_input_tokens: 1, output_tokens: output };
    return { prompt_tokens: tokens - output, completion_tokens: output, total_tokens: tokens };
  }

  #limits(remaining: number, leftMs: number): Record<string, string> {
    if (this.#plan.style === 'anthropic')
      return {
        'anthropic-ratelimit-tokens-remaining': String(remaining),
        'anthropic-ratelimit-tokens-reset': new Date(Date.now() + leftMs).toISOString(),
      };
    return { 'x-ratelimit-remaining-tokens': String(remaining), 'x-ratelimit-reset-tokens': `${leftMs}ms` };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** Answers what an account has asked for, once a request has arrived. */
async function tell(account: Account, response: ServerResponse): Promise<void> {
  await account.received();
  const { billed, requests } = account;
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ billed, requests }));
}
