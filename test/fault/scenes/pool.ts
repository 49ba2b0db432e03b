import { randomUUID } from 'node:crypto';
import { Shared } from './scene.ts';

const units = 3;
/** Some give up waiting, and some holds lapse, while the clients work. */
const shortSeconds = 5;

interface Line {
  readonly poolId: string;
  /** Holds that somebody may release or cancel, the oldest first. */
  readonly holds: { readonly id: string; readonly token: string }[];
}

/**
 * A pool at which clients queue for one to three units. Some leave the queue, some release their units, the others lose
 * them with the lease. The journal shows the order of grants, and the units held (test/fault/order.ts).
 */
export class LineScene extends Shared<Line> {
  protected async make(client: number): Promise<Line | undefined> {
    const poolId = await this.create(client, 'line', '/pools', { name: randomUUID(), units });
    return poolId === undefined ? undefined : { poolId, holds: [] };
  }

  protected async use(client: number, { poolId, holds }: Line): Promise<void> {
    const { load, access } = this;
    const { chance } = load;
    const object = `line ${poolId}`;
    const choice = chance.next();
    const hold = choice < 0.4 ? undefined : holds.shift();
    if (hold === undefined) {
      const body = { scopeId: randomUUID(), holder: `client-${client}`, units: 1 + chance.below(units) };
      const heard = await load.call(client, access, {
        ...{ kind: 'line up', object, path: `/pools/${poolId}/acquire` },
        body: { ...body, leaseSeconds: shortSeconds, ttlSeconds: shortSeconds },
        read: ({ id, state }) => ({ id, state }),
      });
      holds.push({ id: heard.body.id, token: heard.body.token });
    } else if (choice < 0.5)
      await load.call(client, access, {
        ...{ kind: 'leave line', object, path: `/pool-holds/${hold.id}/cancel`, body: {} },
        refuses: ['HOLD_NOT_WAITING'],
      });
    else
      await load.call(client, access, {
        ...{ kind: 'let go', object, path: `/pool-holds/${hold.id}/release`, body: { token: hold.token } },
        refuses: ['CLAIM_LOST'],
      });
  }
}
