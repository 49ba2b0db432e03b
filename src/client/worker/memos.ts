import { isRefusal } from '../error.ts';
import type { Run } from '../run.ts';
import { ClaimLost, isLost } from './errors.ts';

/** The key of a note has as many characters more as the message's id and what is beside it. */
const maxKey = 256 - 'once::'.length - 36;

/** The steps of a message whose values are kept as notes of its run. */
export class Memos {
  /** Names of notes that this attempt has found or made. */
  readonly keys = new Set<string>();
  readonly #run: Run;
  readonly #messageId: string;
  /** By key: steps that are done or under way, so that one attempt does none twice at once either. */
  readonly #steps = new Map<string, Promise<unknown>>();

  constructor(run: Run, messageId: string) {
    this.#run = run;
    this.#messageId = messageId;
  }

  /** The kept value of a step, or that of `work`, which is kept. */
  once<Value>(key: string, work: () => Value | Promise<Value>): Promise<Value> {
    if (key === '' || [...key].length > maxKey) throw new RangeError(`the key of a step has 1 to ${maxKey} characters`);
    const known = this.#steps.get(key) as Promise<Value> | undefined;
    if (known) return known;
    const step = this.#do(key, work);
    this.#steps.set(key, step);
    // The handler may try it again.
    step.catch(() => this.#steps.delete(key));
    return step;
  }

  async #do<Value>(key: string, work: () => Value | Promise<Value>): Promise<Value> {
    // A message has keys of its own: two messages of a run share none.
    const note = this.#run.note<Value | null>(`once:${this.#messageId}:${key}`);
    const found = await note.view();
    this.keys.add(note.key);
    if (found) return found.value as Value;
    const text = JSON.stringify((await work()) ?? null);
    if (text === undefined) throw new TypeError(`the value of the step ${key} is not JSON`);
    // What the next attempt will get.
    const value = JSON.parse(text) as Value;
    try {
      await note.put(value, { ifVersion: 0 });
    } catch (error) {
      if (isLost(error)) throw new ClaimLost(error.message, { cause: error });
      if (!isRefusal(error, 'VERSION_CONFLICT')) throw error;
      // Put by an earlier request of this attempt whose answer was lost.
      return (await note.view())?.value as Value;
    }
    return value;
  }
}
