import type { Script } from './loader.ts';
import type { Reply, Value } from './scripts.ts';

type Run = (script: Script, org: string, argv: readonly (string | number)[]) => Promise<Reply>;

/** So many calls keep the store busy for a millisecond at most, and the next ones need not wait for a full turn. */
const most = 16;

interface Batch {
  readonly script: Script;
  readonly org: string;
  readonly argv: (string | number)[];
  readonly callers: { resolve(reply: Reply): void; reject(error: unknown): void }[];
}

/**
 * Calls of one script for one space that are made in one turn of the event loop go to the store as one command: what
 * they have in common (key, organization, space, counters) is read and written once. Each is atomic by itself and is
 * refused by itself; alone in its turn, a call goes exactly as without this.
 */
export class Gathering {
  readonly #run: Run;
  readonly #open = new Map<string, Batch>();

  constructor(run: Run) {
    this.#run = run;
  }

  /** Rejects with what the store says of this call. */
  call(script: Script, org: string, spaceId: string, argv: readonly (string | number)[]): Promise<Reply> {
    const key = `${script.functionName} ${org} ${spaceId}`;
    let batch = this.#open.get(key);
    if (!batch) {
      if (this.#open.size === 0) setImmediate(() => this.#sendAll());
      batch = { script, org, argv: [], callers: [] };
      this.#open.set(key, batch);
    }
    const { callers } = batch;
    batch.argv.push(...argv);
    const reply = new Promise<Reply>((resolve, reject) => {
      callers.push({ resolve, reject });
    });
    if (callers.length === most) {
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

  async #send({ script, org, argv, callers }: Batch): Promise<void> {
    try {
      const reply = await this.#run(script, org, argv);
      const replies: readonly Value[] = callers.length === 1 ? [reply] : reply;
      callers.forEach((caller, index) => {
        const own = replies[index];
        if (Array.isArray(own)) caller.resolve(own);
        else caller.reject(new Error(String(own)));
      });
    } catch (error) {
      for (const caller of callers) caller.reject(error);
    }
  }
}
