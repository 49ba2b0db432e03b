import { randomUUID } from 'node:crypto';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

const units = 3;
/** The units of an allowance that each attempt takes. */
export const tokens = 2;
export const settledTokens = 1;

/**
 * The time from the answer to a receive until the start of the claim's successful completion. The claim held its units
 * all the while.
 */
interface Use {
  readonly from: number;
  readonly to: number;
  readonly taken: number;
}

/** A mailbox whose messages require units of a pool. */
interface Bench extends Queue {
  readonly poolId: string;
  readonly allowanceId: string;
  readonly uses: Use[];
  /** The greatest fence that anybody has heard of. */
  lastFence: number;
}

/** How many units were taken at a moment. */
const takenAt = (uses: readonly Use[], moment: number): number =>
  uses.reduce((sum, { from, to, taken }) => sum + (from <= moment && moment <= to ? taken : 0), 0);

/**
 * Messages that require one or two units of a pool of three and tokens of an allowance, completed, given back, or left
 * to their lease. Claims never hold more units than the pool has, and a claim's fence is greater than any known before
 * its receive.
 */
export class ToolScene extends Shared<Bench> {
  protected async make(client: number): Promise<Bench | undefined> {
    const { access, load } = this;
    const poolId = await this.create(client, 'pool', '/pools', { name: randomUUID(), units });
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'tools' });
    const quota = { name: randomUUID(), unitsLimit: 1_000_000, windowSeconds: 31_536_000 };
    const allowanceId = await this.create(client, 'tokens', '/allowances', quota);
    if (poolId === undefined || mailboxId === undefined || allowanceId === undefined) return undefined;
    const bench: Bench = { access, mailboxId, scopeId: randomUUID(), poolId, allowanceId, uses: [], lastFence: 0 };
    load.queues.push(bench);
    return bench;
  }

  protected async use(client: number, bench: Bench): Promise<void> {
    const { access, load } = this;
    const { mailboxId, scopeId, poolId, allowanceId } = bench;
    if (load.chance.next() < 0.5) {
      const pools = [{ poolId, units: 1 + load.chance.below(2) }];
      const requires = { pools, quotas: [{ allowanceId, units: tokens }] };
      const { body } = await load.call(client, access, {
        kind: 'send',
        object: ({ id }) => `message ${id}`,
        path: `/mailboxes/${mailboxId}/messages`,
        body: { scopeId, payload: { client }, requires },
      });
      if (body.id) load.metered.set(body.id, allowanceId);
      return;
    }
    const known = bench.lastFence;
    for (const claim of await load.claimSome(client, bench, 1 + load.chance.below(3))) {
      const from = performance.now();
      const [hold] = claim.holds;
      if (load.chance.next() < 0.3) await this.#settle(client, bench, claim.consumptions[0]?.id);
      if (!(hold?.fence > known)) load.unexpected.push(`the fence ${hold?.fence} of ${claim.id} is not above ${known}`);
      bench.lastFence = Math.max(bench.lastFence, hold?.fence ?? 0);
      if (load.chance.next() < 0.1) {
        load.abandoned.set(`${claim.id} ${claim.attempt}`, Date.parse(claim.leaseExpiresAt));
        continue;
      }
      const to = performance.now();
      const { status } = await load.complete(client, access, claim);
      if (status !== 200) continue;
      bench.uses.push({ from, to, taken: hold.units });
      const most = Math.max(...bench.uses.map((use) => takenAt(bench.uses, use.from)));
      if (most > units) load.unexpected.push(`${most} units of pool ${poolId} were held, which has ${units}`);
    }
  }

  /** Settles the tokens that the attempt has really used. */
  async #settle(client: number, { allowanceId }: Bench, id: string): Promise<void> {
    await this.load.call(client, this.access, {
      ...{ kind: 'settle units', object: `tokens ${allowanceId}`, input: { id }, body: { units: settledTokens } },
      path: `/allowances/${allowanceId}/consumptions/${id}/settle`,
    });
  }
}
