import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

/** Messages that are sent, claimed, renewed, given back, completed in time and too late, cancelled, requeued, or left to their lease. */
export class QueueScene extends Shared<Queue> {
  /** Messages of the queue at hand that nobody has left to their lease. */
  #known: string[] = [];

  protected async make(client: number): Promise<Queue | undefined> {
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'jobs' });
    if (mailboxId === undefined) return undefined;
    const queue = { access: this.access, mailboxId, scopeId: randomUUID() };
    this.load.queues.push(queue);
    this.#known = [];
    return queue;
  }

  protected async use(client: number, queue: Queue): Promise<void> {
    const { load, access } = this;
    const choice = load.chance.next();
    if (choice < 0.2 && this.#known.length > 0) return this.#endOrBegin(client, choice < 0.1 ? 'withdraw' : 'requeue');
    if (choice < 0.6) {
      const { body } = await load.call(client, access, {
        kind: 'send',
        object: ({ id }) => `message ${id}`,
        path: `/mailboxes/${queue.mailboxId}/messages`,
        body: { scopeId: queue.scopeId, payload: { client } },
      });
      if (body.id) this.#known.push(body.id);
      return;
    }
    const claim = await load.claim(client, queue);
    if (claim) await this.#work(client, claim);
  }

  async #endOrBegin(client: number, kind: 'withdraw' | 'requeue'): Promise<void> {
    const id = this.load.chance.of(this.#known);
    await this.load.call(client, this.access, {
      kind,
      object: `message ${id}`,
      path: `/messages/${id}/${kind === 'withdraw' ? 'cancel' : kind}`,
      body: {},
      read: ({ state }) => ({ state }),
      refuses: [kind === 'withdraw' ? 'MESSAGE_FINISHED' : 'MESSAGE_NOT_REQUEUABLE'],
    });
  }

  async #work(client: number, claim: { id: string; token: string; attempt: number; leaseExpiresAt: string }) {
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
      await load.call(client, access, { kind: 'renew', object, input, path, body, refuses: ['CLAIM_LOST'] });
    } else if (choice < 0.5) {
      const retry = load.chance.next() < 0.7;
      await load.call(client, access, {
        kind: 'nack',
        object,
        input: { token, retry: retry ? 1 : 0 },
        path: `/messages/${id}/nack`,
        body: { token, retry },
        read: ({ state }) => ({ state }),
        refuses: ['CLAIM_LOST'],
      });
      return;
    }
    await load.complete(client, access, claim);
  }
}
