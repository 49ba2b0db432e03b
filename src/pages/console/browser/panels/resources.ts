import { el } from '../dom.ts';
import { count, duration, percent } from '../format.ts';
import { age, badge, bar, button, buttons, named, pager } from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import type { Allowance, Allowances } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';

/** The query of a list. All lists on a page share the filter by name, but each has its own cursor. */
export function filtered(place: PageRef | undefined, list: string): string {
  const of = (name: string): string | undefined => place?.query.get(name) ?? undefined;
  return queryText({ limit: '50', name: of('name'), cursor: of(list) });
}

export function allowanceLink(id: string, world: SpaceState): Element {
  return el(
    'a',
    { class: 'named', href: address(world.spaceId, `allowance/${id}`) },
    world.named(id, 'allowance').name,
  );
}

/** The units used of an allowance, the number of waiters, its cooldown with the reason, and its buttons. */
export function allowanceState(one: Allowance, world: SpaceState): Node[] {
  const { id, name, usedUnits, unitsLimit, availableUnits, waiting, cooldownUntil, cooldownReason } = one;
  const used = `${count(usedUnits)} of ${count(unitsLimit)} units used in ${duration(one.windowSeconds)}`;
  const why = cooldownReason === null || cooldownReason === '' ? [] : [': ', named(whyCooling(cooldownReason))];
  const isCooling = cooldownUntil !== null && Date.parse(cooldownUntil) > world.now();
  return [
    bar(used, { settled: Math.min(100, percent(usedUnits, unitsLimit)) }),
    el('span', { class: 'note' }, `${used}, ${count(availableUnits)} left; window ends `, age(one.windowEndsAt)),
    waiting > 0 ? el('span', { class: 'note' }, `${count(waiting)} waiting`) : null,
    isCooling ? el('span', {}, badge('COOLDOWN'), ' ends ', age(cooldownUntil), ...why) : null,
    buttons(
      world.can.config && button('units', 'Change the units…', { id, label: name }),
      world.can.config && button('cooldown', 'Cool down…', { id, label: name }),
    ),
  ].filter((part) => part !== null);
}

/** OBSERVED is the reason for a cooldown that a report to `observe` has started. */
const whyCooling = (reason: string): string =>
  reason === 'OBSERVED' ? 'the provider said that nothing is left' : reason;

function allowanceItem(one: Allowance, world: SpaceState): Element {
  return el(
    'li',
    { 'data-key': one.id },
    el('span', { class: 'name' }, allowanceLink(one.id, world)),
    ...allowanceState(one, world),
  );
}

export function allowancesPanel(place?: PageRef): Panel {
  return panel<Allowances>({
    id: 'allowances',
    path: `/allowances${filtered(place, 'allowances')}`,
    hears: ['allowance', 'waiter'],
    idleSeconds: 20,
    learn: (answer, world) => {
      for (const { id, name } of answer.allowances) world.name(id, { name });
    },
    render: (answer, world) => [
      answer.allowances.length === 0
        ? el('p', { class: 'empty' }, 'No allowance here.')
        : el('ul', { class: 'bars' }, ...answer.allowances.map((one) => allowanceItem(one, world))),
      ...(place ? pager(place, answer.nextCursor, 'allowances') : []),
    ],
  });
}

export const allowances = allowancesPanel();
