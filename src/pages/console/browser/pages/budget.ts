import { el, setHeading } from '../dom.ts';
import { money } from '../format.ts';
import { balancesBar, budgetLink } from '../panels/budgets.ts';
import { voidButton } from '../panels/overdue.ts';
import { panel } from '../panels/panel.ts';
import { spentPanel } from '../panels/spent.ts';
import {
  acting,
  age,
  badge,
  button,
  buttons,
  clock,
  named,
  pager,
  pairs,
  scopeLink,
  section,
  type TableText,
  table,
  workLink,
} from '../parts.ts';
import { type PageRef, queryText } from '../place.ts';
import type { BudgetView } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';

const text: TableText = {
  caption: 'Reservations, the active ones first',
  heads: ['Created', 'State', 'Holder', 'Reserved', 'Settled', 'Settle by', 'Work', 'Run'],
  empty: 'No reservation.',
};

function reservationTable({ reservations, currency, scale }: BudgetView, world: SpaceState): Element {
  const canVoid = world.can.spend && reservations.some(({ state }) => state === 'ACTIVE');
  const of = (minor: string): string => `${money(minor, scale)} ${currency}`;
  const isLate = ({ state, overdue }: (typeof reservations)[number]): boolean => overdue && state === 'ACTIVE';
  const thenOf = ({ state, overdue, onOverdue }: (typeof reservations)[number]): string => {
    if (onOverdue === 'KEEP') return overdue && state === 'ACTIVE' ? ' overdue' : '';
    return state === 'ACTIVE' ? ', then settled' : overdue ? ', settled then' : '';
  };
  const rows = reservations.map((one) => ({
    key: one.id,
    cells: [
      clock(one.createdAt),
      badge(one.state),
      named(one.holder),
      of(one.amountMinor),
      of(one.settledMinor),
      one.settleBy === null ? '–' : el('span', isLate(one) ? { class: 'problem' } : {}, age(one.settleBy), thenOf(one)),
      workLink(one.workKey, world),
      scopeLink(one.scopeId, world),
      ...(canVoid ? [one.state === 'ACTIVE' ? voidButton(one, world) : '–'] : []),
    ],
  }));
  return table(acting(text, canVoid), rows, 50);
}

/** The spending in this window by label, largest first. */
function spentByLabel({ spentByLabel, windowSeconds, currency, scale }: BudgetView): Node[] {
  const most = Object.entries(spentByLabel).sort(([, one], [, other]) => (BigInt(one) < BigInt(other) ? 1 : -1));
  if (most.length === 0) return [];
  const facts = most.map(([label, minor]) => [label, `${money(minor, scale)} ${currency}`] as const);
  return [el('h3', {}, windowSeconds === null ? 'Spent by label' : 'Spent by label in this window'), pairs(facts)];
}

/** One budget: its balances, and who has reserved and spent how much. */
export function budgetPage(place: PageRef, world: SpaceState): Page {
  const { id = '', query } = place;
  const list = panel<BudgetView>({
    id: 'budget',
    path: `/budgets/${id}${queryText({ limit: '50', cursor: query.get('cursor') ?? undefined })}`,
    hears: ['budget'],
    learn: ({ name, scale, currency }, known) => {
      known.name(id, { name, scale, currency });
      setHeading(`Budget ${name}`, id);
    },
    render: (budget, known) => [
      el(
        'div',
        { class: 'bars' },
        el(
          'div',
          {},
          budget.parentBudgetId === null ? null : el('p', {}, 'Below ', budgetLink(budget.parentBudgetId, known)),
          ...balancesBar(budget),
          buttons(known.can.config && button('limit', 'Change the limit…', { id, label: budget.name })),
        ),
      ),
      ...spentByLabel(budget),
      reservationTable(budget, known),
      ...pager(place, budget.nextCursor),
    ],
  });
  const spent = spentPanel(id, world);
  const content = [section('Who has reserved and spent what', list.id), section('Over the last days', spent.id)];
  return { title: `Budget ${world.named(id).name}`, id, content, panels: [list, spent] };
}
