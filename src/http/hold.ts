import type { Answered, Fields } from '../declare/field.ts';
import type { Note } from './envelope.ts';
import type { Input } from './route.ts';

/** The result of one run of a route's script; `reply` is undefined if it replied with nothing. */
export interface Ran<R = unknown> {
  readonly note: Note;
  readonly reply: R | undefined;
}

/** Runs a route's script again, with some arguments changed. */
export type Run = (changes: Readonly<Record<string, string | number>>) => Promise<Ran>;

/** How a request is held: until a look finds something, the time is up, or the caller disconnects. */
export interface Hold {
  readonly waitSeconds: number;
  /** What wakes it: a topic that scripts publish with their changes. */
  readonly topic: string;
  /**
   * Looks once; undefined if there is nothing to answer yet. `again` requests another look after so many milliseconds,
   * even without a wake-up. `isLast`: the time is up, and the result or refusal is the answer.
   */
  look(run: Run, isLast: boolean, again: (inMs: number) => void): Promise<Ran | undefined>;
}

/** What ends the hold of a read. */
export interface Wait<Query, R extends Fields> {
  /** The path parameter whose value scripts publish (`journal.wake`) with each change that may end it. */
  readonly on: string;
  /** Whether there is nothing more to wait for. first: the reply when the hold began. */
  readonly isOver: (reply: Answered<R>, input: Input<Query>, first: Answered<R>) => boolean;
}

/** Holds a read that has `waitSeconds`; when the time is up, the answer is the record as it is then. */
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

/** Shares one look between the equal requests that a change wakes. */
export class Looks {
  readonly #started = new Map<string, Promise<Ran>>();

  /** A look is shared only until the next tick: requests that a later change wakes must see that change. */
  share([org, args]: readonly [string, object], look: () => Promise<Ran>): Promise<Ran> {
    const name = JSON.stringify([org, { ...args, requestId: '' }]);
    let ran = this.#started.get(name);
    if (!ran) {
      ran = look();
      this.#started.set(name, ran);
      process.nextTick(() => this.#started.delete(name));
    }
    return ran;
  }
}
