import { type ConnectionOptions, Queue } from 'bullmq';
import type { Logger } from 'pino';
import { number, raw, text } from '../declare/field.ts';
import { canFailPartially, type Store } from '../redis/cluster.ts';
import { within } from '../redis/failures.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import { attempt, type Outcome } from '../webhook/attempt.ts';
import { eventMessage } from '../webhook/message.ts';
import type { Targets } from '../webhook/target.ts';
import { type Attempt, Dispatcher } from './dispatcher.ts';
import { type QueueName, queuePrefix } from './queues.ts';
import { nowAndThen, SteadyWorker } from './steady-worker.ts';

const queueName: QueueName = 'deliver';
/** Attempts at once: they wait for others nearly all their time. */
const concurrency = 1_000;
/** A job whose worker died is taken up by another after this long. */
const lockMs = 10_000;
/** A queue that is silent for this long is done without. */
const answerMs = 500;
/** At shutdown, for attempts that are under way to end by themselves. */
const drainMs = 3_000;

const begin = {
  script: 'webhook/begin',
  reply: { now: number(), url: text(), secrets: raw<string[]>(), attempt: number(1), entry: raw() },
};
const finish = { script: 'webhook/finish', reply: {} };

interface DelivererParts {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly wake: Wake;
  readonly targets: Targets;
  readonly log: Logger;
}

/**
 * Delivers webhooks. The dispatcher says which attempts are due, each becomes a BullMQ job with the id that belongs to
 * it, and the job opens the attempt in the store, sends, and closes it there. The queue may be lost at any time: what is
 * to be done, and what was done, stands in the organizations' own keys (contract section 5).
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #queue: Queue<Attempt>;
  readonly #worker: SteadyWorker<Attempt>;
  readonly #dispatcher: Dispatcher;
  readonly #direct = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(connection: Store, parts: DelivererParts) {
    this.#parts = parts;
    const options = { connection: connection as unknown as ConnectionOptions, prefix: queuePrefix };
    this.#queue = new Queue<Attempt>(queueName, options);
    this.#worker = new SteadyWorker<Attempt>(queueName, ({ data }) => this.#deliver(data), {
      ...options,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      // Each run asks the store first whether there is anything to do: it may be taken up any number of times.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#dispatcher = new Dispatcher(parts, (attempts) => this.#hand(attempts));
    const { log } = parts;
    this.#queue.on('error', nowAndThen(log, 'delivery queue'));
    this.#worker.on('error', nowAndThen(log, 'delivery worker'));
    this.#worker.on('failed', (job, error) => log.warn({ job: job?.id, error: error.message }, 'delivery put off'));
    this.#dispatcher.start();
  }

  /** Dispatches what is due in a space without waiting for its turn. */
  async poke(org: string, spaceId: string): Promise<void> {
    await this.#dispatcher.poke(`${org} ${spaceId}`);
  }

  /** To the queue; while only its shard is away, they are made here: the store has limited them. */
  async #hand(attempts: readonly Attempt[]): Promise<void> {
    const { store, log } = this.#parts;
    const jobs = attempts.map((data) => ({ name: 'deliver', data, opts: { jobId: jobIdOf(data) } }));
    const queued = async (): Promise<void> => void (await this.#queue.addBulk(jobs));
    if (!canFailPartially(store)) return queued();
    // What it takes late is done once all the same: whoever comes second finds it begun.
    if ((await answers(store.exists(`${queuePrefix}:${queueName}:meta`))) && (await answers(queued()))) return;
    for (const data of attempts) {
      const direct = this.#deliver(data)
        .catch((error: Error) => log.warn({ error: error.message }, 'delivery put off'))
        .finally(() => this.#direct.delete(direct));
      this.#direct.add(direct);
    }
  }

  async #deliver(data: Attempt): Promise<void> {
    const { org, spaceId, destinationId, entryId } = data;
    const { scripts, targets } = this.#parts;
    const space = { spaceId, requestId: '', destinationId, entryId };
    const begun = await scripts.find(begin, org, space);
    if (begun) {
      const { now, url, secrets, entry } = begun;
      const message = eventMessage(spaceId, entry);
      const outcome: Outcome = await attempt(targets, { url, secrets, message, at: now }, this.#stop.signal);
      await scripts.ask(finish, org, {
        ...space,
        ...outcome,
        eventType: message.eventType,
        attempt: begun.attempt,
        attemptedAt: now,
        scale: 0.9 + Math.random() * 0.2,
      });
    }
    // There is a place free for the destination's next one.
    void this.poke(org, spaceId).catch(() => undefined);
  }

  /** Lets attempts that are under way end for a while; the rest is recorded as interrupted, and due at once. */
  async stop(): Promise<void> {
    await this.#dispatcher.stop();
    const timer = setTimeout(() => this.#stop.abort(), drainMs);
    await Promise.all([...this.#direct, this.#worker.close()]);
    clearTimeout(timer);
    await this.#queue.close();
  }
}

/** Whether the queue's shard does in time: it would be waited for. */
function answers(reply: Promise<unknown>): Promise<boolean> {
  return within(
    answerMs,
    reply.then(() => true),
  ).catch(() => false);
}

/** The same attempt is never twice in the queue. BullMQ reserves the colon. */
function jobIdOf({ destinationId, entryId, number }: Attempt): string {
  return `${destinationId}_${entryId}_${number}`;
}
