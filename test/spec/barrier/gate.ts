import { randomUUID } from 'node:crypto';
import { barrierReply } from '../../../src/barrier/schemas.ts';
import { type Reply, World } from '../../support/world.ts';

/** One barrier and the requests for it; every success is checked against its published schema. */
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
    const barrier = checked(await world.post('/barriers', { scopeId, target }));
    return new Gate(world, barrier.body.id, scopeId);
  }

  async arrive(arrivalKey: string, epoch?: number): Promise<Reply> {
    return checked(
      await this.world.post(`/barriers/${this.id}/arrive`, { arrivalKey, ...(epoch !== undefined && { epoch }) }),
    );
  }

  async nextEpoch(): Promise<Reply> {
    return checked(await this.world.post(`/barriers/${this.id}/nextEpoch`));
  }

  async cancel(): Promise<Reply> {
    return checked(await this.world.post(`/barriers/${this.id}/cancel`));
  }

  async view(): Promise<Reply['body']> {
    return checked(await this.world.get(`/barriers/${this.id}`)).body;
  }

  async told(type: string): Promise<number> {
    return (await this.world.eventTypes()).filter((one) => one === `barrier.${type}`).length;
  }
}

export const codeOf = (reply: Reply): string => reply.body?.error?.code ?? `${reply.status}`;

function checked(reply: Reply): Reply {
  if (reply.status >= 300) return reply;
  const { error } = barrierReply.validate(reply.body);
  if (error) throw error;
  return reply;
}
