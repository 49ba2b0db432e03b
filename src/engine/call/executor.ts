import type { Fields } from '../declare/field.ts';
import type { ReplyReader } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Args, Layers, ScriptResult } from '../route/long-poll.ts';
import { readHead } from '../route/reply-head.ts';
import type { CallService, OpenedRecords } from '../route/service.ts';
import type { Call } from './call.ts';

/** The most sweeps that a call waits for. If it needs more, others keep changing what stands in its way. */
const maxSweeps = 50;

/** The organization of a call, and its slot in a batch. */
interface ExecutedCall extends Pick<Call, 'slot'> {
  readonly caller: Pick<Call['caller'], 'org'>;
}

type ExecutorService = Pick<CallService, 'scripts' | 'due' | 'opener' | 'log'>;

export class Executor {
  readonly #service: ExecutorService;
  readonly #call: ExecutedCall;

  constructor(service: ExecutorService, call: ExecutedCall) {
    this.#service = service;
    this.#call = call;
  }

  /** Runs a script once, in the slot of the call. */
  once(script: string, args: Layers): Promise<Reply> {
    const { slot, caller } = this.#call;
    return (slot ?? this.#service.scripts).execute(script, caller.org, args);
  }

  /** Runs a script and reads its reply. Runs it again if it is sent back. */
  async execute(script: string, args: Layers, read: ReplyReader<Fields>): Promise<ScriptResult> {
    const { org } = this.#call.caller;
    const reply = await repeated(this.#service, org, (changes) =>
      this.once(script, changes ? [changes, ...args] : args),
    );
    const [first, ...values] = reply;
    const head = readHead(String(first));
    if (head.wake !== '') announce(this.#service, org, head.wake);
    return { head, reply: read(values) };
  }
}

/**
 * Runs scripts again while they are sent back. After DUE it sweeps first, repeatedly if concurrent calls leave more to sweep.
 * After PACKED it opens the packed records. changes: arguments that say what was done; undefined for the first run.
 */
export async function repeated<T>(
  service: Omit<ExecutorService, 'scripts'>,
  org: string,
  execute: (changes?: Args) => Promise<T>,
): Promise<T> {
  const { due, opener } = service;
  const timers = new Set<string>();
  let sweeps = 0;
  let opened: OpenedRecords | undefined;
  let changes: Args | undefined;
  for (;;) {
    try {
      return await execute(changes);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const isDue = error.code === 'DUE';
      if (!isDue && !(error.code === 'PACKED' && opener.isWanted(error.detail))) throw error;
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
        changes = { ...changes, sweptThrough: Math.min(...moments) };
      } else {
        opened = await opener.openMore(error.detail, opened);
        changes = { ...changes, openedMessages: opened.text };
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
