import { randomUUID } from 'node:crypto';
import type { Heard } from '../caller.ts';
import type { Operation } from '../history.ts';
import type { BatchedPlan } from '../workload.ts';
import { Shared } from './scene.ts';

/** The limits of a budget and of the budget below it: either may be short first. */
export const purseLimits = [100, 70] as const;

interface Reserved {
  readonly id: string;
  readonly level: number;
  readonly amount: number;
  readonly workKey: string;
}

export interface Purse {
  readonly ids: readonly string[];
  /** Reservations whose ids are known. */
  readonly known: Reserved[];
}

/** A plan that moves money. */
interface Move extends BatchedPlan {
  readonly input: Operation['input'];
  readonly body: { readonly budgetId: string; readonly workKey: string } & Readonly<Record<string, unknown>>;
}

export const balances = ({ balances: { reserved, settled, overdrawn } }: Heard['body']): Operation['value'] => ({
  reserved: Number(reserved),
  settled: Number(settled),
  overdrawn: Number(overdrawn),
});

/**
 * A budget and one below it that are soon used up. Reservations of both are found again by their workKey, settled in
 * parts by any client, now and then beyond their amount, or voided. Some are settled when they are overdue, within seconds.
 */
export class PurseScene extends Shared<Purse> {
  protected async make(client: number): Promise<Purse | undefined> {
    const ids: string[] = [];
    for (const limit of purseLimits) {
      const money = { currency: 'EUR', scale: 2, limitMinor: String(limit), alertPercents: [50, 100] };
      const body = { name: randomUUID(), ...money, parentBudgetId: ids.at(-1) ?? null };
      const id = await this.create(client, 'budget', '/budgets', body);
      if (id === undefined) return undefined;
      ids.push(id);
    }
    return { ids, known: [] };
  }

  protected async use(client: number, purse: Purse): Promise<void> {
    const { chance } = this.load;
    if (purse.known.length > 0 && chance.next() < 0.1) {
      const { id, level, amount, workKey } = chance.of(purse.known);
      await this.load.call(client, this.access, {
        kind: 'reserve again',
        object: `budget ${purse.ids[0]}`,
        input: { reservation: id, level },
        path: `/budgets/${purse.ids[level]}/reserve`,
        body: { scopeId: randomUUID(), holder: 'another', amountMinor: String(amount), workKey },
        read: (found) => ({ found: found.id, ...balances(found) }),
      });
      return;
    }
    const plan = this.move(purse);
    const { budgetId, ...body } = plan.body;
    const path = `/budgets/${budgetId}/${plan.kind}`;
    const heard = await this.load.call(client, this.access, { ...plan, path, body });
    this.moved(purse, plan, heard.body);
  }

  /** A reserve, or a settle or void of a known reservation. */
  protected move({ ids, known }: Purse): Move {
    const { chance } = this.load;
    const amount = 1 + chance.below(40);
    const object = `budget ${ids[0]}`;
    const reserved = chance.next() < 0.5 || known.length === 0 ? undefined : chance.of(known);
    const level = reserved?.level ?? chance.below(ids.length);
    const budgetId = ids[level] ?? '';
    const workKey = randomUUID();
    if (reserved === undefined) {
      const settlesInMs = chance.next() < 0.4 ? 100 + chance.below(3_000) : undefined;
      const late = settlesInMs !== undefined && {
        settleBy: new Date(Date.now() + settlesInMs).toISOString(),
        onOverdue: 'SETTLE',
      };
      return {
        kind: 'reserve',
        object,
        input: { amount, level, ...(late && { settlesAt: performance.now() + (settlesInMs ?? 0) }) },
        call: 'budget.reserve',
        body: { budgetId, scopeId: randomUUID(), holder: 'h', amountMinor: String(amount), workKey, ...late },
        read: (body) => ({ id: body.id, ...balances(body) }),
        // If it is repeated until settleBy has passed.
        refuses: ['INSUFFICIENT_BUDGET', ...(late ? ['VALIDATION_FAILED'] : [])],
      };
    }
    const kind = chance.next() < 0.6 ? 'settle' : 'void';
    const overrun = kind === 'settle' && chance.next() < 0.1;
    return {
      kind,
      object,
      input: { reservation: reserved.id, amount, level, ...(overrun && { overrun: 1 }) },
      call: `budget.${kind}`,
      body: {
        ...{ budgetId, reservationId: reserved.id, workKey },
        ...(kind === 'settle' && { amountMinor: String(amount), overrun, label: chance.of(['drafts', 'reviews']) }),
      },
      read: (body) => ({ entry: body.entry.id, ...balances(body) }),
      refuses: ['RESERVATION_CLOSED', 'SETTLEMENT_EXCEEDS_RESERVATION'],
    };
  }

  /** Remembers a new reservation. */
  protected moved({ known }: Purse, { kind, input, body: { workKey } }: Move, body: Heard['body']): void {
    if (kind === 'reserve' && body.id)
      known.push({ id: body.id, level: Number(input['level']), amount: Number(input['amount']), workKey });
  }
}
