import { randomUUID } from 'node:crypto';
import { budgetReply } from '../../../src/budget/schemas.ts';
import { type Reply, World } from '../../support/world.ts';

/** One budget and the requests for it; every success is checked against its published schema. */
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
    const budget = await world.made('/budgets', { name: randomUUID(), currency: 'EUR', scale: 2, limitMinor });
    return new Purse(world, budget.id);
  }

  async reserve(amountMinor: string, more: object = {}, headers?: Record<string, string>): Promise<Reply> {
    const body = { scopeId: this.scopeId, holder: 'agent-1', amountMinor, ...more };
    return checked(await this.world.post(`/budgets/${this.id}/reserve`, body, headers), budgetReply.reserved);
  }

  async settle(reservationId: string, amountMinor: string, workKey: string = randomUUID()): Promise<Reply> {
    const body = { reservationId, amountMinor, workKey };
    return checked(await this.world.post(`/budgets/${this.id}/settle`, body), budgetReply.entry);
  }

  async void(reservationId: string, workKey: string = randomUUID()): Promise<Reply> {
    return checked(await this.world.post(`/budgets/${this.id}/void`, { reservationId, workKey }), budgetReply.entry);
  }

  async view(query = ''): Promise<Reply['body']> {
    return checked(await this.world.get(`/budgets/${this.id}${query}`), budgetReply.view).body;
  }

  /** `limit reserved settled available` */
  async balances(): Promise<string> {
    const { limit, reserved, settled, available } = (await this.view()).balances;
    return [limit, reserved, settled, available].join(' ');
  }

  /** The space's own counters. */
  counters(...names: string[]): Promise<(string | null)[]> {
    return this.world.service.store.hmget(`muster:{${this.world.org}}:${this.world.spaceId}`, ...names);
  }
}

export const codeOf = (reply: Reply): string => reply.body?.error?.code ?? `${reply.status}`;

function checked(reply: Reply, schema: (typeof budgetReply)[keyof typeof budgetReply]): Reply {
  if (reply.status < 300) {
    const { error } = schema.validate(reply.body);
    if (error) throw error;
  }
  return reply;
}
