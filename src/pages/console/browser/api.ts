import { parse } from './json-text.ts';
import type { Spaces } from './records.ts';
import { orgOf } from './session.ts';

/** A failed request; status 0 means there was no response. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterMs: number;
  /** '' if there was no answer. */
  readonly requestId: string;
  constructor(status: number, code: string, message: string, { retryAfterMs = 0, requestId = '' } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
  }

  /** The message, and the request id to look up in the server's log. */
  get text(): string {
    return `${this.message}.${this.requestId === '' ? '' : ` Request ${this.requestId}.`}`;
  }

  /** The same failure in other words. */
  saying(message: string): Failure {
    const { status, code, retryAfterMs, requestId } = this;
    return new Failure(status, code, message, { retryAfterMs, requestId });
  }

  /** Whether the server refused the request, so that nothing was done. */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500;
  }

  /** Whether a retry may succeed. */
  get isTransient(): boolean {
    return [0, 429, 503].includes(this.status);
  }
}

/** The permissions of a key besides reading. */
export interface Rights {
  /** coordination_write. */
  readonly write: boolean;
  /** resource_config. */
  readonly config: boolean;
  /** resource_spend, which resource_config includes. */
  readonly spend: boolean;
  /** key_admin. */
  readonly keys: boolean;
}

/** Above this share of the rate limit the console polls less often, to leave requests to the workers. */
const slowdownShare = 0.5;
const slowdownFactor = 4;
/** A change whose response was lost is sent again with the same Idempotency-Key, so it is made only once. */
const maxTries = 3;
const longestPauseMs = 10_000;
/** No answer takes this long unless the connection is dead. */
const answerMs = 40_000;

/** Requests per minute that a space or its organization may make. */
export interface Rate {
  readonly of: string;
  readonly quota: number;
  readonly left: number;
}

/** What whoever may raise the limit reads at the limit, too. */
const ofOperator = /^\/(census|backlog|usage|limits|figures|mailboxes(\/[^/?]+)?)(\?|$)/;

interface RequestOptions {
  readonly method?: string;
  readonly accept?: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Reads one space with one key; changes it only at the user's request. */
export class Api {
  /** '' for calls outside any space. */
  readonly spaceId: string;
  readonly #key: string;
  #quietUntil = 0;
  /** Until when even an operator's reads are refused. */
  #closedUntil = 0;
  /** As of the last answer. */
  rates: readonly Rate[] = [];

  constructor(spaceId: string, key: string) {
    this.spaceId = spaceId;
    this.#key = key;
  }

  /** Whether the server's Retry-After has not passed yet. */
  get isQuiet(): boolean {
    return this.#quietUntil > performance.now();
  }

  /** Whether a path may be read now. */
  allows(path: string): boolean {
    return (ofOperator.test(path) ? this.#closedUntil : this.#quietUntil) <= performance.now();
  }

  /** Factor for the pause between reads. */
  get slowness(): number {
    const usedShare = Math.max(0, ...this.rates.map(({ quota, left }) => 1 - left / quota));
    return usedShare > slowdownShare ? slowdownFactor : 1;
  }

  /** The organization's name, which keys begin with; undefined for a token. */
  get org(): string | undefined {
    return orgOf(this.#key);
  }

  /** For calls outside any space. */
  get outside(): Api {
    return new Api('', this.#key);
  }

  /** Reads a path of the space. Throws Failure. */
  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return jsonOf<T>(await this.open(path, 'application/json', signal), signal);
  }

  /** Like get, but returns the text: numbers in payloads may have more digits than JavaScript keeps. */
  async text(path: string, signal?: AbortSignal): Promise<string> {
    const response = await this.open(path, 'application/json', signal);
    return response.text().catch((error: unknown) => {
      throw signal?.aborted ? error : unreadable();
    });
  }

  /** Like get, but returns the response, which may be a stream. */
  open(path: string, accept: string, signal?: AbortSignal): Promise<Response> {
    return this.#request(path, { accept, signal });
  }

  /** Makes a change, retrying with one Idempotency-Key, and returns the call's answer. Throws Failure. */
  async send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> {
    const idempotencyKey = randomKey();
    for (let tries = 1; ; tries++) {
      try {
        const text = body && JSON.stringify(body);
        return await jsonOf<T>(await this.#request(path, { method, idempotencyKey, ...(text && { body: text }) }));
      } catch (error) {
        if (!(error instanceof Failure && error.isTransient) || tries === maxTries) throw error;
        if (error.retryAfterMs > longestPauseMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.max(500 * tries, error.retryAfterMs)));
      }
    }
  }

  /** A page of the spaces that the key sees, newest first. */
  spaces(cursor?: string): Promise<Spaces> {
    return this.get<Spaces>(`/spaces?limit=200${cursor === undefined ? '' : `&cursor=${cursor}`}`);
  }

  /** The permissions of the key. Only MCP reports them, with its list of tools. */
  async rights(): Promise<Rights> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const accept = 'application/json, text/event-stream';
    const answer = await jsonOf<Listed>(await this.#request('/mcp', { method: 'POST', accept, body }));
    const permissions = new Set(answer.result?._meta?.['muster/permissions']);
    return {
      write: permissions.has('coordination_write'),
      config: permissions.has('resource_config'),
      spend: permissions.has('resource_spend') || permissions.has('resource_config'),
      keys: permissions.has('key_admin'),
    };
  }

  async #request(
    path: string,
    { method = 'GET', accept = 'application/json', body, idempotencyKey, signal }: RequestOptions,
  ): Promise<Response> {
    const limit = accept === 'text/event-stream' ? [] : [AbortSignal.timeout(answerMs)];
    const response = await fetch(`v1${this.spaceId && `/spaces/${this.spaceId}`}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.#key}`,
        Accept: accept,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body !== undefined && { body }),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.any(signal ? [signal, ...limit] : limit),
    }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new Failure(0, 'UNREACHABLE', 'the server cannot be reached');
    });
    const rates = ratesOf(response.headers);
    if (rates.length > 0) this.rates = rates;
    if (response.ok) return response;
    throw await this.#failure(response, ofOperator.test(path));
  }

  async #failure(response: Response, isOfOperator: boolean): Promise<Failure> {
    const retryAfterMs = Number(response.headers.get('Retry-After') ?? 0) * 1000;
    if (retryAfterMs > 0) this.#quietUntil = performance.now() + retryAfterMs;
    // A server that is away refuses everything.
    if (isOfOperator || response.status !== 429) this.#closedUntil = this.#quietUntil;
    const body = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
    const { code = 'UNKNOWN', message = `the server answered ${response.status}` } = body.error ?? {};
    // Read from the header, as a proxy's response may lack the error envelope.
    const requestId = response.headers.get('X-Request-Id') ?? '';
    return new Failure(response.status, code, message, { retryAfterMs, requestId });
  }
}

interface Listed {
  readonly result?: { readonly _meta?: { readonly 'muster/permissions'?: readonly string[] } };
}

async function jsonOf<T>(response: Response, signal?: AbortSignal): Promise<T> {
  if (response.status === 204) return undefined as T;
  try {
    return parse(await response.text()) as T;
  } catch (error) {
    throw signal?.aborted ? error : unreadable();
  }
}

function unreadable(): Failure {
  return new Failure(0, 'UNREADABLE', 'the answer was cut off or is not JSON');
}

/** Not crypto.randomUUID, which exists only with TLS or on localhost. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The rates of the space and its organization: `"space";r=512;t=34` of `"space";q=600;w=60`. */
function ratesOf(headers: Headers): Rate[] {
  const quotas = figures(headers.get('RateLimit-Policy'), 'q');
  const left = figures(headers.get('RateLimit'), 'r');
  return [...quotas].map(([of, quota]) => ({ of, quota, left: left.get(of) ?? quota }));
}

function figures(header: string | null, name: string): Map<string, number> {
  const found = (header ?? '').matchAll(new RegExp(`"(\\w+)";${name}=(\\d+)`, 'g'));
  return new Map([...found].map(([, of = '', digits]) => [of, Number(digits)]));
}
