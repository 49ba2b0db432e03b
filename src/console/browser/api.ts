/** A failed request; status 0 means there was no response. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterMs: number;
  constructor(status: number, code: string, message: string, retryAfterMs = 0) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether a retry may succeed. */
  get isTransient(): boolean {
    return [0, 429, 503].includes(this.status);
  }
}

/** Above this share of the request rate the console polls less often, to leave the rate to the workers. */
const slowdownShare = 0.5;
const slowdownFactor = 4;

/** Reads one space with one key; it cannot write. */
export class Api {
  readonly spaceId: string;
  readonly #key: string;
  #quietUntil = 0;
  #usedShare = 0;

  constructor(spaceId: string, key: string) {
    this.spaceId = spaceId;
    this.#key = key;
  }

  /** What is left of the server's Retry-After, in milliseconds. */
  get quietMs(): number {
    return Math.max(0, this.#quietUntil - performance.now());
  }

  /** Factor for the pause between reads. */
  get slowness(): number {
    return this.#usedShare > slowdownShare ? slowdownFactor : 1;
  }

  /** Reads a path of the space. Throws Failure. */
  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const response = await this.open(path, 'application/json', signal);
    return (await response.json().catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new Failure(0, 'UNREADABLE', 'the answer was cut off or is not JSON');
    })) as T;
  }

  /** The same for a streamed response. */
  async open(path: string, accept: string, signal?: AbortSignal): Promise<Response> {
    const response = await fetch(`v1/spaces/${this.spaceId}${path}`, {
      headers: { Authorization: `Bearer ${this.#key}`, Accept: accept },
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: signal ?? null,
    }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new Failure(0, 'UNREACHABLE', 'the server cannot be reached');
    });
    this.#usedShare = usedShare(response.headers) ?? this.#usedShare;
    if (response.ok) return response;
    throw await this.#failure(response);
  }

  async #failure(response: Response): Promise<Failure> {
    const retryAfterMs = Number(response.headers.get('Retry-After') ?? 0) * 1000;
    if (retryAfterMs > 0) this.#quietUntil = performance.now() + retryAfterMs;
    const body = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
    const { code = 'UNKNOWN', message = `the server answered ${response.status}` } = body.error ?? {};
    return new Failure(response.status, code, message, retryAfterMs);
  }
}

/** The larger used share of the space's and the organization's rate: `"space";r=512;t=34` of `"space";q=600;w=60`. */
function usedShare(headers: Headers): number | undefined {
  const left = numbers(headers.get('RateLimit'), 'r');
  const quotas = numbers(headers.get('RateLimit-Policy'), 'q');
  const shares = left.map((remaining, index) => 1 - remaining / (quotas[index] ?? remaining));
  return shares.length === 0 ? undefined : Math.max(...shares);
}

function numbers(header: string | null, name: string): number[] {
  return [...(header ?? '').matchAll(new RegExp(`;${name}=(\\d+)`, 'g'))].map(([, digits]) => Number(digits));
}
