import { randomUUID } from 'node:crypto';
import { Shared } from './scene.ts';

export const lockLeaseSeconds = 5;
const placeSeconds = 5;

/** An external store that the lock protects. It checks the fence, and refuses writes of earlier holders. */
class FencedStore {
  #last = 0;

  write(fence: number): boolean {
    if (fence < this.#last) return false;
    this.#last = fence;
    return true;
  }
}

interface Lock {
  readonly id: string;
  readonly store: FencedStore;
  /** Another pool of one unit, and the holds that wait for it or have it. */
  readonly lineId: string;
  readonly places: string[];
}

/** A client that took the lock and fell asleep before writing. */
interface Sleeper {
  readonly lock: Lock;
  readonly hold: string;
  readonly token: string;
  readonly fence: number;
}

/**
 * A lock that clients take, renew and release; some sleep, often through their lease, and go on as if they still held
 * it. A client that can still release the lock after its write held it during the write, so the store must have
 * accepted the write. The store refuses a sleeper's write after its successor's.
 *
 * Others stand in line for another lock, renew their places, leave, or die there.
 */
export class LockScene extends Shared<Lock> {
  readonly #sleepers: Sleeper[] = [];

  protected async make(client: number): Promise<Lock | undefined> {
    const id = await this.create(client, 'pool', '/pools', { name: randomUUID(), units: 1 });
    const lineId = await this.create(client, 'pool', '/pools', { name: randomUUID(), units: 1 });
    return id === undefined || lineId === undefined ? undefined : { id, store: new FencedStore(), lineId, places: [] };
  }

  protected async use(client: number, lock: Lock): Promise<void> {
    const { chance } = this.load;
    if (chance.next() < 0.3) {
      await this.#stand(client, lock);
      return;
    }
    const sleeper = chance.next() < 0.3 ? this.#sleepers.shift() : undefined;
    if (sleeper) {
      await this.#write(client, sleeper);
      return;
    }
    const body = { scopeId: randomUUID(), holder: 'h', holderSession: `${client}`, ttlSeconds: 0 };
    const heard = await this.load.callOnce(client, this.access, {
      kind: 'hold',
      object: `pool ${lock.id}`,
      input: { leaseSeconds: lockLeaseSeconds },
      path: `/pools/${lock.id}/acquire`,
      body: { ...body, leaseSeconds: lockLeaseSeconds },
      read: ({ id, fence }) => ({ id, fence }),
      refuses: ['POOL_EXHAUSTED'],
    });
    const hold = heard?.body;
    if (!hold?.token) return;
    const taken = { lock, hold: hold.id, token: hold.token, fence: hold.fence };
    if (chance.next() < 0.3) this.#sleepers.push(taken);
    else await this.#write(client, taken);
  }

  async #stand(client: number, { lineId, places }: Lock): Promise<void> {
    const { load, access } = this;
    const choice = load.chance.next();
    const known = places.length > 0 ? load.chance.of(places) : undefined;
    const input = { ttlSeconds: placeSeconds };
    if (choice < 0.4 || known === undefined) {
      const { body } = await load.call(client, access, {
        ...{ kind: 'stand', object: ({ id }) => `place ${id}`, input, path: `/pools/${lineId}/acquire` },
        body: { scopeId: randomUUID(), holder: 'h', ttlSeconds: placeSeconds, leaseSeconds: lockLeaseSeconds },
        read: ({ state }) => ({ state }),
      });
      if (body.id) places.push(body.id);
    } else {
      const [kind, call] = choice < 0.8 ? ['stay', 'renew'] : ['leave', 'cancel'];
      await load.call(client, access, {
        ...{ kind, object: `place ${known}`, input, path: `/pool-holds/${known}/${call}`, body: {} },
        refuses: ['HOLD_NOT_WAITING'],
      });
    }
  }

  async #write(client: number, { lock, hold, token, fence }: Sleeper): Promise<void> {
    const { chance } = this.load;
    const object = `pool ${lock.id}`;
    const about = { input: { hold, leaseSeconds: lockLeaseSeconds }, refuses: ['CLAIM_LOST', 'HOLD_NOT_FOUND'] };
    if (chance.next() < 0.3) {
      const path = `/pool-holds/${hold}/renew`;
      await this.load.call(client, this.access, { kind: 'renew', object, path, body: { token }, ...about });
    }
    const isWritten = lock.store.write(fence);
    const path = `/pool-holds/${hold}/release`;
    const { status } = await this.load.call(client, this.access, {
      ...{ kind: 'release', object, path, body: { token }, ...about },
    });
    if (status === 200 && !isWritten) this.load.unexpected.push(`${hold} held ${object}, and its write was refused`);
  }
}
