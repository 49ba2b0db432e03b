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

  static async create(limitMinor = '1000', on?: World): Promise<Purse> {
    const world = on ?? (await World.create());
    const budget = await world.mustPost('/budgets', { name: randomUUID(), currency: 'EUR', scale: 2, limitMinor });
    return new Purse(world, budget.id);
  }

  reserve(amountMinor: string, more: object = {}, headers?: Record<string, string>): Promise<Reply> {
    const body = { scopeId: this.scopeId, holder: 'agent-1', amountMinor, ...more };
    return this.world.post(`/budgets/${this.id}/reserve`, body, headers);
  }

  settle(reservationId: string, amountMinor: string, workKey: string = randomUUID()): Promise<Reply> {
    return this.world.post(`/budgets/${this.id}/settle`, { reservationId, amountMinor, workKey });
  }

  void(reservationId: string, workKey: string = randomUUID()): Promise<Reply> {
    return this.world.post(`/budgets/${this.id}/void`, { reservationId, workKey });
  }

  async view(query = ''): Promise<Reply['body']> {
    return (await this.world.get(`/budgets/${this.id}${query}`)).body;
  }

  /** `limit reserved settled available` */
  async balances(): Promise<string> {
    const { limit, reserved, settled, available } = (await this.view()).balances;
    return [limit, reserved, settled, available].join(' ');
  }

  /** The space's counters in the store. */
  counters(...names: string[]): Promise<(string | null)[]> {
    return this.world.service.store.hmget(`muster:{${this.world.org}}:${this.world.spaceId}`, ...names);
  }
}
