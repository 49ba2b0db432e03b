import { randomUUID } from 'node:crypto';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

const steps = ['fetch', 'draft'];

interface Claim {
  readonly id: string;
  readonly token: string;
  readonly attempt: number;
  readonly scopeId: string;
  readonly leaseExpiresAt: string;
}

/**
 * Messages of several steps, each of which keeps its value: later attempts find the value, and go on after that step.
 */
export class MemoScene extends Shared<Queue> {
  protected async make(client: number): Promise<Queue | undefined> {
    const { access, load } = this;
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'memos' });
    if (mailboxId === undefined) return undefined;
    const queue = { access, mailboxId, scopeId: randomUUID() };
    load.queues.push(queue);
    return queue;
  }

  protected async use(client: number, queue: Queue): Promise<void> {
    const { load, access } = this;
    const { mailboxId, scopeId } = queue;
    if (load.chance.next() < 0.4) {
      await load.call(client, access, {
        kind: 'send',
        object: ({ id }) => `message ${id}`,
        path: `/mailboxes/${mailboxId}/messages`,
        body: { scopeId, payload: { client } },
        read: ({ state }) => ({ state }),
      });
      return;
    }
    const claim: Claim | undefined = await load.claim(client, queue);
    if (claim) await this.#work(client, claim);
  }

  async #work(client: number, claim: Claim): Promise<void> {
    const { load, access } = this;
    for (const step of steps) if (!(await this.#once(client, claim, step))) return;
    if (load.chance.next() < 0.7) await load.complete(client, access, claim);
    // The worker dies: another attempt follows.
    else load.abandoned.set(`${claim.id} ${claim.attempt}`, Date.parse(claim.leaseExpiresAt));
  }

  /** Reads the step's value, or makes and keeps it. Returns whether the attempt goes on. */
  async #once(client: number, { id, token, scopeId }: Claim, step: string): Promise<boolean> {
    const { load, access } = this;
    const at = { object: `memo ${id}/${step}`, path: `/scopes/${scopeId}/notes/once:${id}:${step}` };
    const reading = { kind: 'read memo', ...at, body: undefined, refuses: ['NOTE_NOT_FOUND'] };
    const read = () => load.call(client, access, { ...reading, read: ({ value }) => ({ value }) });
    if ((await read()).status === 200) return true;
    const value = randomUUID();
    const { status, body } = await load.call(client, access, {
      ...{ kind: 'put memo', ...at, body: { value, ifVersion: 0, messageId: id, token }, method: 'PUT' },
      ...{ refuses: ['VERSION_CONFLICT', 'CLAIM_LOST'], read: () => ({ value }) },
    });
    if (body.error?.code === 'VERSION_CONFLICT') return (await read()).status === 200;
    return status < 300;
  }
}
