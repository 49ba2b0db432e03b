import { randomUUID } from 'node:crypto';
import type { Heard } from '../caller.ts';
import type { Operation } from '../history.ts';
import { Shared } from './scene.ts';

/** Of a budget and of the one below it: either may be short first. */
export const purseLimits = [100, 70] as const;

interface Reserved {
  readonly id: string;
  readonly level: number;
  readonly amount: number;
  readonly workKey: string;
}

interface Purse {
  readonly ids: readonly string[];
  /** Reservations that somebody knows of. */
  readonly known: Reserved[];
}

export const balances = ({ balances: { reserved, settled, overdrawn } }: Heard['body']): Operation['value'] => ({
  reserved: Number(reserved),
  settled: Number(settled),
  overdrawn: Number(overdrawn),
});

/** A budget and one below it that are soon used up: reservations of both, found again by their workKey, settled in parts by anybody, now and then with more than they have, or voided. */
export class PurseScene extends Shared<Purse> {
  protected async make(client: number): Promise<Purse | undefined> {
    const ids: string[] = [];
    for (const limit of purseLimits) {
      const money = { currency: 'EUR', scale: 2, limitMinor: String(limit) };
      const body = { name: randomUUID(), ...money, parentBudgetId: ids.at(-1) ?? null };
      const id = await this.create(client, 'budget', '/budgets', body);
      if (id === undefined) return undefined;
      ids.push(id);
    }
    return { ids, known: [] };
  }

  protected async use(client: number, { ids, known }: Purse): Promise<void> {
    const { chance } = this.load;
    const amount = 1 + chance.below(40);
    const object = `budget ${ids[0]}`;
    const reserved = chance.next() < 0.5 || known.length === 0 ? undefined : chance.of(known);
    const level = reserved?.level ?? chance.below(ids.length);
    const id = ids[level];
    if (reserved === undefined) {
      const workKey = randomUUID();
      const { body } = await this.load.call(client, this.access, {
        kind: 'reserve',
        object,
        input: { amount, level },
        path: `/budgets/${id}/reserve`,
        body: { scopeId: randomUUID(), holder: 'h', amountMinor: String(amount), workKey },
        read: (body) => ({ id: body.id, ...balances(body) }),
        refuses: ['INSUFFICIENT_BUDGET'],
      });
      if (body.id) known.push({ id: body.id, level, amount, workKey });
      return;
    }
    const { id: reservationId, workKey } = reserved;
    if (chance.next() < 0.2) {
      await this.load.call(client, this.access, {
        kind: 'reserve again',
        object,
        input: { reservation: reservationId, level },
        path: `/budgets/${id}/reserve`,
        body: { scopeId: randomUUID(), holder: 'another', amountMinor: String(reserved.amount), workKey },
        read: (found) => ({ found: found.id, ...balances(found) }),
      });
      return;
    }
    const kind = chance.next() < 0.6 ? 'settle' : 'void';
    const overrun = kind === 'settle' && chance.next() < 0.1;
    await this.load.call(client, this.access, {
      kind,
      object,
      input: { reservation: reservationId, amount, level, ...(overrun && { overrun: 1 }) },
      path: `/budgets/${id}/${kind}`,
      body: {
        reservationId,
        workKey: randomUUID(),
        ...(kind === 'settle' && { amountMinor: String(amount), overrun }),
      },
      read: (body) => ({ entry: body.entry.id, ...balances(body) }),
      refuses: ['RESERVATION_CLOSED', 'SETTLEMENT_EXCEEDS_RESERVATION'],
    });
  }
}
