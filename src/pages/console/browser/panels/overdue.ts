import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { count, money, plural } from '../format.ts';
import { age, button, named } from '../parts.ts';
import type { BudgetView } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { budgetLink } from './budgets.ts';
import { type Panel, panel } from './panel.ts';

/** Each takes one read. */
const maxBudgets = 10;
const shownOverdue = 3;

type Reservation = BudgetView['reservations'][number];

/** A button that releases the rest of a reservation; null if the key may not do that. */
export function voidButton({ id, budgetId, holder, settleBy }: Reservation, world: SpaceState): Element | null {
  const label = settleBy === null ? holder : `${holder}, settle by ${settleBy}`;
  return world.can.spend ? button('void', 'Void…', { id, budget: budgetId, label }) : null;
}

interface Overdue {
  readonly budgets: readonly BudgetView[];
}

async function read(api: Api, signal: AbortSignal): Promise<Overdue> {
  const { budgets } = await api.get<{ readonly budgets: readonly BudgetView[] }>('/budgets?limit=200', signal);
  const some = budgets.filter(({ balances }) => balances.reserved !== '0').slice(0, maxBudgets);
  const reads = some.map(({ id }) => api.get<BudgetView>(`/budgets/${id}?state=ACTIVE&limit=200`, signal));
  return { budgets: await Promise.all(reads) };
}

/**
 * Reservations whose time to settle has passed. They reduce the available amounts of their budgets until somebody voids
 * them. No event refreshes the panel, because it takes several reads.
 */
export const overduePanel = (): Panel =>
  panel<Overdue>({
    id: 'overdue',
    path: '/budgets',
    hears: [],
    read,
    learn: ({ budgets }, world) => {
      for (const { id, name, scale, currency } of budgets) world.name(id, { name, scale, currency });
    },
    render: ({ budgets }, world) => {
      const late = budgets
        .flatMap(({ reservations, currency, scale }) =>
          reservations.filter((one) => one.overdue).map((one) => ({ one, currency, scale })),
        )
        .sort((a, b) => ((a.one.settleBy ?? '') < (b.one.settleBy ?? '') ? -1 : 1));
      if (late.length === 0) return [];
      const items = late.slice(0, shownOverdue).map(({ one, currency, scale }) => {
        const left = `${money(one.remainingMinor, scale)} ${currency}`;
        const since = one.settleBy === null ? null : age(one.settleBy);
        return el(
          'li',
          { 'data-key': one.id },
          `${left} of `,
          budgetLink(one.budgetId, world),
          ', by ',
          named(one.holder),
          ', since ',
          since,
          ' ',
          voidButton(one, world),
        );
      });
      const rest = late.length - items.length;
      return [
        el('h3', {}, el('span', { class: 'problem' }, plural(late.length, 'overdue reservation'))),
        el('ul', { class: 'plain' }, ...items),
        ...(rest === 0 ? [] : [el('p', { class: 'note' }, `${count(rest)} more are on the pages of these budgets.`)]),
      ];
    },
  });
