import { el } from '../dom.ts';
import { duration, money, percent } from '../format.ts';
import { age, badge, bar, button, buttons, pager } from '../parts.ts';
import { address, type PageRef } from '../place.ts';
import type { Budget, Budgets } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';
import { filtered } from './resources.ts';

/** The fields of a budget that a list and its own page both show. */
type BudgetText = Omit<Budget, 'id' | 'name'>;

/** `1.00 EUR settled, …`: the balances of a budget in words. */
function balancesText({ currency, scale, balances }: BudgetText): string {
  const of = (minor: string): string => `${money(minor, scale)} ${currency}`;
  const { limit, reserved, settled, available, overdrawn } = balances;
  const text = `${of(settled)} settled, ${of(reserved)} reserved, ${of(available)} available of ${of(limit)}`;
  return overdrawn === '0' ? text : `${text}; overdrawn by ${of(overdrawn)}`;
}

/** `alerts at 50 % (reached), 80 %`. */
function alertsText({ alertPercents, balances: { limit, reserved, settled } }: BudgetText): string {
  const used = BigInt(reserved) + BigInt(settled);
  const isReached = (one: number): boolean => used > 0n && used * 100n >= BigInt(limit) * BigInt(one);
  return `alerts at ${alertPercents.map((one) => `${one} %${isReached(one) ? ' (reached)' : ''}`).join(', ')}`;
}

/** The balances of a budget as a bar and in words, with its window and its alerts. */
export function balancesBar(budget: BudgetText): Node[] {
  const { limit, reserved, settled } = budget.balances;
  const { windowSeconds, windowEndsAt, settledTotal, currency, scale } = budget;
  const text = balancesText(budget);
  const parts = { settled: percent(settled, limit), reserved: percent(reserved, limit) };
  const window =
    windowSeconds === null || windowEndsAt === null
      ? []
      : [
          el(
            'span',
            { class: 'note' },
            `${money(settledTotal, scale)} ${currency} settled in all windows of ${duration(windowSeconds)}, this one ends `,
            age(windowEndsAt),
          ),
        ];
  const alerts = budget.alertPercents.length === 0 ? [] : [el('span', { class: 'note' }, alertsText(budget))];
  return [bar(text, parts), el('span', { class: 'note' }, text), ...window, ...alerts];
}

/** Whether nothing can be reserved from the budget. */
export const isUsedUp = ({ balances }: Budget): boolean => balances.available === '0' || balances.overdrawn !== '0';

export function budgetLink(id: string, world: SpaceState): Element {
  return el('a', { class: 'name named', href: address(world.spaceId, `budget/${id}`) }, world.named(id, 'budget').name);
}

/** A budget and, nested in it, the budgets below it that are on the same page. */
function budgetItem(budget: Budget, all: readonly Budget[], world: SpaceState): Element {
  const { id, name, balances, parentBudgetId } = budget;
  const below = all.filter((one) => one.parentBudgetId === id);
  const isApart = parentBudgetId !== null && !all.some((one) => one.id === parentBudgetId);
  return el(
    'li',
    { 'data-key': id },
    budgetLink(id, world),
    isApart ? el('span', { class: 'note' }, 'below ', budgetLink(parentBudgetId, world)) : null,
    isUsedUp(budget) ? el('span', {}, ' ', badge(balances.overdrawn === '0' ? 'USED UP' : 'OVERDRAWN')) : null,
    ...balancesBar(budget),
    buttons(world.can.config && button('limit', 'Change the limit…', { id, label: name })),
    below.length === 0 ? null : el('ul', { class: 'bars below' }, ...below.map((one) => budgetItem(one, all, world))),
  );
}

function budgetTree(all: readonly Budget[], world: SpaceState): Element {
  const ids = new Set(all.map(({ id }) => id));
  const roots = all.filter(({ parentBudgetId }) => parentBudgetId === null || !ids.has(parentBudgetId));
  return el('ul', { class: 'bars' }, ...roots.map((one) => budgetItem(one, all, world)));
}

/** A page of the budgets. Without a place, the newest ones, read for their names and to find those used up. */
export function budgetsPanel(place?: PageRef): Panel {
  return panel<Budgets>({
    id: 'budgets',
    path: `/budgets${filtered(place, 'budgets')}`,
    hears: ['budget'],
    learn: (answer, world) => {
      for (const { id, name, scale, currency } of answer.budgets) world.name(id, { name, scale, currency });
      if (!place) world.learnUsedUp(answer.budgets.filter(isUsedUp));
    },
    render: (answer, world) => [
      answer.budgets.length === 0 ? el('p', { class: 'empty' }, 'No budget here.') : budgetTree(answer.budgets, world),
      ...(place ? pager(place, answer.nextCursor, 'budgets') : []),
    ],
  });
}

export const budgets = budgetsPanel();
