import type { Args, Layers, LongPoll, ScriptResult } from '../route/long-poll.ts';
import { readHead } from '../route/reply-head.ts';
import type { CallService } from '../route/service.ts';
import type { Call } from './call.ts';

/** No caller gives up sooner than this. */
const atOnceMs = 1_000;

const nothing: ScriptResult = { head: readHead(''), reply: undefined };
const never = (): void => undefined;
const uncounted: Args = { rateClass: 'held' };

/** Runs a call's script, once per look. */
type Execute = (changes: Args) => Promise<ScriptResult>;

/** Holds calls until there is something to answer, their time is up, or their caller disconnects. */
export class LongPolls {
  readonly #service: Pick<CallService, 'wake' | 'channel'>;
  readonly #reads = new SharedReads();

  constructor(service: Pick<CallService, 'wake' | 'channel'>) {
    this.#service = service;
  }

  /** Looks once, and holds the call if that finds nothing. */
  async receive(hold: LongPoll, spaceId: string, call: Call, execute: Execute): Promise<ScriptResult> {
    if (call.leavesUnseen) return this.#untilWoken(hold, spaceId, call, execute);
    const again: Execute = (changes) => execute({ ...changes, ...uncounted });
    return (await hold.look(execute, false, never)) ?? this.#untilFound(hold, spaceId, call, again);
  }

  /**
   * Like receive, for a read. Equal reads woken by one change share a look. args: the script's, without the arguments that
   * differ between equal reads.
   */
  async read(hold: LongPoll, spaceId: string, args: Layers, call: Call, execute: Execute): Promise<ScriptResult> {
    const again = () => this.#reads.share(call.caller.org, args, () => execute(uncounted));
    return (await hold.look(execute, false, never)) ?? this.#untilFound(hold, spaceId, call, again);
  }

  async #untilFound(hold: LongPoll, spaceId: string, call: Call, execute: Execute): Promise<ScriptResult> {
    const gone = call.gone();
    let isLeft = false;
    const leave = (): void => {
      isLeft = true;
    };
    const found = await this.#wait(hold, spaceId, call, gone, (again) => hold.look(execute, false, again), leave);
    // Without a worker, nothing announces timers that fell due meanwhile.
    const lastRun: Execute = (changes) => execute(isLeft ? { ...changes, ...hold.whenLeft } : changes);
    const last = found ?? (gone.aborted ? undefined : await hold.look(lastRun, true, never));
    return last ?? nothing;
  }

  /**
   * Holds a call whose caller may give up unseen, so that a message received for it could be lost. Only the first looks
   * receive anything. Later the call is only woken: it answers that there is nothing, and the caller calls again.
   */
  async #untilWoken(hold: LongPoll, spaceId: string, call: Call, execute: Execute): Promise<ScriptResult> {
    const began = performance.now();
    // Like a last look: its result or refusal is the answer.
    const first = (await hold.look(execute, true, never)) ?? nothing;
    if (first.reply !== undefined) return first;
    let isRegistered = false;
    const found = await this.#wait(hold, spaceId, call, call.gone(), async (again) => {
      if (!isRegistered && performance.now() - began < atOnceMs) {
        isRegistered = true;
        // Finds what became ready before the wait was registered.
        return hold.look((changes) => execute({ ...changes, ...uncounted }), false, never);
      }
      // Passes the wake-up on to the next call that waits.
      again(0);
      return first;
    });
    return found ?? first;
  }

  #wait(
    { waitSeconds, topic, receiver }: LongPoll,
    spaceId: string,
    { caller }: Call,
    signal: AbortSignal,
    look: (again: (inMs: number) => void) => Promise<ScriptResult | undefined>,
    onLeft?: () => void,
  ): Promise<ScriptResult | undefined> {
    const { wake, channel } = this.#service;
    const hold = { waitMs: waitSeconds * 1000, signal, topic, receiver, onLeft };
    return wake.until(channel(caller.org, spaceId), hold, look);
  }
}

/** Shares one look between equal reads. */
class SharedReads {
  readonly #started = new Map<string, Promise<ScriptResult>>();

  /** A look is shared only until the next tick, as reads woken by a later change must see that change. */
  share(org: string, args: Layers, look: () => Promise<ScriptResult>): Promise<ScriptResult> {
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
