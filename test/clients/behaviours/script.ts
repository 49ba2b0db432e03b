import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GiveUp,
  JoinFailed,
  type Muster,
  type Reservation,
  RetryLater,
  type SuspendOptions,
  type TaskContext,
  type WorkerMessage,
} from '../../../src/clients/typescript/index.ts';
import type { See } from './workers.ts';

/** A step of a handler. workers.py takes the same ones. */
export interface Step {
  /** Returns this; `{ characters: n }`: a text of n characters; `{ json: false }`: a value that is not JSON; numbers:
   * those of these names. */
  readonly return?: unknown;
  readonly throw?: string;
  /** Throws what cannot be shown as text. */
  readonly throwsUnprintable?: boolean;
  readonly giveUp?: string;
  /** Comes back after so many seconds. */
  readonly later?: number;
  readonly reason?: string;
  readonly countsAttempt?: boolean;
  /** Reports this progress, and changes it afterwards; progressOf: a text of so many characters. */
  readonly progress?: unknown;
  readonly progressOf?: number;
  /** Says a member of the message, or its answer. */
  readonly see?: string;
  /** Asks this, with these options. catches: goes on. */
  readonly ask?: unknown;
  readonly options?: readonly string[];
  readonly catches?: true;
  /** Suspends the message on this. */
  readonly suspend?: SuspendOptions;
  /** Sleeps under this name for so many seconds, and says that it has. */
  readonly sleep?: readonly [name: string, seconds: number];
  /**
   * Joins messages with these payloads under this name; says their results, or the states of all if one has failed (with
   * `catches`, only that).
   */
  readonly join?: readonly [name: string, payloads: readonly unknown[]];
  readonly timeoutSeconds?: number;
  /** Waits so many seconds. If the claim ends meanwhile, says the name of its error, and throws it. */
  readonly wait?: number;
  /** A step with this key and this value; says the value, and whether it was done. */
  readonly once?: string;
  readonly value?: unknown;
  /** Returns this together with a put of the note `key`. */
  readonly finish?: unknown;
  readonly key?: string;
  readonly ifVersion?: number;
  /** Completes the message by itself. */
  readonly completes?: unknown;
  readonly reserve?: number;
  readonly settle?: number;
  readonly units?: number;
  /** Sends this to the case's mailbox for sent messages, with a workKey. */
  readonly sends?: unknown;
  readonly workKey?: string;
  /** Holds so many units of the case's pool for a moment, and says that. */
  readonly hold?: number;
}

interface Place {
  readonly muster: Muster;
  readonly message: WorkerMessage;
  readonly task: TaskContext;
  readonly see: See;
  readonly budget?: string;
  readonly allowance?: string;
  readonly pool?: string;
  readonly mailboxId: string;
}

/** Follows the script of a handler. */
export async function follow(steps: readonly Step[], place: Place): Promise<unknown> {
  const { message, task } = place;
  let reservation: Reservation | undefined;
  for (const step of steps) {
    if ('return' in step) return returned(step.return);
    if ('finish' in step)
      return task.finish(step.finish, (t) => {
        const { key = '', ifVersion } = step;
        t.note.put({ scopeId: message.scopeId, key, value: 1, ...(ifVersion !== undefined && { ifVersion }) });
      });
    if (step.reserve !== undefined) reservation = await task.reserve(place.budget ?? '', step.reserve);
    else if (step.settle !== undefined) await reservation?.settle(step.settle);
    else await make(step, place);
  }
  return null;
}

async function make(step: Step, place: Place): Promise<void> {
  const { muster, message, task, see, allowance = '', pool = '' } = place;
  const say = (value: unknown) => see(message.id, value);
  if ('progress' in step) {
    task.progress(step.progress);
    if (typeof step.progress === 'object') Object.assign(step.progress as object, { changed: 'later' });
  } else if (step.progressOf !== undefined) task.progress('x'.repeat(step.progressOf));
  else if (step.see === 'answer') {
    const { answer } = task;
    say(answer && [answer.question, answer.value, answer.answeredBy, answer.isExpired]);
  } else if (step.see !== undefined) say((message as unknown as Record<string, unknown>)[step.see]);
  else if (step.throw !== undefined) throw new Error(step.throw);
  else if (step.throwsUnprintable) throw Object.create(null);
  else if (step.giveUp !== undefined) throw new GiveUp(step.giveUp);
  else if (step.later !== undefined)
    throw new RetryLater(step.later, step.reason, { countsAttempt: step.countsAttempt ?? true });
  else if (step.completes !== undefined) {
    const { id: messageId, token } = message;
    await muster.message.complete({ messageId, token, result: { payload: step.completes } });
  } else if (step.units !== undefined) await task.units(allowance, step.units);
  else if ('sends' in step) {
    const { workKey } = step;
    await task.send(`${pool} sent`, step.sends, workKey === undefined ? {} : { workKey });
  } else if (step.hold !== undefined)
    await task.hold(
      pool,
      async ({ record }) => {
        await sleep(200);
        say([record.units, record.scopeId === message.scopeId]);
      },
      { units: step.hold },
    );
  else if (step.once !== undefined)
    say(
      await task.once(step.once, () => {
        say(`does ${step.once}`);
        return step.value;
      }),
    );
  else if ('ask' in step)
    await task.ask(step.ask, step.options && { options: [...step.options] }).catch((error) => {
      if (!step.catches) throw error;
    });
  else if (step.suspend) await task.suspend(step.suspend);
  else if (step.sleep) {
    await task.sleep(...step.sleep);
    say(`slept ${step.sleep[0]}`);
  } else if (step.join) {
    const [name, payloads] = step.join;
    const sends = payloads.map((payload) => ({ mailbox: { mailboxId: place.mailboxId }, payload }));
    const { timeoutSeconds } = step;
    await task.join(name, sends, timeoutSeconds ? { timeoutSeconds } : {}).then(say, (error) => {
      if (!(error instanceof JoinFailed)) throw error;
      say(step.catches ? 'failed' : error.results.map(({ state }) => state));
    });
  } else if (step.wait !== undefined) await wait(step.wait, task, say);
}

async function wait(seconds: number, { signal }: TaskContext, say: (value: unknown) => void): Promise<void> {
  const over = new AbortController();
  const lost = signal.aborted ? undefined : once(signal, 'abort', { signal: over.signal }).catch(() => undefined);
  await Promise.race([lost, sleep(seconds * 1000, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
  if (!signal.aborted) return;
  say((signal.reason as Error).name);
  throw signal.reason;
}

function returned(value: unknown): unknown {
  const { characters, json, numbers } = (value ?? {}) as Readonly<{
    characters?: number;
    json?: false;
    numbers?: string[];
  }>;
  if (numbers) return [null, numbers.map(Number)];
  if (characters !== undefined) return 'x'.repeat(characters);
  return json === false ? 1n : value;
}
