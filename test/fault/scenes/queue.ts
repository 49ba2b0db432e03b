import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

/** A mailbox of two runs. */
interface Jobs extends Queue {
  readonly runs: readonly string[];
  readonly pauseSeconds: number;
}

interface Claim {
  readonly id: string;
  readonly token: string;
  readonly attempt: number;
  readonly leaseExpiresAt: string;
}

const seconds = (value: number | undefined) => (value === undefined ? {} : { delaySeconds: value });
const inMs = (value: number | undefined) => (value === undefined ? {} : { delayMs: value * 1000 });

/** The refusal where another client has removed the message after its end. */
const gone = 'MESSAGE_NOT_FOUND';
/** The refusals of a call with the token of a claim. */
const lost = ['CLAIM_LOST', gone];

/**
 * Messages of two runs, sent with priorities, some of them delayed. They are claimed from one run or from both in turn,
 * alone or several at once, renewed, given back with and without a pause, completed in time and too late, taken away,
 * cancelled, purged, requeued, one by one, some or all of them, removed once they have ended, or left to their lease.
 */
export class QueueScene extends Shared<Jobs> {
  /** Messages of the current queue that no client has left to their lease. */
  #known: string[] = [];

  protected async make(client: number): Promise<Jobs | undefined> {
    const { access, load } = this;
    const pauseSeconds = load.chance.below(2);
    const policy = { retryDelaySeconds: pauseSeconds, maxRetryDelaySeconds: 1 };
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'jobs', ...policy });
    if (mailboxId === undefined) return undefined;
    const jobs = { access, mailboxId, scopeId: '*', runs: [randomUUID(), randomUUID()], pauseSeconds };
    load.queues.push(jobs);
    this.#known = [];
    return jobs;
  }

  protected async use(client: number, jobs: Jobs): Promise<void> {
    const { load } = this;
    const choice = load.chance.next();
    if (choice < 0.02) return this.#goThroughAll(client, jobs);
    if (choice < 0.05) return this.#goThrough(client, jobs);
    if (choice < 0.15) return this.#clear(client, jobs);
    if (choice < 0.28 && this.#known.length > 0)
      return choice < 0.17 ? this.#takeAway(client) : this.#endOrBegin(client, choice < 0.22 ? 'withdraw' : 'requeue');
    if (choice < 0.6) return this.#send(client, jobs);
    const queue = { ...jobs, scopeId: load.chance.of(['*', ...jobs.runs]) };
    const isOne = load.chance.next() < 0.7;
    const claims = isOne
      ? [await load.claim(client, queue)]
      : await load.claimSome(client, queue, 1 + load.chance.below(4));
    for (const claim of claims) if (claim) await this.#work(client, claim);
  }

  /** A delay of a second, for this share of calls. */
  #delay(share: number): number | undefined {
    return this.load.chance.next() < share ? 1 : undefined;
  }

  async #send(client: number, { mailboxId, runs, pauseSeconds }: Jobs): Promise<void> {
    const { load } = this;
    const delay = this.#delay(0.3);
    const attempts = load.chance.next() < 0.3 ? { maxAttempts: 1 + load.chance.below(3) } : {};
    const scopeId = load.chance.of(runs);
    const priority = load.chance.below(3);
    const { body } = await load.call(client, this.access, {
      kind: 'send',
      object: ({ id }) => `message ${id}`,
      input: { ...inMs(delay), ...attempts, pauseMs: pauseSeconds * 1000 },
      path: `/mailboxes/${mailboxId}/messages`,
      body: { scopeId, payload: { client }, priority, ...seconds(delay), ...attempts },
      read: ({ state }) => ({ state }),
    });
    if (!body.id) return;
    this.#known.push(body.id);
    if (delay === undefined) load.ordered.set(body.id, { run: `${mailboxId} ${scopeId}`, priority });
  }

  /** Cancels some waiting messages, or requeues some that ended. */
  async #goThrough(client: number, { mailboxId }: Jobs): Promise<void> {
    const { chance } = this.load;
    const object = `mailbox ${mailboxId}`;
    const max = 1 + chance.below(3);
    if (chance.next() < 0.4) {
      await this.load.call(client, this.access, {
        ...{ kind: 'purge', object, input: { max }, path: `/mailboxes/${mailboxId}/purge`, body: { max } },
        read: ({ cancelled }) => ({ count: cancelled }),
      });
      return;
    }
    const state = chance.of(['CANCELLED', 'REJECTED', 'FAILED']);
    await this.load.call(client, this.access, {
      ...{ kind: 'requeue some', object, input: { max, from: state } },
      ...{ path: `/mailboxes/${mailboxId}/requeue`, body: { state, max } },
      read: ({ requeued }) => ({ count: requeued }),
    });
  }

  /** Has workers cancel all waiting messages, or requeue all that ended in a state. */
  async #goThroughAll(client: number, { mailboxId, runs }: Jobs): Promise<void> {
    const { chance } = this.load;
    const isPurge = chance.next() < 0.3;
    const state = chance.of(['CANCELLED', 'REJECTED', 'FAILED']);
    await this.load.call(client, this.access, {
      kind: isPurge ? 'purge all' : 'requeue all',
      object: ({ id }) => `bulk ${id}`,
      path: chance.next() < 0.5 ? `/mailboxes/${mailboxId}/bulk` : `/scopes/${chance.of(runs)}/bulk`,
      body: isPurge ? { action: 'PURGE' } : { action: 'REQUEUE', state },
      refuses: ['BULKS_FULL', 'SCOPE_NOT_FOUND'],
    });
  }

  /** Takes a claim away from whoever has it. */
  async #takeAway(client: number): Promise<void> {
    const id = this.load.chance.of(this.#known);
    await this.load.call(client, this.access, {
      ...{ kind: 'take away', object: `message ${id}`, path: `/messages/${id}/release`, body: {} },
      read: ({ state }) => ({ state }),
      refuses: ['MESSAGE_NOT_CLAIMED', gone],
    });
  }

  /** Removes some messages that have ended. */
  async #clear(client: number, { mailboxId }: Jobs): Promise<void> {
    const max = 1 + this.load.chance.below(4);
    await this.load.call(client, this.access, {
      ...{ kind: 'clear', object: `mailbox ${mailboxId}`, input: { max }, path: `/mailboxes/${mailboxId}/purge` },
      body: { max, finished: true },
      read: ({ removed }) => ({ removed }),
    });
  }

  async #endOrBegin(client: number, kind: 'withdraw' | 'requeue'): Promise<void> {
    const id = this.load.chance.of(this.#known);
    const delay = kind === 'requeue' ? this.#delay(0.3) : undefined;
    await this.load.call(client, this.access, {
      kind,
      object: `message ${id}`,
      input: inMs(delay),
      path: `/messages/${id}/${kind === 'withdraw' ? 'cancel' : kind}`,
      body: seconds(delay),
      read: ({ state }) => ({ state }),
      refuses: [kind === 'withdraw' ? 'MESSAGE_FINISHED' : 'MESSAGE_NOT_REQUEUABLE', gone],
    });
  }

  async #work(client: number, claim: Claim): Promise<void> {
    const { load, access } = this;
    const { id, token } = claim;
    const object = `message ${id}`;
    const choice = load.chance.next();
    if (choice < 0.1) {
      this.#known = this.#known.filter((known) => known !== id);
      load.abandoned.set(`${id} ${claim.attempt}`, Date.parse(claim.leaseExpiresAt));
      return;
    }
    if (choice < 0.2) {
      // Its lease ends at about the same time.
      await sleep(4_950 + load.chance.below(100));
    } else if (choice < 0.35) {
      const [path, body] = [`/messages/${id}/renew`, { token, leaseSeconds: 5 }];
      const input = { token, leaseSeconds: 5 };
      await load.call(client, access, { kind: 'renew', object, input, path, body, refuses: lost });
    } else if (choice < 0.55) return this.#giveBack(client, object, claim);
    await load.complete(client, access, claim, lost);
  }

  async #giveBack(client: number, object: string, { id, token }: Claim): Promise<void> {
    const { chance } = this.load;
    const retry = chance.next() < 0.7;
    const delay = retry ? chance.of([undefined, 0, 1]) : undefined;
    const error = chance.next() < 0.5 ? { error: randomUUID() } : {};
    const isUntried = retry && chance.next() < 0.3;
    await this.load.call(client, this.access, {
      kind: 'nack',
      object,
      input: { token, retry: retry ? 1 : 0, countsAttempt: isUntried ? 0 : 1, ...inMs(delay), ...error },
      path: `/messages/${id}/nack`,
      body: { token, retry, countsAttempt: !isUntried, ...seconds(delay), ...error },
      read: ({ state }) => ({ state }),
      refuses: lost,
    });
  }
}
