import { isRefusal } from './error.ts';
import type { Calls } from './generated/calls.ts';
import { backoffMs, pause } from './send.ts';
import type { Answer, CallOptions } from './types.ts';

/** A note with its value. */
export type NoteRecord<Value = unknown> = Omit<Answer<'note.view'>, 'value'> & { readonly value: Value };

/** Options for changing a note. */
export interface NoteOptions {
  /** The version that the note must have (0: it must not exist), else VERSION_CONFLICT; by default any. */
  readonly ifVersion?: number | undefined;
}

/** Makes the calls for notes. */
export interface NoteCaller {
  readonly muster: Calls;
  /** The claim that must be live for puts to succeed; {} for none. */
  readonly fence: { readonly messageId?: string; readonly token?: string };
  /** Makes a call, possibly repeating it until it is answered. */
  readonly call: <T>(make: (options: CallOptions) => Promise<T>) => Promise<T>;
  /** Ends waits. */
  readonly signal?: AbortSignal | undefined;
}

const waitSeconds = 20;
const conflictPauseMs = 5;
const maxConflictPauseMs = 500;

/** A note of a run: a value that its agents share. */
export class RunNote<Value = unknown> {
  readonly scopeId: string;
  readonly key: string;
  readonly #caller: NoteCaller;

  constructor(caller: NoteCaller, scopeId: string, key: string) {
    this.#caller = caller;
    this.scopeId = scopeId;
    this.key = key;
  }

  get #id() {
    return { scopeId: this.scopeId, key: this.key };
  }

  /** The note with its version; undefined if it does not exist. */
  async view(): Promise<NoteRecord<Value> | undefined> {
    const { muster, call } = this.#caller;
    return orNone(call((options) => muster.note.view(this.#id, options)) as Promise<NoteRecord<Value>>);
  }

  /** Its value; undefined if it does not exist. */
  async get(): Promise<Value | undefined> {
    return (await this.view())?.value;
  }

  /** Puts a JSON value. Creates the note if it does not exist. */
  async put(value: Value, { ifVersion }: NoteOptions = {}): Promise<Answer<'note.put'>> {
    const { muster, call, fence } = this.#caller;
    const fields = { value, ...(ifVersion !== undefined && { ifVersion }), ...fence };
    return call((options) => muster.note.put({ ...this.#id, ...fields }, options));
  }

  /**
   * Changes the value: reads it, puts what `compute` returns for it (or for undefined, if there is no note), and starts again
   * if somebody else has changed it meanwhile. So `compute` may run several times. Resolves with the value put.
   */
  async update(compute: (value: Value | undefined) => Value | Promise<Value>): Promise<Value> {
    for (let conflicts = 0; ; conflicts++) {
      const found = await this.view();
      const value = await compute(found?.value);
      try {
        await this.put(value, { ifVersion: found?.version ?? 0 });
        return value;
      } catch (error) {
        if (!isRefusal(error, 'VERSION_CONFLICT')) throw error;
        await pause(backoffMs(conflicts, { firstMs: conflictPauseMs, maxMs: maxConflictPauseMs }), this.#caller.signal);
      }
    }
  }

  /** Deletes the note if it exists. */
  async delete({ ifVersion }: NoteOptions = {}): Promise<void> {
    const { muster, call } = this.#caller;
    await orNone(
      call((options) => muster.note.delete({ ...this.#id, ...(ifVersion !== undefined && { ifVersion }) }, options)),
    );
  }

  /**
   * Waits until the note's version differs from this one (0: until the note is created). Resolves with the note, or
   * with undefined if it was deleted.
   */
  async changed(
    sinceVersion: number,
    { signal = this.#caller.signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<NoteRecord<Value> | undefined> {
    const { muster, call } = this.#caller;
    const asked = { ...this.#id, sinceVersion, waitSeconds };
    for (;;) {
      signal?.throwIfAborted();
      // It is held longer than a call made for a claim may take.
      const note = await orNone(call(({ attempts }) => muster.note.view(asked, { attempts, signal })));
      if (note?.version !== (sinceVersion || undefined)) return note as NoteRecord<Value> | undefined;
    }
  }
}

/** Undefined if the note does not exist. */
async function orNone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isRefusal(error, 'NOTE_NOT_FOUND')) return undefined;
    throw error;
  }
}

/**
 * A run or a part of one, with the data its agents share. In a handler it is `run`, and its notes can be put only while the
 * claim lasts.
 */
export class Run {
  readonly scopeId: string;
  readonly #caller: NoteCaller;

  constructor(muster: Calls, scopeId: string, caller?: NoteCaller) {
    this.scopeId = scopeId;
    this.#caller = caller ?? { muster, fence: {}, call: (make) => make({}) };
  }

  /** The note with this key, whether it exists or not. */
  note<Value = unknown>(key: string): RunNote<Value> {
    return new RunNote(this.#caller, this.scopeId, key);
  }

  /** The notes whose keys begin with `prefix` (default: all), with their values, sorted by key. */
  notes<Value = unknown>(prefix?: string): AsyncGenerator<NoteRecord<Value>, void> {
    const { scopeId } = this;
    const all = this.#caller.muster.note.all({
      scopeId,
      values: true,
      limit: 200,
      ...(prefix !== undefined && { prefix }),
    });
    return all as unknown as AsyncGenerator<NoteRecord<Value>, void>;
  }
}
