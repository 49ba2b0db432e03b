import { randomUUID } from 'node:crypto';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

/** Batches: messages that are sent and completed in one request. */
export class BatchScene extends Shared<Queue> {
  protected async make(client: number): Promise<Queue | undefined> {
    const { access, load } = this;
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'batches' });
    if (mailboxId === undefined) return undefined;
    const queue = { access, mailboxId, scopeId: randomUUID() };
    load.queues.push(queue);
    return queue;
  }

  protected async use(client: number, queue: Queue): Promise<void> {
    const { load, access } = this;
    const { mailboxId, scopeId } = queue;
    const sends = Array.from({ length: 1 + load.chance.below(4) }, () => ({
      kind: 'send',
      object: ({ id }: { id: string }) => `message ${id}`,
      call: 'message.send',
      body: { mailboxId, scopeId, payload: { client } },
      read: ({ state }: { state: string }) => ({ state }),
    }));
    const claims = await load.claimSome(client, queue, 3);
    const ends = claims.map(({ id, token }) => ({
      kind: 'complete',
      object: `message ${id}`,
      input: { token },
      call: 'message.complete',
      body: { messageId: id, token },
      refuses: ['CLAIM_LOST'],
    }));
    await load.batch(client, access, [...ends, ...sends]);
  }
}
