import type { Fields } from '../declare/field.ts';
import { type ReplyReader, readHead } from '../declare/reply.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import { type Args, joinArgs } from '../route/args.ts';
import type { ScriptResult } from '../route/long-poll.ts';
import type { CallService, OpenedRecords } from '../route/service.ts';
import type { Call } from './call.ts';

/** The most sweeps that a call waits for. If it needs more, others keep changing what stands in its way. */
const maxSweeps = 50;

/** The organization of a call, and its slot in a batch. */
interface ExecutedCall extends Pick<Call, 'slot'> {
  readonly caller: Pick<Call['caller'], 'org' | 'actor'>;
}

type ExecutorService = Pick<CallService, 'scripts' | 'due' | 'opener' | 'log'>;

/** Runs a script in the slot of the call and reads its reply. Runs it again as often as it asks. */
export async function execute(
  service: ExecutorService,
  call: ExecutedCall,
  script: string,
  args: Args,
  read: ReplyReader<Fields>,
): Promise<ScriptResult> {
  const { org } = call.caller;
  const scripts = call.slot ?? service.scripts;
  const [first, ...values] = await repeated(service, org, (changes) =>
    scripts.execute(script, org, changes ? joinArgs(args, changes) : args),
  );
  const head = readHead(String(first));
  if (head.actor !== undefined) call.caller.actor = head.actor;
  if (head.wake !== '') announce(service, org, head.wake);
  return { head, reply: read(values) };
}

/**
 * Runs scripts until they no longer ask to be run again (lua/lib/again.lua). DUE: first fires due timers, repeatedly if
 * concurrent calls leave more to fire. PACKED: first opens packed records. MORE: goes on at once. changes: arguments that
 * say what was done; undefined for the first run.
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
      const { code, detail } = error;
      if (code === 'DUE') {
        if (++sweeps > maxSweeps) throw new StoreUnavailable('others keep changing what this call needs');
        for (const name of detail.split(';')) timers.add(name);
        const moments: number[] = [];
        // Drain the earlier timers as well: together the scripts of several calls may depend on several timers.
        for (const one of timers) moments.push(Number(await due.drain(org, one)));
        changes = { ...changes, sweptThrough: Math.min(...moments) };
      } else if (code === 'PACKED' && opener.isWanted(detail)) {
        opened = await opener.openMore(detail, opened);
        changes = { ...changes, openedMessages: opened.text };
      } else if (code === 'MORE') {
        if (detail !== '') announce(service, org, detail);
      } else throw error;
    }
  }
}

/** Announces an earlier timer to the index of organizations. Not awaited, as the periodic repair finds what a crash loses. */
export function announce({ due, log }: Pick<CallService, 'due' | 'log'>, org: string, at: string): void {
  due
    .announce(org, at)
    .catch((error: Error) => log.warn({ error: error.message }, 'cannot update the index of due organizations'));
}
