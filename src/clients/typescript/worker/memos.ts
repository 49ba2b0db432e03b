import { isRefusal } from '../error.ts';
import { jsonOf } from '../json.ts';
import type { Run } from '../run.ts';
import { ClaimLost, isLost } from './errors.ts';

/** The maximum length of a step's key. Its note's key also has a prefix and the message's id. */
const maxKey = 256 - 'once::'.length - 36;

/** A message's steps, whose values are stored as notes of its run. */
export class Memos {
  /** Keys of the notes that this attempt has found or created. */
  readonly keys = new Set<string>();
  readonly #run: Run;
  readonly #messageId: string;
  /** Steps by key, done or in progress, so that one attempt does none twice, even concurrently. */
  readonly #steps = new Map<string, Promise<unknown>>();

  constructor(run: Run, messageId: string) {
    this.#run = run;
    this.#messageId = messageId;
  }

  /** The stored value of a step; or else the value of `work`, which is then stored. */
  once<Value>(key: string, work: () => Value | Promise<Value>): Promise<Value> {
    if (key === '' || [...key].length > maxKey) throw new RangeError(`the key of a step has 1 to ${maxKey} characters`);
    const known = this.#steps.get(key) as Promise<Value> | undefined;
    if (known) return known;
    const step = this.#do(key, work);
    this.#steps.set(key, step);
    // Let the handler try again.
    step.catch(() => this.#steps.delete(key));
    return step;
  }

  /** The key of a step's note, which contains the message's id, so two messages of a run share none. */
  noteKey(key: string): string {
    return `once:${this.#messageId}:${key}`;
  }

  /** The stored value of a step; undefined if there is none. */
  async find<Value>(key: string): Promise<Value | undefined> {
    if ([...key].length > maxKey) throw new RangeError(`the key of a step has 1 to ${maxKey} characters`);
    const note = this.#run.note<Value>(this.noteKey(key));
    const found = await note.view();
    this.keys.add(note.key);
    return found?.value;
  }

  /** Replaces the stored value of a step. */
  async replace(key: string, value: unknown): Promise<void> {
    await this.#run.note<unknown>(this.noteKey(key)).put(value);
  }

  async #do<Value>(key: string, work: () => Value | Promise<Value>): Promise<Value> {
    const note = this.#run.note<Value | null>(this.noteKey(key));
    const found = await note.view();
    this.keys.add(note.key);
    if (found) return found.value as Value;
    const text = jsonOf((await work()) ?? null);
    if (text === undefined) throw new TypeError(`the value of the step ${key} is not JSON`);
    // The value that the next attempt will get.
    const value = JSON.parse(text) as Value;
    try {
      await note.put(value, { ifVersion: 0 });
    } catch (error) {
      if (isLost(error)) throw new ClaimLost(error.message, { cause: error });
      if (!isRefusal(error, 'VERSION_CONFLICT')) throw error;
      // Stored by an earlier request of this attempt, whose answer was lost.
      return (await note.view())?.value as Value;
    }
    return value;
  }
}
