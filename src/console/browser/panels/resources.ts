import { el } from '../dom.ts';
import { count, duration, money, percent } from '../format.ts';
import { mailboxTable } from '../pages/mailboxes.ts';
import { age, badge, bar, button, buttons, more, named } from '../parts.ts';
import { address } from '../place.ts';
import type { Allowances, Budgets, Mailboxes } from '../records.ts';
import { panel } from './panel.ts';

const page = 'limit=50';

export const queues = panel<Mailboxes>({
  id: 'queues',
  path: `/mailboxes?${page}`,
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

export const budgets = panel<Budgets>({
  id: 'budgets',
  path: `/budgets?${page}`,
  hears: ['budget'],
  learn: (answer, world) => {
    for (const { id, name, scale, currency } of answer.budgets) world.name(id, { name, scale, currency });
  },
  render: (answer, world) => [
    answer.budgets.length === 0
      ? el('p', { class: 'empty' }, 'No budget yet.')
      : el(
          'ul',
          { class: 'bars' },
          ...answer.budgets.map(({ id, name, currency, scale, balances }) => {
            const { limit, reserved, settled, available } = balances;
            const of = (minor: string): string => `${money(minor, scale)} ${currency}`;
            const parts = { settled: percent(settled, limit), reserved: percent(reserved, limit) };
            const text = `${of(settled)} settled, ${of(reserved)} reserved, ${of(available)} available of ${of(limit)}`;
            const name_ = el('span', { class: 'name named' }, name);
            return el(
              'li',
              { 'data-key': id },
              name_,
              bar(text, parts),
              el('span', { class: 'note' }, text),
              buttons(world.can.config && button('limit', 'Change the limit…', { id, label: name })),
            );
          }),
        ),
    ...more(answer.nextCursor),
  ],
});

export const allowances = panel<Allowances>({
  id: 'allowances',
  path: `/allowances?${page}`,
  hears: ['allowance', 'waiter'],
  idleSeconds: 20,
  learn: (answer, world) => {
    for (const { id, name } of answer.allowances) world.name(id, { name });
  },
  render: (answer, world) => [
    answer.allowances.length === 0
      ? el('p', { class: 'empty' }, 'No allowance yet.')
      : el(
          'ul',
          { class: 'bars' },
          ...answer.allowances.map((one) => {
            const { usedUnits, unitsLimit, waiting, cooldownUntil, cooldownReason } = one;
            const used = `${count(usedUnits)} of ${count(unitsLimit)} units used in ${duration(one.windowSeconds)}`;
            const why = cooldownReason === null ? [] : [': ', named(cooldownReason)];
            const isCooling = cooldownUntil !== null && Date.parse(cooldownUntil) > world.now();
            const cooling = isCooling
              ? el('span', {}, badge('COOLDOWN'), ' ends ', age(cooldownUntil, world), ...why)
              : null;
            const note = el('span', { class: 'note' }, `${used}, window ends `, age(one.windowEndsAt, world));
            const queue = waiting > 0 ? el('span', { class: 'note' }, `${count(waiting)} waiting`) : null;
            const full = bar(used, { settled: percent(usedUnits, unitsLimit) });
            return el(
              'li',
              { 'data-key': one.id },
              el('span', { class: 'name named' }, one.name),
              full,
              note,
              queue,
              cooling,
              buttons(
                world.can.config && button('units', 'Change the units…', { id: one.id, label: one.name }),
                world.can.config && button('cooldown', 'Cool down…', { id: one.id, label: one.name }),
              ),
            );
          }),
        ),
    ...more(answer.nextCursor),
  ],
});
