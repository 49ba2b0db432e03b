import { createHash } from 'node:crypto';
import type { Args } from '../clients/typescript/index.ts';
import type { SourceJob } from './bullmq-queue.ts';
import { roundedIn } from './rounded.ts';

/** A job's message, without the mailbox and the run. */
export type JobMessage = Pick<
  Args<'message.send'>,
  'payload' | 'delaySeconds' | 'priority' | 'maxAttempts' | 'retryDelaySeconds' | 'maxRetryDelaySeconds'
> & {
  readonly workKey: string;
};

const levels = 10;
const maxAttempts = 100;
const maxDelaySeconds = 2_592_000;
const maxPauseSeconds = 86_400;
const maxWorkKeyCharacters = 512;

/**
 * Muster's priority for each of BullMQ's that occur: the least urgent one gets 0, the next 1. More than ten share the ten
 * there are. In BullMQ jobs without one, 0, come first, and then 1.
 */
export function priorityMap(occurring: Iterable<number>): ReadonlyMap<number, number> {
  const ranked = [...new Set(occurring)].sort((a, b) => b - a);
  const of = (rank: number): number => (ranked.length <= levels ? rank : Math.floor((rank * levels) / ranked.length));
  return new Map(ranked.map((priority, rank) => [priority, of(rank)]));
}

/** The message of a job, or why there can be none. */
export function messageOf(
  job: SourceJob,
  {
    priorities,
    maxPayloadBytes,
    nowMs,
  }: { readonly priorities: ReadonlyMap<number, number>; readonly maxPayloadBytes: number; readonly nowMs: number },
): JobMessage | string {
  const { id, name, dueMs } = job;
  if (id.length > maxWorkKeyCharacters) return `its id has more than ${maxWorkKeyCharacters} characters`;
  const payload = payloadOf(job);
  if (typeof payload === 'string') return payload;
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes > maxPayloadBytes) return `its name and data have ${bytes} bytes, and the space takes ${maxPayloadBytes}`;
  const delaySeconds = dueMs === null ? 0 : Math.max(0, Math.ceil((dueMs - nowMs) / 1000));
  if (delaySeconds > maxDelaySeconds) return `it is due on ${dateOf(dueMs)}, and the longest delay is 30 days`;
  const priority = priorities.get(job.priority) ?? 0;
  return {
    ...{ workKey: id, payload: { name, data: payload.data }, maxAttempts: attemptsOf(job), ...pausesOf(job) },
    ...(delaySeconds > 0 && { delaySeconds }),
    ...(priority > 0 && { priority }),
  };
}

/** A short text that differs if the payload does. */
export function digestOf(payload: unknown): string {
  return createHash('sha256').update(JSON.stringify(payload)).digest('base64').slice(0, 22);
}

function payloadOf({ name, data: text }: SourceJob): { readonly name: string; readonly data: unknown } | string {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return 'its data is not JSON';
  }
  const rounded = roundedIn(text);
  return rounded === undefined ? { name, data } : `its data has a number that would be rounded, ${rounded}`;
}

/** The attempts that are left, or all of them for a failed job. BullMQ makes one if nothing else is said. */
function attemptsOf(job: SourceJob): number {
  return Math.min(maxAttempts, Math.max(1, (job.opts.attempts || 1) - triedOf(job)));
}

/** How often it has been tried, as far as that counts for the message. */
const triedOf = ({ state, attemptsMade }: SourceJob): number => (state === 'failed' ? 0 : attemptsMade);

/** The pauses between its attempts. The mailbox's are left to it if it has none, or those of a function of its worker. */
function pausesOf(job: SourceJob): Pick<JobMessage, 'retryDelaySeconds' | 'maxRetryDelaySeconds'> {
  const { backoff } = job.opts;
  const { type, delay = 0 } = typeof backoff === 'object' ? backoff : { type: 'fixed', delay: backoff };
  if (!(delay > 0)) return {};
  const seconds = (ms: number): number => Math.min(maxPauseSeconds, Math.ceil(ms / 1000));
  if (type === 'fixed') return { retryDelaySeconds: seconds(delay), maxRetryDelaySeconds: seconds(delay) };
  if (type !== 'exponential') return {};
  return { retryDelaySeconds: seconds(delay * 2 ** triedOf(job)), maxRetryDelaySeconds: maxPauseSeconds };
}

const dateOf = (ms: number | null): string => new Date(ms ?? 0).toISOString().slice(0, 10);
