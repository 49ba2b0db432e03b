/** How much store time one organization's calls may have ahead of the calls of others, in milliseconds. */
const aheadMs = 5;
/** The bounds of an organization's calls in flight, and how many may be while the cost of its calls is not known. */
const [fewest, unknown, most] = [1, 4, 64];
/** How fast the estimates of a call's cost follow, and the fastest round trip is forgotten. */
const [following, forgetting] = [1 / 8, 1.0005];
/** A call of this cost is a large one, after which its organization rests for so many times the cost. */
const [largeMs, restTimes] = [2, 3];
/** How many of an organization's last calls must all have been large: one call is slow because of others, but not all. */
const remembered = 8;
/** A reply of this size holds its turn until this process has made and sent its answer. */
const largeBytes = 4_096;
/** Others are there if they have called within this time. */
const othersMs = 100;

/** The calls of one organization. */
interface Line {
  running: number;
  /** How many may run at once. */
  atOnce: number;
  costMs: number;
  readonly lastMs: number[];
  /** No call starts before this. */
  restsUntil: number;
  isResting: boolean;
  readonly waiting: (() => void)[];
}

/** About how many bytes a reply has. */
function bytesOf(reply: unknown): number {
  if (typeof reply === 'string') return reply.length;
  if (!Array.isArray(reply)) return 0;
  let bytes = 0;
  for (const one of reply) bytes += bytesOf(one);
  return bytes;
}

interface Clock {
  readonly now: () => number;
  readonly after: (ms: number, act: () => void) => unknown;
  /** Acts once what is to be done now is done. */
  readonly soon: (act: () => void) => unknown;
}

const clockOfProcess: Clock = {
  now: () => performance.now(),
  after: (ms, act) => setTimeout(act, ms),
  soon: (act) => setImmediate(act),
};

/**
 * Has the calls of each organization wait here rather than in the store, which takes all calls in turn: so an organization
 * with many or slow calls waits for itself, and others have only a few milliseconds of its calls before them. Many calls may
 * be in flight if they are cheap, as a distant store requires. While others call, too, an organization whose calls are all
 * large has a quarter of the time of the store and of this process.
 */
export class Turns {
  readonly #lines = new Map<string, Line>();
  readonly #clock: Clock;
  /** The fastest recent round trip: the distance of the store. */
  #fastestMs = Number.POSITIVE_INFINITY;
  /** The organization that has called last, and the last other one. */
  #last = { org: '', at: Number.NEGATIVE_INFINITY };
  #other = this.#last;

  constructor(clock: Clock = clockOfProcess) {
    this.#clock = clock;
  }

  run<T>(org: string, call: () => Promise<T>): Promise<T> {
    const now = this.#clock.now();
    if (this.#last.org === org) this.#last.at = now;
    else [this.#other, this.#last] = [this.#last, { org, at: now }];
    let line = this.#lines.get(org);
    if (!line) {
      line = {
        running: 0,
        atOnce: unknown,
        costMs: 0,
        lastMs: [],
        restsUntil: 0,
        isResting: false,
        waiting: [],
      };
      this.#lines.set(org, line);
    }
    const { running, atOnce, waiting, isResting } = line;
    if (running < atOnce && !isResting) return this.#start(org, line, call);
    return new Promise((resolve, reject) => {
      waiting.push(() => this.#start(org, line, call).then(resolve, reject));
    });
  }

  async #start<T>(org: string, line: Line, call: () => Promise<T>): Promise<T> {
    const running = ++line.running;
    const begun = this.#clock.now();
    let bytes = 0;
    try {
      const reply = await call();
      bytes = bytesOf(reply);
      return reply;
    } finally {
      const answered = this.#clock.now();
      const end = (): void => {
        const now = this.#clock.now();
        this.#learn(line, answered - begun, running, now - answered);
        line.running--;
        this.#rest(org, line, now);
        this.#next(org, line);
      };
      if (bytes < largeBytes) end();
      else this.#clock.soon(end);
    }
  }

  #next(org: string, line: Line): void {
    if (line.isResting) return;
    while (line.running < line.atOnce && line.waiting.length > 0) line.waiting.shift()?.();
    if (line.running === 0) this.#lines.delete(org);
  }

  /** A round trip includes the calls of the organization that were before it. */
  #learn(line: Line, tookMs: number, running: number, answerMs: number): void {
    this.#fastestMs = Math.min(tookMs, this.#fastestMs * forgetting);
    const costMs = (tookMs - this.#fastestMs) / running;
    line.costMs += (costMs - line.costMs) * following;
    line.atOnce = Math.max(fewest, Math.min(most, Math.floor(aheadMs / line.costMs)));
    line.lastMs.push(costMs + answerMs);
    if (line.lastMs.length > remembered) line.lastMs.shift();
  }

  #rest(org: string, line: Line, now: number): void {
    const { at } = this.#last.org === org ? this.#other : this.#last;
    const costMs = line.lastMs.length < remembered ? 0 : Math.min(...line.lastMs);
    if (costMs < largeMs || now - at > othersMs) return;
    line.restsUntil = Math.max(now, line.restsUntil) + restTimes * costMs;
    if (line.isResting) return;
    line.isResting = true;
    const wake = (): void => {
      const left = line.restsUntil - this.#clock.now();
      if (left > 0) {
        this.#clock.after(left, wake);
        return;
      }
      line.isResting = false;
      this.#next(org, line);
    };
    this.#clock.after(line.restsUntil - now, wake);
  }
}
