import { randomUUID } from 'node:crypto';
import { workOff } from '../../support/work-off.ts';
import type { World } from '../../support/world.ts';

/** A hold as acquire answers it. */
export interface Acquired {
  readonly id: string;
  readonly token: string;
  readonly state: string;
  readonly fence: number | null;
  readonly position: number | null;
  readonly [name: string]: unknown;
}

/** A pool in a space, and the calls of its holders. */
export class TestPool {
  readonly world: World;
  readonly id: string;
  readonly scopeId = randomUUID();

  constructor(world: World, id: string) {
    this.world = world;
    this.id = id;
  }

  static async create(world: World, units = 1, name = `pool-${randomUUID()}`): Promise<TestPool> {
    return new TestPool(world, (await world.mustPost('/pools', { name, units })).id);
  }

  body(more: object = {}): object {
    return { scopeId: this.scopeId, holder: 'agent', ...more };
  }

  /** Acquires, and resolves with any answer. */
  ask(more: object = {}) {
    return this.world.post(`/pools/${this.id}/acquire`, this.body(more));
  }

  acquire(more: object = {}): Promise<Acquired> {
    return this.world.mustPost(`/pools/${this.id}/acquire`, this.body(more));
  }

  async view() {
    return (await this.world.get(`/pools/${this.id}`)).body;
  }

  release({ id, token }: Acquired) {
    return this.world.post(`/pool-holds/${id}/release`, { token });
  }

  renew({ id, token }: Acquired, leaseSeconds?: number) {
    return this.world.post(`/pool-holds/${id}/renew`, { token, ...(leaseSeconds !== undefined && { leaseSeconds }) });
  }

  /** Renews a waiting hold. */
  waitOn({ id }: Acquired, ttlSeconds?: number) {
    return this.world.post(`/pool-holds/${id}/renew`, ttlSeconds === undefined ? {} : { ttlSeconds });
  }

  async hold(id: string) {
    return (await this.world.get(`/pool-holds/${id}`)).body;
  }

  async states(...holds: readonly Acquired[]): Promise<string[]> {
    return Promise.all(holds.map(async ({ id }) => (await this.hold(id)).state));
  }

  /** Moves the clock, then does what is due, as a worker would. */
  async passTo(at: number): Promise<void> {
    await this.world.at(at);
    await this.world.service.due.drain(this.world.org);
    await workOff(this.world);
  }
}
