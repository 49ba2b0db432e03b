import type { Reply, Value } from '../declare/value.ts';
import type { Script } from './loader.ts';

type Run = (script: Script, org: string, argv: readonly string[]) => Promise<Reply>;

/** So many calls keep the store busy for about a millisecond: those of others need not wait for longer … */
const most = 32;
/** … nor behind long payloads: 30 KiB of text cost the store as much as a call. */
const mostCharacters = 128 * 1024;

interface Caller {
  readonly spaceId: string;
  readonly argv: readonly string[];
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

/** The calls of one script for one organization, as long as some wait or are under way. */
interface Lane {
  readonly key: string;
  readonly script: Script;
  readonly org: string;
  waiting: Caller[];
  /** Characters in the arguments of those. */
  length: number;
  runs: number;
}

/** A run goes from space to space; within one, calls keep their order. */
function bySpace(a: Caller, b: Caller): number {
  return a.spaceId < b.spaceId ? -1 : a.spaceId > b.spaceId ? 1 : 0;
}

/**
 * Calls of one script for one organization go to the store together: those of one turn of the event loop, and, while a
 * run is under way, those that come until it is answered. What they have in common (key, organization, space, counters)
 * is read and written once. Each is atomic by itself and is refused by itself; one that comes alone goes as without this.
 */
export class Gathering {
  readonly #run: Run;
  readonly #lanes = new Map<string, Lane>();

  constructor(run: Run) {
    this.#run = run;
  }

  /** Rejects with what the store says of this call. */
  call(script: Script, org: string, spaceId: string, argv: readonly string[]): Promise<Reply> {
    const lane = this.#lane(script, org);
    const { waiting } = lane;
    const reply = new Promise<Reply>((resolve, reject) => {
      waiting.push({ spaceId, argv, resolve, reject });
    });
    for (const text of argv) lane.length += text.length;
    // Waits for no answer: a slow network costs time, but no throughput.
    if (waiting.length === most || lane.length >= mostCharacters) void this.#send(lane);
    return reply;
  }

  #lane(script: Script, org: string): Lane {
    const key = `${script.functionName} ${org}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    const lane: Lane = { key, script, org, waiting: [], length: 0, runs: 0 };
    this.#lanes.set(key, lane);
    setImmediate(() => {
      if (lane.runs === 0) this.#next(lane);
    });
    return lane;
  }

  #next(lane: Lane): void {
    if (lane.waiting.length > 0) void this.#send(lane);
    else if (lane.runs === 0) this.#lanes.delete(lane.key);
  }

  async #send(lane: Lane): Promise<void> {
    const callers = lane.waiting.sort(bySpace);
    const argv = callers.flatMap((caller) => caller.argv);
    lane.waiting = [];
    lane.length = 0;
    lane.runs++;
    let replies: readonly Value[] = [];
    let failure: unknown;
    try {
      const reply = await this.#run(lane.script, lane.org, argv);
      replies = callers.length === 1 ? [reply] : reply;
    } catch (error) {
      failure = error;
    }
    lane.runs--;
    // Before the answers are handed out: the store is at work meanwhile.
    this.#next(lane);
    callers.forEach((caller, index) => {
      const own = replies[index];
      if (Array.isArray(own)) caller.resolve(own);
      else caller.reject(own ?? failure);
    });
  }
}
