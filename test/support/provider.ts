import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

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
  readonly tokens: number;
  readonly fail?: 'billed' | 'cut';
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

  private constructor(plan: Plan) {
    this.#plan = plan;
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(async ({ status, headers, body, isCut }) => {
        await sleep(plan.latencyMs ?? 0);
        if (isCut) return response.destroy();
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
        return undefined;
      });
    });
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

  async #answer(request: IncomingMessage) {
    const { tokens, fail } = await bodyOf(request);
    const now = Date.now();
    const window = this.at(now);
    const { tokensPerWindow, windowMs } = this.#plan;
    const leftMs = windowMs - (now % windowMs);
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
    const headers = this.#limits(tokensPerWindow - window.tokens, leftMs);
    const usage = this.#usage(tokens);
    if (fail) return { status: 500, headers, body: { error: 'internal', usage }, isCut: fail === 'cut' };
    return { status: 200, headers, body: { content: 'an answer', usage } };
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
