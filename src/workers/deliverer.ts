import type { Logger } from 'pino';
import { number, raw, text } from '../declare/field.ts';
import type { Store } from '../redis/connection.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import { attempt, type Outcome } from '../webhook/attempt.ts';
import { eventMessage } from '../webhook/message.ts';
import type { Targets } from '../webhook/target.ts';
import { type Attempt, Dispatcher } from './dispatcher.ts';
import { JobQueue } from './job-queue.ts';

/** Attempts at once: they wait for others nearly all their time. */
const concurrency = 1_000;
/** A job whose worker died is taken up by another after this long. */
const lockMs = 10_000;
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
  readonly #jobs: JobQueue<Attempt>;
  readonly #dispatcher: Dispatcher;
  readonly #direct = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(connection: Store, parts: DelivererParts) {
    this.#parts = parts;
    const { store, log } = parts;
    this.#jobs = new JobQueue(
      { store, connection },
      'deliver',
      (attempt) => this.#deliver(attempt),
      { concurrency, lockDuration: lockMs, stalledInterval: lockMs / 2 },
      log,
    );
    this.#dispatcher = new Dispatcher(parts, (attempts) => this.#hand(attempts));
    this.#dispatcher.start();
  }

  /** Dispatches what is due in a space without waiting for its turn. */
  async poke(org: string, spaceId: string): Promise<void> {
    await this.#dispatcher.poke(`${org} ${spaceId}`);
  }

  /** Repairs what a crash kept from the index of spaces that have destinations. */
  repair(): Promise<void> {
    return this.#dispatcher.repair();
  }

  /** To the queue; while only its shard is away, they are made here: the store has limited them. */
  async #hand(attempts: readonly Attempt[]): Promise<void> {
    // Whoever comes second to an attempt finds it begun.
    if (await this.#jobs.add(attempts.map((data) => ({ id: jobIdOf(data), data })))) return;
    const { log } = this.#parts;
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
    await Promise.all([...this.#direct, this.#jobs.close()]);
    clearTimeout(timer);
  }
}

/** The same attempt is never twice in the queue. BullMQ reserves the colon. */
function jobIdOf({ destinationId, entryId, number }: Attempt): string {
  return `${destinationId}_${entryId}_${number}`;
}
