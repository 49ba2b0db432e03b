import type { BatchSlot } from '../../engine/call/batch-slot.ts';
import type { Answered, Fields } from '../../engine/declare/field.ts';
import type { Reply } from '../../engine/declare/value.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import type { Args } from '../../engine/route/args.ts';
import { maxReceivedBytes, maxRecordBytes } from '../../engine/route/route.ts';

/** A script that a call is waiting to run. */
interface Waiting {
  readonly script: string;
  readonly org: string;
  readonly args: Args;
  resolve(reply: Reply | PromiseLike<Reply>): void;
}

interface Entry {
  waiting?: Waiting | undefined;
  hasEnded?: true;
  /** The most bytes that the call may receive; undefined if it does not receive. */
  maxBytes?: number;
}

/** The turn of a call, until it is answered or refused. */
interface EndingSlot extends BatchSlot {
  end(): void;
}

/**
 * Runs the calls of a batch in order: each after all before it have ended. Only neighbours that run the same script go to the
 * store together, whichever objects they touch.
 */
export class Slots {
  readonly #scripts: Scripts;
  readonly #entries: Entry[] = [];
  /** The first call that has not ended. */
  #first = 0;
  #isScheduled = false;
  #bytesLeft = maxReceivedBytes;

  constructor(scripts: Scripts) {
    this.#scripts = scripts;
  }

  /** The turn of the next call in the list. */
  next(): EndingSlot {
    const entry: Entry = {};
    this.#entries.push(entry);
    return {
      execute: (script, org, args) =>
        new Promise((resolve) => {
          entry.waiting = { script, org, args, resolve };
          this.#schedule();
        }),
      receive: async (receives, input, execute) => {
        entry.maxBytes = receives.maxBytes(input);
        const result = await execute();
        if (result.reply !== undefined) this.#bytesLeft -= receives.bytes(result.reply as Answered<Fields>);
        return result;
      },
      end: () => {
        entry.hasEnded = true;
        this.#schedule();
      },
    };
  }

  /** In a microtask, so that calls reaching their scripts at the same time are considered together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#entries[this.#first]?.hasEnded) this.#first++;
    const together = this.#together();
    const [first] = together;
    if (!first) return;
    const calls = together.map(({ args }) => args);
    this.#scripts.executeTogether(first.script, first.org, calls).forEach((reply, index) => {
      const entry = this.#entries[this.#first + index];
      if (entry) entry.waiting = undefined;
      together[index]?.resolve(reply);
    });
  }

  /** The first call that has not ended, and the neighbours that can run with it. */
  #together(): Waiting[] {
    const together: Waiting[] = [];
    let sum = 0;
    for (const { waiting, maxBytes } of this.#entries.slice(this.#first)) {
      if (!waiting || (together[0] && waiting.script !== together[0].script)) break;
      if (maxBytes === undefined) together.push(waiting);
      else {
        sum += maxBytes;
        // The bytes left are known only after the calls before have been answered.
        if (together.length > 0 && sum > this.#bytesLeft) break;
        together.push({
          ...waiting,
          args: { ...waiting.args, bytesLimit: Math.max(0, this.#bytesLeft - maxRecordBytes) },
        });
      }
    }
    return together;
  }
}
