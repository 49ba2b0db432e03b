import type { Logger } from 'pino';
import { within } from '../redis/failures.ts';
import { type Args, callArgs } from './args.ts';

/** Runs a script for an organization; again if it is sent back. */
type Execute = (script: string, org: string, args: Args) => Promise<unknown>;

/** The most items that one run of a script gives back. */
const maxItems = 100;
/** How long shutdown waits for requests whose callers have gone, and for what is given back for them. */
const maxStopMs = 1_500;

/** What a call took for its caller: the script that gives it back, and its items. */
export interface Taken {
  readonly script: string;
  readonly org: string;
  readonly spaceId: string;
  readonly items: readonly string[];
}

/**
 * Gives back what calls took for callers that disconnected before their answers were written. What is taken at about the
 * same time in a space goes back together.
 */
export class GivingBack {
  readonly #script: Execute;
  readonly #log: Logger;
  readonly #waiting = new Map<string, Taken>();
  readonly #pending = new Set<Promise<void>>();
  #requests = 0;
  #whenIdle: () => void = () => undefined;

  constructor(script: Execute, log: Logger) {
    this.#script = script;
    this.#log = log;
  }

  /** A request has begun, so it may take something. Call `end` once its answer was written or dropped. */
  begin(): void {
    this.#requests++;
  }

  end(): void {
    this.#requests--;
    this.#check();
  }

  /** Gives this back soon. If that fails, the lease ends it. */
  add(taken: Taken): void {
    if (this.#waiting.size === 0) setImmediate(() => this.#start());
    const key = `${taken.script} ${taken.org} ${taken.spaceId}`;
    const before = this.#waiting.get(key);
    this.#waiting.set(key, before ? { ...before, items: [...before.items, ...taken.items] } : taken);
  }

  /** Resolves when no request is running and everything has been given back, at the latest after a short time. */
  async settled(): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
    this.#check();
    await within(maxStopMs, idle).catch(() => undefined);
  }

  #check(): void {
    if (this.#requests === 0 && this.#waiting.size === 0 && this.#pending.size === 0) this.#whenIdle();
  }

  #start(): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const taken of all) {
      const pending = this.#run(taken).finally(() => {
        this.#pending.delete(pending);
        this.#check();
      });
      this.#pending.add(pending);
    }
  }

  async #run({ script, org, spaceId, items }: Taken): Promise<void> {
    try {
      for (let at = 0; at < items.length; at += maxItems) {
        const some = items.slice(at, at + maxItems).join(' ');
        await this.#script(script, org, { ...callArgs, items: some, spaceId, callName: script });
      }
    } catch (error) {
      const { message } = error as Error;
      this.#log.warn({ script, error: message }, 'cannot give back what was taken for a caller that has gone');
    }
  }
}
