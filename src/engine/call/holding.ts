import type { Args, Hold, Layers, Result } from '../route/hold.ts';
import { readNote } from '../route/note.ts';
import type { CallService } from '../route/service.ts';
import type { Call } from './call.ts';

/** No caller gives up sooner than this. */
const atOnceMs = 1_000;

const nothing: Result = { note: readNote(''), reply: undefined };
const never = (): void => undefined;
const uncounted: Args = { rateClass: 'held' };

/** Runs a call's script, once per look. */
type Run = (changes: Args) => Promise<Result>;

/** Holds calls until there is something to answer, their time is up, or their caller disconnects. */
export class Holding {
  readonly #service: Pick<CallService, 'wake' | 'channel'>;
  readonly #reads = new SharedReads();

  constructor(service: Pick<CallService, 'wake' | 'channel'>) {
    this.#service = service;
  }

  /** Looks once, and holds the call if that finds nothing. */
  async receive(hold: Hold, spaceId: string, call: Call, run: Run): Promise<Result> {
    if (call.leavesUnseen) return this.#untilWoken(hold, spaceId, call, run);
    const again: Run = (changes) => run({ ...changes, ...uncounted });
    return (await hold.look(run, false, never)) ?? this.#untilFound(hold, spaceId, call, again);
  }

  /**
   * Like receive, for a read. Equal reads woken by one change share a look. args: the script's, without the arguments that
   * differ between equal reads.
   */
  async read(hold: Hold, spaceId: string, args: Layers, call: Call, run: Run): Promise<Result> {
    const again = () => this.#reads.share(call.caller.org, args, () => run(uncounted));
    return (await hold.look(run, false, never)) ?? this.#untilFound(hold, spaceId, call, again);
  }

  async #untilFound(hold: Hold, spaceId: string, call: Call, run: Run): Promise<Result> {
    const gone = call.gone();
    let isLeft = false;
    const leave = (): void => {
      isLeft = true;
    };
    const found = await this.#wait(hold, spaceId, call, gone, (again) => hold.look(run, false, again), leave);
    // Without a worker, nothing announces timers that fell due meanwhile.
    const lastRun: Run = (changes) => run(isLeft ? { ...changes, ...hold.whenLeft } : changes);
    const last = found ?? (gone.aborted ? undefined : await hold.look(lastRun, true, never));
    return last ?? nothing;
  }

  /**
   * Holds a call whose caller may give up unseen, so that a message received for it could be lost. Only the first looks
   * receive anything. Later the call is only woken: it answers that there is nothing, and the caller calls again.
   */
  async #untilWoken(hold: Hold, spaceId: string, call: Call, run: Run): Promise<Result> {
    const began = performance.now();
    // Like a last look: its result or refusal is the answer.
    const first = (await hold.look(run, true, never)) ?? nothing;
    if (first.reply !== undefined) return first;
    let isRegistered = false;
    const found = await this.#wait(hold, spaceId, call, call.gone(), async (again) => {
      if (!isRegistered && performance.now() - began < atOnceMs) {
        isRegistered = true;
        // Finds what became ready before the wait was registered.
        return hold.look((changes) => run({ ...changes, ...uncounted }), false, never);
      }
      // Passes the wake-up on to the next call that waits.
      again(0);
      return first;
    });
    return found ?? first;
  }

  #wait(
    { waitSeconds, topic, receiver }: Hold,
    spaceId: string,
    { caller }: Call,
    signal: AbortSignal,
    look: (again: (inMs: number) => void) => Promise<Result | undefined>,
    onLeft?: () => void,
  ): Promise<Result | undefined> {
    const { wake, channel } = this.#service;
    const hold = { waitMs: waitSeconds * 1000, signal, topic, receiver, onLeft };
    return wake.until(channel(caller.org, spaceId), hold, look);
  }
}

/** Shares one look between equal reads. */
class SharedReads {
  readonly #started = new Map<string, Promise<Result>>();

  /** A look is shared only until the next tick, as reads woken by a later change must see that change. */
  share(org: string, args: Layers, look: () => Promise<Result>): Promise<Result> {
    const name = JSON.stringify([org, ...args], (key, value) => (key === 'requestId' ? undefined : value));
    let result = this.#started.get(name);
    if (!result) {
      result = look();
      this.#started.set(name, result);
      process.nextTick(() => this.#started.delete(name));
    }
    return result;
  }
}
