import { createHash } from 'node:crypto';
import type { Answer, Muster } from '../clients/typescript/index.ts';
import { digestOf, type JobMessage, messageOf, priorityMap } from './bullmq-message.ts';
import { BullmqQueue, type JobIds, type JobState, type SourceJob, scheduled } from './bullmq-queue.ts';
import { batchesOf, sendBatch, type Target } from './import-send.ts';

export interface ImportOptions {
  readonly redis: string;
  readonly queue: string;
  readonly prefix: string;
  /** The name of the mailbox. */
  readonly mailbox: string;
  /** The states of which jobs are imported, in the order in which they are sent. */
  readonly states: readonly JobState[];
  readonly isDryRun: boolean;
}

/** A state of jobs: how many the queue has, and how many of them are in the mailbox. */
interface StateCount {
  readonly state: string;
  readonly jobs: number;
  readonly messages: number;
  readonly note: string;
}

export interface ImportReport {
  readonly states: readonly StateCount[];
  readonly mailboxId: string | null;
  readonly scopeId: string | null;
  readonly isDryRun: boolean;
  /** How many messages were sent; by a dry run, how many would be. */
  readonly sent: number;
  /** How many were in the mailbox already. */
  readonly known: number;
  /** BullMQ's priorities for each of Muster's. */
  readonly priorities: Readonly<Record<string, string>>;
  /** The first message that was sent or would be. */
  readonly first: JobMessage | null;
  readonly refused: readonly { readonly jobId: string; readonly reason: string }[];
}

type MailboxRecord = Answer<'mailbox.create'>;
/** The digests of the payloads of imported messages, by work key. */
type Kept = ReadonlyMap<string, string>;

/** How jobs become messages, and where those go: nowhere in a dry run. */
interface Plan {
  readonly kept: Kept;
  readonly target: Target | null;
  readonly rules: { readonly priorities: ReadonlyMap<number, number>; readonly maxPayloadBytes: number };
}

/** Why jobs of these states are left. */
const notes = {
  paused: 'left; --paused imports them',
  failed: 'left; --failed imports them, to be tried again',
  active: 'left to their workers',
  'waiting-children': 'left, as they wait for other jobs of their flow',
  completed: 'left',
  [scheduled]: 'left: the next jobs of job schedulers, for which there are schedules',
} as const;

const leftStates = ['paused', 'failed', 'active', 'waiting-children', 'completed'] as const;

/** Jobs that are read at once. */
const chunkSize = 500;
const pageSize = 200;
/** The most that a mailbox may be created with. */
const maxBacklogLimit = 100_000;
const defaultBacklogLimit = 1_000;

/** Imports a queue. Repeated, it sends only what the mailbox lacks. warn: prints a line for people. */
export async function importBullmq(
  muster: Muster,
  options: ImportOptions,
  warn: (line: string) => void,
): Promise<ImportReport> {
  const { redis, queue: name, prefix } = options;
  const queue = await BullmqQueue.open(redis, { name, prefix });
  try {
    return await new Importing(muster, options, queue, warn).run();
  } finally {
    queue.close();
  }
}

class Importing {
  readonly #muster: Muster;
  readonly #options: ImportOptions;
  readonly #queue: BullmqQueue;
  readonly #warn: (line: string) => void;
  readonly #refused = new Map<string, string>();
  /** Jobs whose id named a message before, with that message. */
  readonly #replayed = new Map<string, string>();
  #sent = 0;
  #known = 0;
  #first: JobMessage | null = null;
  #hasWaited = false;

  constructor(muster: Muster, options: ImportOptions, queue: BullmqQueue, warn: (line: string) => void) {
    this.#muster = muster;
    this.#options = options;
    this.#queue = queue;
    this.#warn = warn;
  }

  async run(): Promise<ImportReport> {
    const { isDryRun, states, queue } = this.#options;
    if (!(await this.#queue.isPaused()))
      this.#warn(`the queue ${queue} is not paused: unless its workers are stopped, they do what is imported, too`);
    const ids = await this.#queue.ids(states);
    const all = states.flatMap((state) => ids[state] ?? []);
    const limits = await this.#muster.limits.get();
    const box = await this.#mailbox(all.length);
    const target = box && { mailboxId: box.id, scopeId: this.#scopeId(box.id) };
    const kept = await this.#messages(target);
    await this.#warnOfLimits(limits, box, all.filter((id) => !kept.has(id)).length);
    const priorities = priorityMap(await this.#queue.priorities(all));
    const rules = { priorities, maxPayloadBytes: limits.maxPayloadBytes };
    for (const state of states)
      await this.#send(state, ids[state] ?? [], { kept, target: isDryRun ? null : target, rules });
    const counts = isDryRun
      ? await this.#counts(ids, kept)
      : await this.#counts(await this.#queue.ids(states), await this.#messages(target));
    return {
      states: counts,
      ...{ mailboxId: target?.mailboxId ?? null, scopeId: target?.scopeId ?? null, isDryRun },
      ...{ sent: this.#sent, known: this.#known, priorities: inWords(priorities), first: this.#first },
      refused: [...this.#refused].map(([jobId, reason]) => ({ jobId, reason })),
    };
  }

  /** The mailbox, created unless this is a dry run; null if it does not exist. jobs: how many it is to take. */
  async #mailbox(jobs: number): Promise<MailboxRecord | null> {
    const { isDryRun, mailbox: name } = this.#options;
    const backlogLimit = Math.min(maxBacklogLimit, Math.max(defaultBacklogLimit, jobs));
    if (!isDryRun) return this.#muster.mailbox.create({ name, unique: true, backlogLimit });
    // The newest is listed first, and `unique` takes the oldest.
    return (await this.#muster.mailbox.list({ name, limit: pageSize })).mailboxes.at(-1) ?? null;
  }

  /** The run of the imported messages, the same each time. */
  #scopeId(mailboxId: string): string {
    const { prefix, queue } = this.#options;
    const hex = createHash('sha256').update(`bullmq ${prefix} ${queue} ${mailboxId}`).digest('hex');
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `8${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20, 32),
    ].join('-');
  }

  async #messages(target: Target | null): Promise<Kept> {
    const kept = new Map<string, string>();
    if (!target) return kept;
    for await (const { workKey, payload } of this.#muster.message.all({ ...target, limit: pageSize }))
      if (workKey !== null) kept.set(workKey, digestOf(payload));
    return kept;
  }

  async #send(state: JobState, ids: readonly string[], plan: Plan): Promise<void> {
    for (let first = 0; first < ids.length; first += chunkSize) {
      const chunk = ids.slice(first, first + chunkSize);
      const found = await this.#queue.jobs(state, chunk);
      const messages = found.flatMap((job) => this.#toSend(job, plan));
      this.#first ??= messages[0] ?? null;
      if (!plan.target) this.#sent += messages.length;
      else for (const batch of batchesOf(messages)) await this.#sendBatch(batch, plan.target);
    }
  }

  /** The message of a job, unless it is in the mailbox or there can be none. */
  #toSend(job: SourceJob | null, { kept, rules }: Plan): JobMessage[] {
    // It has gone since its state was read: a worker has done it.
    if (!job) return [];
    const message = messageOf(job, { ...rules, nowMs: Date.now() });
    const known = kept.get(job.id);
    if (typeof message === 'string') this.#refused.set(job.id, message);
    else if (known === undefined) return [message];
    else if (known === digestOf(message.payload)) this.#known++;
    else this.#refused.set(job.id, 'the mailbox has a message of this job with another payload');
    return [];
  }

  async #sendBatch(batch: readonly JobMessage[], target: Target): Promise<void> {
    for (const [jobId, sent] of await sendBatch(this.#muster, target, batch, this.#onWait))
      if ('refusal' in sent) this.#refused.set(jobId, sent.refusal);
      else {
        if (sent.replay) this.#replayed.set(jobId, sent.id);
        this.#sent++;
      }
  }

  readonly #onWait = (): void => {
    if (!this.#hasWaited) this.#warn('the requests per minute are used up: the import goes on in the next minute');
    this.#hasWaited = true;
  };

  /** Compares the queue with the mailbox. */
  async #counts(ids: JobIds, kept: Kept): Promise<StateCount[]> {
    const rows: StateCount[] = [];
    for (const state of this.#options.states) {
      const jobs = ids[state] ?? [];
      const there = jobs.filter((id) => kept.has(id) && !this.#refused.has(id));
      rows.push({ state, jobs: jobs.length, messages: there.length, note: '' });
      for (const id of jobs) {
        const other = kept.has(id) ? undefined : this.#replayed.get(id);
        if (other !== undefined) this.#refused.set(id, `the mailbox has another message with this workKey: ${other}`);
      }
    }
    const add = (state: keyof typeof notes, jobs: number): unknown =>
      jobs > 0 && rows.push({ state, jobs, messages: 0, note: notes[state] ?? '' });
    add(scheduled, ids[scheduled]?.length ?? 0);
    for (const state of leftStates)
      if (!this.#options.states.includes(state)) add(state, await this.#queue.count(state));
    return rows;
  }

  /** Says beforehand which limits the messages would exceed. */
  async #warnOfLimits({ maxBacklog }: Answer<'limits.get'>, box: MailboxRecord | null, count: number): Promise<void> {
    const { READY, DELAYED, BLOCKED, CLAIMED } = (await this.#muster.census.get()).messages;
    const inSpace = maxBacklog - READY - DELAYED - BLOCKED - CLAIMED;
    if (count > inSpace)
      this.#warn(`the space takes ${inSpace} more messages, and ${count} are to be sent: raise its maxBacklog`);
    if (!box) return;
    const { ready, delayed, blocked, claimed } = box.counts;
    const inMailbox = box.backlogLimit - ready - delayed - blocked - claimed;
    if (count > inMailbox)
      this.#warn(`the mailbox takes ${inMailbox} more messages, and ${count} are to be sent: raise its backlogLimit`);
  }
}

/** BullMQ's priorities by Muster's: `{ '1': 'none', '0': '5 to 10' }`. */
function inWords(priorities: ReadonlyMap<number, number>): Record<string, string> {
  const words = (priority: number): string => (priority === 0 ? 'none' : String(priority));
  const ranges: Record<string, string> = {};
  for (const level of new Set(priorities.values())) {
    const theirs = [...priorities].flatMap(([priority, one]) => (one === level ? [priority] : []));
    const [least, most] = [Math.min(...theirs), Math.max(...theirs)].map(words);
    ranges[level] = least === most ? `${least}` : `${least} to ${most}`;
  }
  return ranges;
}
