import type { Answered, Fields } from '../declare/field.ts';
import type { Note } from './envelope.ts';
import type { Input } from './route.ts';

/** What one run of a route's script came to; `reply` undefined: it replied with nothing. */
export interface Ran<R = unknown> {
  readonly note: Note;
  readonly reply: R | undefined;
}

/** Runs a route's script once more, with some arguments changed. */
export type Run = (changes: Readonly<Record<string, string | number>>) => Promise<Ran>;

/** How a request is held: until a look finds something, the time is over, or the caller has gone. */
export interface Hold {
  readonly waitSeconds: number;
  /** What wakes it: a name that scripts publish with what they change. */
  readonly topic: string;
  /**
   * Looks once; undefined: nothing to answer yet. `again` asks for another look after so many milliseconds, woken or
   * not. `isLast`: the time is over, and what is found, or refused, is the answer.
   */
  look(run: Run, isLast: boolean, again: (inMs: number) => void): Promise<Ran | undefined>;
}

/** How long a read may be held: until what it answers says that it is over. */
export interface Wait<Query, R extends Fields> {
  /** The path parameter whose value scripts publish (`journal.wake`) with each change that may end a wait. */
  readonly on: string;
  /** Whether there is nothing more to wait for. first: what the read found when it began. */
  readonly isOver: (reply: Answered<R>, input: Input<Query>, first: Answered<R>) => boolean;
}

/** Holds a read that has `waitSeconds`; in the end it answers the record as it then stands. */
export function holdRead<Query, R extends Fields>(
  { on, isOver }: Wait<Query, R>,
  input: Input<Query>,
): Hold | undefined {
  const { waitSeconds } = input.query as { readonly waitSeconds: number };
  if (waitSeconds === 0) return undefined;
  let first: Answered<R> | undefined;
  return {
    waitSeconds,
    topic: input.params[on] ?? '',
    look: async (run, isLast) => {
      const ran = await run({});
      const reply = ran.reply as Answered<R>;
      first ??= reply;
      return isLast || isOver(reply, input, first) ? ran : undefined;
    },
  };
}

/** Looks that have just begun: those that one change wakes are alike, and share one. */
export class Looks {
  readonly #begun = new Map<string, Promise<Ran>>();

  /** Nobody joins a look that another change, which it may not have seen, came after. */
  share([org, args]: readonly [string, object], look: () => Promise<Ran>): Promise<Ran> {
    const name = JSON.stringify([org, { ...args, requestId: '' }]);
    let ran = this.#begun.get(name);
    if (!ran) {
      ran = look();
      this.#begun.set(name, ran);
      process.nextTick(() => this.#begun.delete(name));
    }
    return ran;
  }
}
