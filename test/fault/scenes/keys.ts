import { randomUUID } from 'node:crypto';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

const keys = ['a', 'b', 'c'];

/**
 * A mailbox that works one message of each key at a time: messages are completed, given back, rejected, cancelled,
 * requeued, or left to their lease. The journal shows the order (test/fault/order.ts).
 */
export class KeysScene extends Shared<Queue> {
  #known: string[] = [];

  protected async make(client: number): Promise<Queue | undefined> {
    const { access, load } = this;
    const policy = { perKey: 1, maxAttempts: 3, retryDelaySeconds: load.chance.below(2) };
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'keys', ...policy });
    if (mailboxId === undefined) return undefined;
    const queue = { access, mailboxId, scopeId: '*' };
    load.queues.push(queue);
    this.#known = [];
    return queue;
  }

  protected async use(client: number, queue: Queue): Promise<void> {
    const { load, access } = this;
    const choice = load.chance.next();
    if (choice < 0.5) return this.#send(client, queue);
    if (choice < 0.57 && this.#known.length > 0) return this.#endOrBegin(client, choice < 0.53 ? 'cancel' : 'requeue');
    for (const claim of await load.claimSome(client, queue, 1 + load.chance.below(3))) {
      const { id, token } = claim;
      const what = load.chance.next();
      if (what < 0.1) load.abandoned.set(`${id} ${claim.attempt}`, Date.parse(claim.leaseExpiresAt));
      else if (what < 0.65) await load.complete(client, access, claim);
      else {
        const retry = what < 0.9;
        await load.call(client, access, {
          ...{ kind: 'nack', object: `message ${id}`, input: { token }, path: `/messages/${id}/nack` },
          ...{ body: { token, retry }, read: ({ state }) => ({ state }), refuses: ['CLAIM_LOST'] },
        });
      }
    }
  }

  async #send(client: number, { mailboxId }: Queue): Promise<void> {
    const { load, access } = this;
    const key = load.chance.of(keys);
    const priority = load.chance.below(3);
    const { body } = await load.call(client, access, {
      kind: 'plant',
      object: ({ id }) => `message ${id}`,
      path: `/mailboxes/${mailboxId}/messages`,
      body: { scopeId: randomUUID(), payload: { client }, key, priority },
    });
    if (!body.id) return;
    this.#known.push(body.id);
    load.keyed.set(body.id, `${mailboxId} ${key}`);
  }

  async #endOrBegin(client: number, what: 'cancel' | 'requeue'): Promise<void> {
    const id = this.load.chance.of(this.#known);
    await this.load.call(client, this.access, {
      kind: `${what} planted`,
      object: `message ${id}`,
      path: `/messages/${id}/${what}`,
      body: {},
      refuses: [what === 'cancel' ? 'MESSAGE_FINISHED' : 'MESSAGE_NOT_REQUEUABLE'],
    });
  }
}
