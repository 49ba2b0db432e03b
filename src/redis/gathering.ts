import type { Script } from './loader.ts';
import type { Reply, Value } from './scripts.ts';

type Run = (script: Script, org: string, argv: readonly string[]) => Promise<Reply>;

/** So many calls keep the store busy for a millisecond at most, and the next ones need not wait for a full turn. */
const most = 16;

interface Caller {
  readonly argv: readonly string[];
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

interface Batch {
  readonly script: Script;
  readonly org: string;
  /** Those of one space stand together: a run goes from space to space. */
  readonly callers: Map<string, Caller[]>;
  size: number;
}

/**
 * Calls of one script for one organization that are made in one turn of the event loop go to the store as one command:
 * what they have in common (key, organization, space, counters) is read and written once. Each is atomic by itself
 * and is refused by itself; alone in its turn, a call goes exactly as without this.
 */
export class Gathering {
  readonly #run: Run;
  readonly #open = new Map<string, Batch>();

  constructor(run: Run) {
    this.#run = run;
  }

  /** Rejects with what the store says of this call. */
  call(script: Script, org: string, spaceId: string, argv: readonly string[]): Promise<Reply> {
    const key = `${script.functionName} ${org}`;
    let batch = this.#open.get(key);
    if (!batch) {
      if (this.#open.size === 0) setImmediate(() => this.#sendAll());
      batch = { script, org, callers: new Map(), size: 0 };
      this.#open.set(key, batch);
    }
    const { callers } = batch;
    const reply = new Promise<Reply>((resolve, reject) => {
      const caller = { argv, resolve, reject };
      const beside = callers.get(spaceId);
      if (beside) beside.push(caller);
      else callers.set(spaceId, [caller]);
    });
    if (++batch.size === most) {
      this.#open.delete(key);
      void this.#send(batch);
    }
    return reply;
  }

  #sendAll(): void {
    const batches = [...this.#open.values()];
    this.#open.clear();
    for (const batch of batches) void this.#send(batch);
  }

  async #send({ script, org, callers: bySpace }: Batch): Promise<void> {
    const callers = [...bySpace.values()].flat();
    try {
      const reply = await this.#run(
        script,
        org,
        callers.flatMap(({ argv }) => argv),
      );
      const replies: readonly Value[] = callers.length === 1 ? [reply] : reply;
      callers.forEach((caller, index) => {
        const own = replies[index];
        if (Array.isArray(own)) caller.resolve(own);
        else caller.reject(own);
      });
    } catch (error) {
      for (const caller of callers) caller.reject(error);
    }
  }
}
