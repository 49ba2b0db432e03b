import { randomUUID } from 'node:crypto';
import { Shared } from './scene.ts';

export const gateTarget = 3;

/** A barrier that everybody arrives at, some twice, and that anybody opens again. */
export class GateScene extends Shared<string> {
  protected make(client: number): Promise<string | undefined> {
    return this.create(client, 'barrier', '/barriers', { scopeId: randomUUID(), target: gateTarget });
  }

  protected async use(client: number, id: string): Promise<void> {
    const { chance } = this.load;
    const arrivalKey = `key-${chance.below(5)}`;
    const isNext = chance.next() < 0.25;
    await this.load.call(client, this.access, {
      kind: isNext ? 'nextEpoch' : 'arrive',
      object: `barrier ${id}`,
      input: isNext ? {} : { key: arrivalKey },
      path: `/barriers/${id}/${isNext ? 'nextEpoch' : 'arrive'}`,
      body: isNext ? {} : { arrivalKey },
      read: ({ epoch, arrivals }) => ({ epoch, arrivals }),
      refuses: isNext ? ['BARRIER_NOT_RELEASED'] : ['BARRIER_RELEASED'],
    });
  }
}
