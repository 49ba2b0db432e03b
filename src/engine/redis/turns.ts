/** How much store time one organization's calls may have ahead of the calls of others, in milliseconds. */
const aheadMs = 5;
/** The bounds of an organization's calls in flight, and how many may be while the cost of its calls is not known. */
const [fewest, unknown, most] = [1, 4, 64];
/** How fast the estimate of a call's cost follows, and the fastest round trip is forgotten. */
const [following, forgetting] = [1 / 8, 1.0005];

/** The calls of one organization. */
interface Line {
  running: number;
  /** How many may run at once. */
  atOnce: number;
  costMs: number;
  readonly waiting: (() => void)[];
}

/**
 * Has the calls of each organization wait here rather than in the store, which takes all calls in turn: so an organization
 * with many or slow calls waits for itself, and others have only a few milliseconds of its calls before them. Many calls may
 * be in flight if they are cheap, as a distant store requires.
 */
export class Turns {
  readonly #lines = new Map<string, Line>();
  readonly #now: () => number;
  /** The fastest recent round trip: the distance of the store. */
  #fastestMs = Number.POSITIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  run<T>(org: string, call: () => Promise<T>): Promise<T> {
    let line = this.#lines.get(org);
    if (!line) {
      line = { running: 0, atOnce: unknown, costMs: 0, waiting: [] };
      this.#lines.set(org, line);
    }
    const { running, atOnce, waiting } = line;
    if (running < atOnce) return this.#start(org, line, call);
    return new Promise((resolve, reject) => {
      waiting.push(() => this.#start(org, line, call).then(resolve, reject));
    });
  }

  async #start<T>(org: string, line: Line, call: () => Promise<T>): Promise<T> {
    const running = ++line.running;
    const begun = this.#now();
    try {
      return await call();
    } finally {
      this.#learn(line, this.#now() - begun, running);
      line.running--;
      while (line.running < line.atOnce && line.waiting.length > 0) line.waiting.shift()?.();
      if (line.running === 0) this.#lines.delete(org);
    }
  }

  /** A round trip includes the calls of the organization that were before it. */
  #learn(line: Line, tookMs: number, running: number): void {
    this.#fastestMs = Math.min(tookMs, this.#fastestMs * forgetting);
    line.costMs += ((tookMs - this.#fastestMs) / running - line.costMs) * following;
    line.atOnce = Math.max(fewest, Math.min(most, Math.floor(aheadMs / line.costMs)));
  }
}
