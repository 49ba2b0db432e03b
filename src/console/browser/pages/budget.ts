import { el } from '../dom.ts';
import { money } from '../format.ts';
import { panel } from '../panels/panel.ts';
import { balancesBar } from '../panels/resources.ts';
import {
  age,
  badge,
  button,
  buttons,
  clock,
  named,
  pager,
  scopeLink,
  section,
  type TableText,
  table,
  workLink,
} from '../parts.ts';
import { type PageRef, queryText } from '../place.ts';
import type { BudgetView } from '../records.ts';
import type { World } from '../world.ts';
import type { Page } from './page.ts';

const text: TableText = {
  caption: 'Reservations, the active ones first',
  heads: ['Created', 'State', 'Holder', 'Reserved', 'Settled', 'Settle by', 'Work', 'Run'],
  empty: 'No reservation.',
};

function reservationTable({ reservations, currency, scale }: BudgetView, world: World): Element {
  const of = (minor: string): string => `${money(minor, scale)} ${currency}`;
  const rows = reservations.map((one) => ({
    key: one.id,
    cells: [
      clock(one.createdAt),
      badge(one.state),
      named(one.holder),
      of(one.amountMinor),
      of(one.settledMinor),
      one.settleBy === null ? '–' : el('span', {}, age(one.settleBy, world), one.overdue ? ' overdue' : ''),
      workLink(one.workKey, world),
      scopeLink(one.scopeId, world),
    ],
  }));
  return table(text, rows, 50);
}

/** One budget: its balances, and who has reserved and spent what. */
export function budgetPage(place: PageRef, world: World): Page {
  const { id = '', query } = place;
  const list = panel<BudgetView>({
    id: 'budget',
    path: `/budgets/${id}${queryText({ limit: '50', cursor: query.get('cursor') ?? undefined })}`,
    hears: ['budget'],
    learn: ({ name, scale, currency }, known) => {
      known.name(id, { name, scale, currency });
      const title = document.getElementById('page-title');
      if (title) title.textContent = `Budget ${name}`;
    },
    render: (budget, known) => [
      el(
        'div',
        {},
        ...balancesBar(budget),
        buttons(known.can.config && button('limit', 'Change the limit…', { id, label: budget.name })),
      ),
      reservationTable(budget, known),
      ...pager(place, budget.nextCursor),
    ],
  });
  const content = [section('Who has reserved and spent what', list.id)];
  return { title: `Budget ${world.named(id).name}`, content, panels: [list] };
}
