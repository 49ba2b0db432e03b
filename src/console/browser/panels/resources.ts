import { el } from '../dom.ts';
import { count, duration, percent } from '../format.ts';
import { mailboxTable } from '../pages/mailboxes.ts';
import { age, badge, bar, button, buttons, named, pager } from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import type { Allowance, Allowances, Mailboxes } from '../records.ts';
import type { World } from '../world.ts';
import { type Panel, panel } from './panel.ts';

export const queues = panel<Mailboxes>({
  id: 'queues',
  path: '/mailboxes?limit=50',
  hears: ['mailbox', 'message'],
  everySeconds: 4,
  learn: ({ mailboxes }, world) => {
    world.learnMailboxes(mailboxes);
    world.mailboxes = mailboxes;
  },
  render: ({ mailboxes, nextCursor }, world) => [
    mailboxTable(mailboxes, world),
    ...(nextCursor === null ? [] : [el('a', { href: address(world.spaceId, 'mailboxes') }, 'All mailboxes')]),
  ],
});

/** The same filters for all these lists; each has its own pages. */
export function filtered(place: PageRef | undefined, list: string): string {
  const of = (name: string): string | undefined => place?.query.get(name) ?? undefined;
  return queryText({ limit: '50', name: of('name'), cursor: of(list) });
}

function allowanceItem(one: Allowance, world: World): Element {
  const { usedUnits, unitsLimit, waiting, cooldownUntil, cooldownReason } = one;
  const used = `${count(usedUnits)} of ${count(unitsLimit)} units used in ${duration(one.windowSeconds)}`;
  const why = cooldownReason === null ? [] : [': ', named(cooldownReason)];
  const isCooling = cooldownUntil !== null && Date.parse(cooldownUntil) > world.now();
  const cooling = isCooling ? el('span', {}, badge('COOLDOWN'), ' ends ', age(cooldownUntil, world), ...why) : null;
  const note = el('span', { class: 'note' }, `${used}, window ends `, age(one.windowEndsAt, world));
  const queue = waiting > 0 ? el('span', { class: 'note' }, `${count(waiting)} waiting`) : null;
  return el(
    'li',
    { 'data-key': one.id },
    el('span', { class: 'name named' }, one.name),
    bar(used, { settled: percent(usedUnits, unitsLimit) }),
    note,
    queue,
    cooling,
    buttons(
      world.can.config && button('units', 'Change the units…', { id: one.id, label: one.name }),
      world.can.config && button('cooldown', 'Cool down…', { id: one.id, label: one.name }),
    ),
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
