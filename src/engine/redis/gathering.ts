import type { Reply, Value } from '../declare/value.ts';
import type { Script } from '../library/loader.ts';

/** The arguments of a call as sent. */
export type Argv = readonly (string | Buffer)[];

type Execute = (script: Script, org: string, argv: Argv) => Promise<Reply>;

/** Calls per FCALL. They keep the store busy for about a millisecond, which other calls may have to wait for. */
const maxCalls = 32;
/** Characters per FCALL. 30 KiB of payload cost the store as much as a call. */
const maxCharacters = 128 * 1024;

interface Caller {
  readonly spaceId: string;
  readonly argv: Argv;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

/** The pending and running calls of one script for one organization. */
interface Lane {
  readonly key: string;
  readonly script: Script;
  readonly org: string;
  waiting: Caller[];
  /** The number of characters in the waiting calls' arguments. */
  length: number;
  inFlight: number;
}

/** Orders the calls of an FCALL by space. Calls of one space keep their order. */
function bySpace(a: Caller, b: Caller): number {
  return a.spaceId < b.spaceId ? -1 : a.spaceId > b.spaceId ? 1 : 0;
}

/**
 * The arguments of all calls, each with its shared ones first. Shared arguments equal to the previous call's are sent as ''.
 */
function sharing(callers: readonly Caller[]): Argv {
  return callers.flatMap(({ argv }, index) =>
    argv[0] === callers[index - 1]?.argv[0] ? ['', ...argv.slice(1)] : argv,
  );
}

/**
 * Sends calls of one script for one organization to the store together: the calls of one turn of the event loop, and those
 * that arrive while an FCALL is in flight. Records they share (key, organization, space, counters) are read and written once.
 * Each call is atomic and refused separately; a single call is sent as it would be without gathering.
 */
export class Gathering {
  readonly #run: Execute;
  readonly #lanes = new Map<string, Lane>();

  constructor(run: Execute) {
    this.#run = run;
  }

  /** Rejects with the store's error for this call. */
  call(script: Script, org: string, spaceId: string, argv: Argv): Promise<Reply> {
    const lane = this.#lane(script, org);
    const { waiting } = lane;
    const reply = new Promise<Reply>((resolve, reject) => {
      waiting.push({ spaceId, argv, resolve, reject });
    });
    for (const text of argv) lane.length += text.length;
    // Doesn't wait for earlier FCALLs: a slow network costs latency, not throughput.
    if (waiting.length === maxCalls || lane.length >= maxCharacters) void this.#send(lane);
    return reply;
  }

  /** Sends as many of these calls, from the first on, as one FCALL takes, in this order. */
  together(script: Script, org: string, spaceId: string, calls: readonly Argv[]): Promise<Reply>[] {
    const lane = this.#lane(script, org);
    const taken: Argv[] = [];
    let length = 0;
    for (const argv of calls) {
      const characters = argv.reduce((sum, text) => sum + text.length, 0);
      if (taken.length === maxCalls || (taken.length > 0 && length + characters > maxCharacters)) break;
      taken.push(argv);
      length += characters;
    }
    // If the calls do not all fit behind the waiting ones, send the waiting ones first rather than split the calls.
    if (lane.waiting.length + taken.length > maxCalls || (lane.length > 0 && lane.length + length > maxCharacters))
      void this.#send(lane);
    const replies = taken.map(
      (argv) =>
        new Promise<Reply>((resolve, reject) => {
          lane.waiting.push({ spaceId, argv, resolve, reject });
        }),
    );
    lane.length += length;
    if (lane.waiting.length === maxCalls || lane.length >= maxCharacters) void this.#send(lane);
    return replies;
  }

  #lane(script: Script, org: string): Lane {
    const key = `${script.functionName} ${org}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    const lane: Lane = { key, script, org, waiting: [], length: 0, inFlight: 0 };
    this.#lanes.set(key, lane);
    setImmediate(() => {
      if (lane.inFlight === 0) this.#next(lane);
    });
    return lane;
  }

  #next(lane: Lane): void {
    if (lane.waiting.length > 0) void this.#send(lane);
    else if (lane.inFlight === 0) this.#lanes.delete(lane.key);
  }

  async #send(lane: Lane): Promise<void> {
    const callers = lane.waiting.sort(bySpace);
    const argv = lane.script.shared.length > 0 ? sharing(callers) : callers.flatMap((caller) => caller.argv);
    lane.waiting = [];
    lane.length = 0;
    lane.inFlight++;
    let replies: readonly Value[] = [];
    let failure: unknown;
    try {
      const reply = await this.#run(lane.script, lane.org, argv);
      replies = callers.length === 1 ? [reply] : reply;
    } catch (error) {
      failure = error;
    }
    lane.inFlight--;
    // Before the replies are delivered, so that the store works in the meantime.
    this.#next(lane);
    callers.forEach((caller, index) => {
      const reply = replies[index];
      if (Array.isArray(reply)) caller.resolve(reply);
      else caller.reject(reply ?? failure);
    });
  }
}
