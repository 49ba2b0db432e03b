import { randomUUID } from 'node:crypto';
import { type Reply, World } from '../../support/world.ts';

/** One barrier and the requests to it. */
export class Gate {
  readonly world: World;
  readonly id: string;
  readonly scopeId: string;

  constructor(world: World, id: string, scopeId: string) {
    this.world = world;
    this.id = id;
    this.scopeId = scopeId;
  }

  static async create(target: number, on?: World): Promise<Gate> {
    const world = on ?? (await World.create());
    const scopeId = randomUUID();
    const barrier = await world.post('/barriers', { scopeId, target });
    return new Gate(world, barrier.body.id, scopeId);
  }

  arrive(arrivalKey: string, epoch?: number): Promise<Reply> {
    return this.world.post(`/barriers/${this.id}/arrive`, { arrivalKey, ...(epoch !== undefined && { epoch }) });
  }

  nextEpoch(): Promise<Reply> {
    return this.world.post(`/barriers/${this.id}/nextEpoch`);
  }

  cancel(): Promise<Reply> {
    return this.world.post(`/barriers/${this.id}/cancel`);
  }

  async view(): Promise<Reply['body']> {
    return (await this.world.get(`/barriers/${this.id}`)).body;
  }

  async eventCount(type: string): Promise<number> {
    return (await this.world.eventTypes()).filter((one) => one === `barrier.${type}`).length;
  }
}
