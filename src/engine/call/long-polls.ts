import { type ReplyHead, readHead } from '../declare/reply.ts';
import { Refusal } from '../redis/scripts.ts';
import type { Held } from '../redis/wake.ts';
import type { Args } from '../route/args.ts';
import type { LongPoll, ScriptResult } from '../route/long-poll.ts';
import type { CallService } from '../route/service.ts';
import type { Call } from './call.ts';

/** No caller gives up sooner than this. */
const atOnceMs = 1_000;

const nothing: ScriptResult = { head: readHead(''), reply: undefined };
/** The rates count the first run only. */
const uncounted: Args = { rateClass: 'held' };

/** Runs a call's script, with some of its arguments changed. */
type Execute = (changes?: Args) => Promise<ScriptResult>;

/** Holds calls until there is something to answer, their time is up, or their caller disconnects. */
export class LongPolls {
  readonly #service: Pick<CallService, 'wake' | 'channel' | 'openRequests'>;
  readonly #shared = new SharedRuns();

  constructor(service: Pick<CallService, 'wake' | 'channel' | 'openRequests'>) {
    this.#service = service;
  }

  /**
   * Answers a call that may be held. A caller that may give up unseen could lose a message received for it. So only its
   * first runs receive anything. Later it is only woken: it is answered that there is nothing, and calls again.
   */
  async answer(poll: LongPoll, spaceId: string, args: Args, call: Call, execute: Execute): Promise<ScriptResult> {
    const isUnseen = call.leavesUnseen === true && !poll.isShared;
    const began = performance.now();
    const { result: first, headers } = isUnseen ? tried(await execute()) : await attempt(poll, execute);
    if (first && (!isUnseen || first.reply !== undefined)) return first;
    const { wake, channel, openRequests } = this.#service;
    const gone = call.gone();
    const { org } = call.caller;
    const leave = openRequests.hold(org, headers);
    const held = wake.hold(channel(org, spaceId), poll, gone);
    const again: Execute = (changes) => execute({ ...changes, ...uncounted });
    const next: Execute = poll.isShared ? () => this.#shared.share(org, args, again) : again;
    try {
      for (let wakeUps = 1; await held.next(); wakeUps++) {
        if (first && (wakeUps > 1 || performance.now() - began > atOnceMs)) {
          held.passOn();
          break;
        }
        // The first time, it finds what became ready before the hold was registered.
        const { result } = await attempt(poll, next, isUnseen ? undefined : held);
        if (result) return result;
      }
    } catch (error) {
      held.passOn();
      throw error;
    } finally {
      held.end();
      leave();
    }
    if (first) return first;
    if (gone.aborted) return nothing;
    // Without a worker, nothing announces timers that fell due meanwhile.
    return held.isLeft && poll.whenLeft ? again(poll.whenLeft) : next();
  }
}

/** A run of the script. result: undefined if the hold goes on. */
interface Tried {
  readonly result: ScriptResult | undefined;
  readonly headers: ReplyHead['headers'];
}

const tried = (result: ScriptResult): Tried => ({ result, headers: result.head.headers });

async function attempt(poll: LongPoll, execute: Execute, held?: Held): Promise<Tried> {
  try {
    const result = await execute(poll.whileHeld);
    return { result: poll.isOver(result) ? result : undefined, headers: result.head.headers };
  } catch (error) {
    if (!(error instanceof Refusal && poll.outlasts?.(error))) throw error;
    if (poll.retryMs !== undefined) held?.retryIn(poll.retryMs);
    return { result: undefined, headers: readHead(error.head).headers };
  }
}

/** Shares one run between equal calls. */
class SharedRuns {
  readonly #started = new Map<string, Promise<ScriptResult>>();

  /** A run is shared only until the next tick, as calls woken by a later change must see that change. */
  share(org: string, args: Args, execute: Execute): Promise<ScriptResult> {
    const name = JSON.stringify([org, { ...args, requestId: '' }]);
    let result = this.#started.get(name);
    if (!result) {
      result = execute();
      this.#started.set(name, result);
      process.nextTick(() => this.#started.delete(name));
    }
    return result;
  }
}
