import { randomUUID } from 'node:crypto';
import { type Reply, World } from '../../support/world.ts';

/** One budget and the requests to it. */
export class Purse {
  readonly world: World;
  readonly id: string;
  readonly scopeId = randomUUID();

  constructor(world: World, id: string) {
    this.world = world;
    this.id = id;
  }

  static async create(limitMinor = '1000', on?: World, more: object = {}): Promise<Purse> {
    const world = on ?? (await World.create());
    const plain = { name: randomUUID(), currency: 'EUR', scale: 2, limitMinor };
    const budget = await world.mustPost('/budgets', { ...plain, ...more });
    return new Purse(world, budget.id);
  }

  reserve(amountMinor: string, more: object = {}, headers?: Record<string, string>): Promise<Reply> {
    const body = { scopeId: this.scopeId, holder: 'agent-1', amountMinor, ...more };
    return this.world.post(`/budgets/${this.id}/reserve`, body, headers);
  }

  settle(
    reservationId: string,
    amountMinor: string,
    workKey: string = randomUUID(),
    more: object = {},
  ): Promise<Reply> {
    return this.world.post(`/budgets/${this.id}/settle`, { reservationId, amountMinor, workKey, ...more });
  }

  /** Settles the amount really spent, even if it is more than was reserved. */
  overrun(reservationId: string, amountMinor: string, workKey?: string): Promise<Reply> {
    return this.settle(reservationId, amountMinor, workKey, { overrun: true });
  }

  limit(limitMinor: string): Promise<Reply> {
    return this.world.call('PATCH', `/budgets/${this.id}`, { limitMinor });
  }

  void(reservationId: string, workKey: string = randomUUID()): Promise<Reply> {
    return this.world.post(`/budgets/${this.id}/void`, { reservationId, workKey });
  }

  async view(query = ''): Promise<Reply['body']> {
    return (await this.world.get(`/budgets/${this.id}${query}`)).body;
  }

  /** `limit reserved settled available`, then the overdrawn amount, if any */
  async balances(): Promise<string> {
    const { limit, reserved, settled, available, overdrawn } = (await this.view()).balances;
    const text = [limit, reserved, settled, available].join(' ');
    return overdrawn === '0' ? text : `${text} overdrawn ${overdrawn}`;
  }

  /** The space's counters in the store. */
  counters(...names: string[]): Promise<(string | null)[]> {
    return this.world.service.store.hmget(`muster:{${this.world.org}}:${this.world.spaceId}`, ...names);
  }
}
