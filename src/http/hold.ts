import type { Note } from './envelope.ts';

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
