import { apiError } from './errors.ts';

/** The most requests that a process holds for one organization, its streams included. */
const maxHeld = 20_000;
/** The most streams that a process keeps open for one key. */
const maxStreams = 2_000;
/** Held requests end within 30 s, so that a place is free soon. */
const retryAfterSeconds = 5;

type Headers = Readonly<Record<string, string>>;

/** Counts the requests that stay open in this process, so that no organization or key takes the connections of the others. */
export class OpenRequests {
  readonly #counts = new Map<string, number>();

  /** Begins to hold a request; the result ends that. headers: of the refusal. Throws CONNECTIONS_LIMITED. */
  hold(org: string, headers: Headers = {}): () => void {
    return this.#enter(`org ${org}`, maxHeld, 'the organization has', headers);
  }

  /** Opens a stream; the result closes it. Throws CONNECTIONS_LIMITED. */
  stream(org: string, apiKeyDigest: string): () => void {
    const leave = this.hold(org);
    try {
      const close = this.#enter(`key ${apiKeyDigest}`, maxStreams, 'this API key has');
      return () => {
        leave();
        close();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** The result may be called repeatedly. */
  #enter(name: string, most: number, whose: string, headers: Headers = {}): () => void {
    const count = this.#counts.get(name) ?? 0;
    if (count >= most)
      throw apiError('CONNECTIONS_LIMITED', `${whose} ${most}`, {
        ...headers,
        'Retry-After': String(retryAfterSeconds),
      });
    this.#counts.set(name, count + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = (this.#counts.get(name) ?? 0) - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    };
  }
}
