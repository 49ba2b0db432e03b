import { randomUUID } from 'node:crypto';
import type { BatchedPlan, Queue } from '../workload.ts';
import { Shared } from './scene.ts';

const policies = ['CANCEL', 'WAIT', 'RUN'] as const;

/** The prerequisites of a message, by ids. */
export interface Planted {
  readonly after: readonly string[];
  readonly onFailure: (typeof policies)[number];
}

/**
 * Graphs of messages that wait for one another, each sent in one request: completed, rejected, requeued, cancelled, and
 * paused for a while.
 */
export class GraphScene extends Shared<Queue> {
  #known: string[] = [];

  protected async make(client: number): Promise<Queue | undefined> {
    const { access, load } = this;
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'graphs' });
    if (mailboxId === undefined) return undefined;
    const queue: Queue = { access, mailboxId, scopeId: randomUUID(), mends: true };
    load.queues.push(queue);
    this.#known = [];
    return queue;
  }

  protected async use(client: number, queue: Queue): Promise<void> {
    const { load, access } = this;
    const choice = load.chance.next();
    if (choice < 0.3) return this.#plant(client, queue);
    if (choice < 0.4 && this.#known.length > 0) return this.#endOrBegin(client, choice < 0.35 ? 'cancel' : 'requeue');
    if (choice < 0.45) return this.#pause(client, queue);
    for (const claim of await load.claimSome(client, queue, 1 + load.chance.below(3))) {
      const { id, token } = claim;
      if (load.chance.next() < 0.85) await load.complete(client, access, claim);
      else
        await load.call(client, access, {
          ...{ kind: 'nack', object: `message ${id}`, input: { token, retry: 0 }, path: `/messages/${id}/nack` },
          ...{ body: { token, retry: false }, read: ({ state }) => ({ state }), refuses: ['CLAIM_LOST'] },
        });
    }
  }

  /** Three to seven messages, each after some of those before it. */
  async #plant(client: number, { mailboxId, scopeId }: Queue): Promise<void> {
    const { load, access } = this;
    const ids: string[] = [];
    const planted: { after: number[]; onFailure: Planted['onFailure'] }[] = [];
    const plans = Array.from({ length: 3 + load.chance.below(5) }, (_, index): BatchedPlan => {
      const all = Array.from({ length: index }, (_none, at) => at);
      const after = all.filter(() => load.chance.next() < 0.4).slice(0, 3);
      const onFailure = load.chance.of(policies);
      planted.push({ after, onFailure });
      const named = after.map((at) => ({ messageId: { $from: at } }));
      return {
        kind: 'plant',
        object: ({ id }) => {
          ids[index] = id;
          return `message ${id}`;
        },
        call: 'message.send',
        body: { mailboxId, scopeId, payload: { client }, ...(after.length > 0 && { after: named, onFailure }) },
        // Meanwhile, a worker may have rejected a prerequisite from the same batch; the messages after it are then
        // refused.
        refuses: ['PREREQUISITE_FAILED', 'VALIDATION_FAILED'],
      };
    });
    await load.batch(client, access, plans);
    for (const [index, { after, onFailure }] of planted.entries()) {
      const id = ids[index];
      if (id === undefined) continue;
      this.#known.push(id);
      load.planted.set(id, { after: after.map((at) => ids[at] ?? ''), onFailure });
    }
  }

  async #endOrBegin(client: number, what: 'cancel' | 'requeue'): Promise<void> {
    const id = this.load.chance.of(this.#known);
    await this.load.call(client, this.access, {
      kind: `${what} planted`,
      object: `message ${id}`,
      path: `/messages/${id}/${what}`,
      body: {},
      refuses: what === 'cancel' ? ['MESSAGE_FINISHED'] : ['MESSAGE_NOT_REQUEUABLE', 'PREREQUISITE_FAILED'],
    });
  }

  /** Pauses the run or the mailbox, and resumes it. */
  async #pause(client: number, { scopeId, mailboxId }: Queue): Promise<void> {
    const isOfRun = this.load.chance.next() < 0.5;
    const at = isOfRun ? `/scopes/${scopeId}` : `/mailboxes/${mailboxId}`;
    for (const what of ['pause', 'resume'])
      await this.load.call(client, this.access, {
        ...{ kind: isOfRun ? what : `${what} mailbox`, object: at, path: `${at}/${what}`, body: {} },
        refuses: isOfRun ? ['SCOPE_NOT_FOUND'] : [],
      });
  }
}
