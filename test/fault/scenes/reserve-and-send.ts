import { randomUUID } from 'node:crypto';
import type { BatchedPlan } from '../workload.ts';
import { noteValue } from './notes.ts';
import { balances, type Purse, PurseScene } from './purse.ts';

const key = 'deal';

interface Deal extends Purse {
  readonly scopeId: string;
}

/**
 * Money and a note that change in one step, or not at all. Atomic batches reserve, settle or void and put the note, now
 * and then at an outdated version. Others read both at one instant, sometimes with an expected reserved amount. Single
 * calls change either of them meanwhile.
 */
export class DealScene extends PurseScene {
  protected override async make(client: number): Promise<Deal | undefined> {
    const purse = await super.make(client);
    if (!purse) return undefined;
    const deal = { ...purse, scopeId: randomUUID() };
    this.load.sheets.push({ access: this.access, scopeId: deal.scopeId, seen: new Map() });
    await this.load.atomic(client, this.access, [this.#put(deal, 0)]);
    return deal;
  }

  protected override async use(client: number, deal: Deal): Promise<void> {
    const { load, access } = this;
    const { chance } = load;
    const choice = chance.next();
    if (choice < 0.25) {
      await super.use(client, deal);
      return;
    }
    const [root = ''] = deal.ids;
    const read: BatchedPlan = {
      ...{ kind: 'read note', object: `notes ${deal.scopeId}`, input: { key }, call: 'note.view', read: noteValue },
      ...{ body: { scopeId: deal.scopeId, key }, refuses: ['NOTE_NOT_FOUND'] },
    };
    if (choice < 0.5) {
      const expected = chance.next() < 0.3 ? 5 * chance.below(4) : undefined;
      const look: BatchedPlan = {
        ...{ kind: 'look', object: `budget ${root}`, call: 'budget.view', read: balances },
        input: { ...(expected !== undefined && { expected }) },
        body: {
          budgetId: root,
          ...(expected !== undefined && { expect: { balances: { reserved: String(expected) } } }),
        },
        refuses: ['EXPECTATION_FAILED'],
      };
      await load.atomic(client, access, chance.shuffled([look, read]));
      return;
    }
    const money = this.move(deal);
    const ifVersion = chance.next() < 0.3 ? 1 + chance.below(4) : undefined;
    const plans = chance.shuffled([money, this.#put(deal, chance.below(1_000_000), ifVersion)]);
    const bodies = await load.atomic(client, access, chance.next() < 0.3 ? [...plans, read] : plans);
    if (bodies) this.moved(deal, money, bodies[plans.indexOf(money)]);
  }

  #put({ scopeId }: Deal, value: number, ifVersion?: number): BatchedPlan {
    return {
      ...{ kind: 'put note', object: `notes ${scopeId}`, call: 'note.put', refuses: ['VERSION_CONFLICT'] },
      input: { key, value, ...(ifVersion !== undefined && { ifVersion }) },
      body: { scopeId, key, value, ifVersion },
      read: ({ version }) => ({ version }),
    };
  }
}
