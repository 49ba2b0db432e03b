import { randomUUID } from 'node:crypto';
import { Shared } from './scene.ts';

export const quotaUnits = 20;
export const settledUnits = 1;
/** A window that does not roll while a test runs. */
const windowSeconds = 31_536_000;

/**
 * An allowance that is used up: consumptions, some of them repeated and some settled, and waiters whose time runs out.
 */
export class QuotaScene extends Shared<string> {
  protected make(client: number): Promise<string | undefined> {
    const body = { name: randomUUID(), unitsLimit: quotaUnits, windowSeconds };
    return this.create(client, 'allowance', '/allowances', body);
  }

  protected async use(client: number, id: string): Promise<void> {
    const { chance } = this.load;
    const object = `allowance ${id}`;
    const about = { scopeId: randomUUID(), holder: 'h' };
    if (chance.next() < 0.7) {
      const workKey = `work-${chance.below(12)}`;
      const { body } = await this.load.call(client, this.access, {
        kind: 'consume',
        object,
        path: `/allowances/${id}/consume`,
        body: { ...about, units: 3, workKey },
        read: (body) => ({ id: body.id, units: body.units }),
        refuses: ['ALLOWANCE_EXHAUSTED'],
      });
      if (body.id && chance.next() < 0.5) await this.#settle(client, id, body.id);
      return;
    }
    const { body } = await this.load.call(client, this.access, {
      kind: 'wait',
      object,
      path: `/allowances/${id}/wait`,
      body: { ...about, units: 2 + chance.below(4), ttlSeconds: 5 },
      read: ({ waiterId, state, units }) => ({ id: waiterId, state, units }),
    });
    if (!body.waiterId) return;
    if (body.state === 'GRANTED') return this.#settle(client, id, body.waiterId);
    if (chance.next() < 0.3)
      await this.load.call(client, this.access, {
        kind: 'renew',
        object,
        path: `/allowance-waiters/${body.waiterId}/renew`,
        body: {},
        refuses: ['WAITER_NOT_WAITING'],
      });
    if (chance.next() < 0.7) return;
    await this.load.call(client, this.access, {
      kind: 'cancel',
      object,
      input: { id: body.waiterId },
      path: `/allowance-waiters/${body.waiterId}/cancel`,
      body: {},
      refuses: ['WAITER_NOT_WAITING'],
    });
  }
  /** Settles one unit as used; another client may have done so before. */
  async #settle(client: number, allowanceId: string, id: string): Promise<void> {
    await this.load.call(client, this.access, {
      kind: 'settle units',
      object: `allowance ${allowanceId}`,
      input: { id },
      path: `/allowances/${allowanceId}/consumptions/${id}/settle`,
      body: { units: settledUnits },
    });
  }
}
