import { randomUUID } from 'node:crypto';
import type { World } from '../../support/world.ts';
import { Queue } from './queue.ts';

// biome-ignore lint/suspicious/noExplicitAny: as in Reply.
type Any = any;

/** A mailbox beside pools and allowances. */
export class Site {
  readonly world: World;
  readonly queue: Queue;
  private constructor(world: World, queue: Queue) {
    this.world = world;
    this.queue = queue;
  }

  static async create(fields: object = {}): Promise<Site> {
    const queue = await Queue.create(fields);
    return new Site(queue.world, queue);
  }

  async pool(units = 1): Promise<string> {
    return (await this.world.mustPost('/pools', { name: randomUUID(), units })).id;
  }

  async allowance(unitsLimit: number, windowSeconds = 60): Promise<string> {
    return (await this.world.mustPost('/allowances', { name: randomUUID(), unitsLimit, windowSeconds })).id;
  }

  async view(id: string): Promise<Any> {
    return (await this.world.get(`/messages/${id}`)).body;
  }

  async poolOf(id: string): Promise<Any> {
    return (await this.world.get(`/pools/${id}`)).body;
  }

  acquire(poolId: string, fields: object = {}): Promise<Any> {
    const body = { scopeId: this.queue.scopeId, holder: 'h', ...fields };
    return this.world.mustPost(`/pools/${poolId}/acquire`, body);
  }

  /** Claims up to 100 messages. */
  async claims(fields: object = {}): Promise<Any[]> {
    const reply = await this.queue.recv({ max: 100, leaseSeconds: 600, ...fields });
    return reply.status === 204 ? [] : reply.body.messages;
  }
}

export const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);
