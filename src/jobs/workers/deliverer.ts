import type { Logger } from 'pino';
import { number, raw, text } from '../../engine/declare/field.ts';
import type { Store } from '../../engine/redis/connection.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import type { Wake } from '../../engine/redis/wake.ts';
import type { Journal } from '../../primitives/event/journal.ts';
import { attempt, type DeliveryOutcome } from '../../primitives/webhook/attempt.ts';
import { eventMessage } from '../../primitives/webhook/message.ts';
import type { Targets } from '../../primitives/webhook/target.ts';
import { type Attempt, Dispatcher } from './dispatcher.ts';
import { JobQueue } from './job-queue.ts';

/** Concurrent attempts; they spend nearly all their time waiting for the network. */
const concurrency = 1_000;
/** After this time, another worker takes over the jobs of a dead one. */
const lockMs = 10_000;
/** Time that running attempts get to finish at shutdown. */
const drainMs = 3_000;

const begin = {
  script: 'webhook/begin',
  reply: { now: number(), url: text(), secrets: raw<string[]>(), attempt: number(1), entry: raw() },
};
const finish = { script: 'webhook/finish', reply: {} };

interface DelivererParts {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly journal: Journal;
  readonly wake: Wake;
  readonly targets: Targets;
  readonly log: Logger;
}

/**
 * Delivers webhooks. The dispatcher finds due attempts. Each becomes a BullMQ job with its own id, which begins the attempt
 * in the store, sends it and finishes it there. The queue may be lost at any time, as the organizations' own keys record what
 * is due and what was done (docs/reference.md, "Webhooks").
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
    this.#dispatcher = new Dispatcher(parts, (attempts) => this.#enqueue(attempts));
    this.#dispatcher.start();
  }

  /** Dispatches the due attempts of a space now. */
  async poke(org: string, spaceId: string): Promise<void> {
    await this.#dispatcher.poke(`${org} ${spaceId}`);
  }

  /** Adds spaces that a crash has kept out of the index. */
  repair(): Promise<void> {
    return this.#dispatcher.repair();
  }

  /** Adds attempts to the queue. If only the queue's shard is down, makes them here; the store limits their number. */
  async #enqueue(attempts: readonly Attempt[]): Promise<void> {
    // If an attempt is made twice, the second one finds it begun.
    if (await this.#jobs.add(attempts.map((data) => ({ id: jobIdOf(data), data })))) return;
    const { log } = this.#parts;
    for (const data of attempts) {
      const direct = this.#deliver(data)
        .catch((error: Error) => log.warn({ error: error.message }, 'delivery postponed'))
        .finally(() => this.#direct.delete(direct));
      this.#direct.add(direct);
    }
  }

  async #deliver(data: Attempt): Promise<void> {
    const { org, spaceId, destinationId, entryId } = data;
    const { scripts, journal, targets } = this.#parts;
    const space = { spaceId, requestId: '', destinationId, entryId };
    const begun = await journal.withPacked(org, spaceId, (opened) => scripts.find(begin, org, { ...space, opened }));
    if (begun) {
      const { now, url, secrets, entry } = begun;
      const message = eventMessage(spaceId, entry);
      const outcome: DeliveryOutcome = await attempt(targets, { url, secrets, message, at: now }, this.#stop.signal);
      await scripts.ask(finish, org, {
        ...space,
        ...outcome,
        eventType: message.eventType,
        attempt: begun.attempt,
        attemptedAt: now,
        scale: 0.9 + Math.random() * 0.2,
      });
    }
    // The destination has a free slot for its next event.
    void this.poke(org, spaceId).catch(() => undefined);
  }

  /** Waits for running attempts. Those that take too long are recorded as interrupted and are due immediately. */
  async stop(): Promise<void> {
    await this.#dispatcher.stop();
    const timer = setTimeout(() => this.#stop.abort(), drainMs);
    await Promise.all([...this.#direct, this.#jobs.close()]);
    clearTimeout(timer);
  }
}

/** The job's id, which keeps an attempt from being queued twice. BullMQ reserves the colon. */
function jobIdOf({ destinationId, entryId, number }: Attempt): string {
  return `${destinationId}_${entryId}_${number}`;
}
