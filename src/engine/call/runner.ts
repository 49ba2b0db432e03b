import type { Fields } from '../declare/field.ts';
import type { ReplyReader } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Args, Layers, Result } from '../route/hold.ts';
import { readNote } from '../route/note.ts';
import type { CallService, Unpacked } from '../route/service.ts';
import type { Call } from './call.ts';

/** The most sweeps that a call waits for. If it needs more, others keep changing what stands in its way. */
const maxSweeps = 50;

/** The organization of a call, and its turn. */
interface Run extends Pick<Call, 'turn'> {
  readonly caller: Pick<Call['caller'], 'org'>;
}

type RunnerService = Pick<CallService, 'scripts' | 'due' | 'unpacking' | 'log'>;

export class Runner {
  readonly #service: RunnerService;
  readonly #call: Run;

  constructor(service: RunnerService, call: Run) {
    this.#service = service;
    this.#call = call;
  }

  /** Runs a script once, at the call's turn. */
  once(script: string, args: Layers): Promise<Reply> {
    const { turn, caller } = this.#call;
    return (turn ?? this.#service.scripts).run(script, caller.org, args);
  }

  /** Runs a script and reads its reply. Runs it again if it is sent back. */
  async run(script: string, args: Layers, read: ReplyReader<Fields>): Promise<Result> {
    const { org } = this.#call.caller;
    const reply = await repeated(this.#service, org, (changes) =>
      this.once(script, changes ? [changes, ...args] : args),
    );
    const [head, ...values] = reply;
    const note = readNote(String(head));
    if (note.wake !== '') announce(this.#service, org, note.wake);
    return { note, reply: read(values) };
  }
}

/**
 * Runs scripts again while they are sent back. After DUE it sweeps first, repeatedly if concurrent calls leave more to sweep.
 * After PACKED it opens the packed records. changes: arguments that say what was done; undefined for the first run.
 */
export async function repeated<T>(
  service: Omit<RunnerService, 'scripts'>,
  org: string,
  run: (changes?: Args) => Promise<T>,
): Promise<T> {
  const { due, unpacking } = service;
  const timers = new Set<string>();
  let sweeps = 0;
  let unpacked: Unpacked | undefined;
  let changes: Args | undefined;
  for (;;) {
    try {
      return await run(changes);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const isDue = error.code === 'DUE';
      if (!isDue && !(error.code === 'PACKED' && unpacking.isWanted(error.detail))) throw error;
      if (isDue) {
        const [timer = '', wake] = error.detail.split('\t');
        // Not counted if the call kept its changes (call.again): it has got further.
        if (wake === undefined && ++sweeps > maxSweeps)
          throw new StoreUnavailable('others keep changing what this call needs');
        if (wake) announce(service, org, wake);
        timers.add(timer);
        const moments: number[] = [];
        // Drain the earlier timers as well: together the scripts of several calls may depend on several timers.
        for (const one of timers) moments.push(Number(await due.drain(org, one)));
        changes = { ...changes, drainedThrough: Math.min(...moments) };
      } else {
        unpacked = await unpacking.unpack(error.detail, unpacked);
        changes = { ...changes, unpacked: unpacked.text };
      }
    }
  }
}

/** Announces an earlier timer to the index of organizations. Not awaited, as the periodic repair finds what a crash loses. */
export function announce({ due, log }: Pick<CallService, 'due' | 'log'>, org: string, at: string): void {
  due
    .announce(org, at)
    .catch((error: Error) => log.warn({ error: error.message }, 'cannot update the index of due organizations'));
}
