import type { Answered, Fields } from '../declare/field.ts';
import type { Reply } from '../declare/value.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Ran } from './hold.ts';
import { type Input, maxReceivedBytes, type Receives } from './route.ts';

type Args = Readonly<Record<string, string | number>>;

/** A call of a batch as those before and behind it see it. */
export interface Turn {
  /** Runs a script when it is the call's turn. */
  run(script: string, org: string, args: Args): Promise<Reply>;
  /** Runs a call that receives messages, within the bytes that those before it have left. */
  receive(receives: Receives, input: Input, ran: () => Promise<Ran>): Promise<Ran>;
  /** The call has been answered or refused. */
  end(): void;
}

/** A script that a call waits to run. */
interface Waiting {
  readonly script: string;
  readonly org: string;
  readonly args: Args;
  resolve(reply: Reply | PromiseLike<Reply>): void;
}

interface Place {
  waiting?: Waiting | undefined;
  isOver?: true;
  /** Bytes that the call may receive at most; undefined: it does not receive. */
  maxBytes?: number;
}

/**
 * Runs the calls of a batch in the order of its list: none before all those in front of it are over, but that neighbours
 * of one script go to the store together. Which objects they touch is not known here, and need not be.
 */
export class Turns {
  readonly #scripts: Scripts;
  readonly #places: Place[] = [];
  /** The first call that is not over. */
  #first = 0;
  #isScheduled = false;
  #bytesLeft = maxReceivedBytes;

  constructor(scripts: Scripts) {
    this.#scripts = scripts;
  }

  /** The turn of the next call in the list. */
  next(): Turn {
    const place: Place = {};
    this.#places.push(place);
    return {
      run: (script, org, args) =>
        new Promise((resolve) => {
          place.waiting = { script, org, args, resolve };
          this.#schedule();
        }),
      receive: async (receives, input, ran) => {
        place.maxBytes = receives.maxBytes(input);
        const found = await ran();
        if (found.reply !== undefined) this.#bytesLeft -= receives.bytes(found.reply as Answered<Fields>);
        return found;
      },
      end: () => {
        place.isOver = true;
        this.#schedule();
      },
    };
  }

  /** After what else happens now: calls that come to their scripts together are looked at together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#places[this.#first]?.isOver) this.#first++;
    const together = this.#together();
    const [first] = together;
    if (!first) return;
    const calls = together.map(({ args }) => args);
    this.#scripts.runTogether(first.script, first.org, calls).forEach((reply, index) => {
      const place = this.#places[this.#first + index];
      if (place) place.waiting = undefined;
      together[index]?.resolve(reply);
    });
  }

  /** The first call that is not over, and its neighbours that can go with it. */
  #together(): Waiting[] {
    const together: Waiting[] = [];
    let sum = 0;
    for (const { waiting, maxBytes } of this.#places.slice(this.#first)) {
      if (!waiting || (together[0] && waiting.script !== together[0].script)) break;
      if (maxBytes === undefined) together.push(waiting);
      else {
        sum += maxBytes;
        // What the first ones leave is known when they have been answered.
        if (together.length > 0 && sum > this.#bytesLeft) break;
        together.push({ ...waiting, args: { ...waiting.args, bytesLimit: this.#bytesLeft } });
      }
    }
    return together;
  }
}
