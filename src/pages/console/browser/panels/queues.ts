import { el } from '../dom.ts';
import { mailboxTable } from '../pages/mailboxes.ts';
import { shownOf } from '../parts.ts';
import { address } from '../place.ts';
import type { Mailboxes } from '../records.ts';
import { byOldest } from '../staff.ts';
import { panel } from './panel.ts';

export const queues = panel<Mailboxes>({
  id: 'queues',
  path: '/mailboxes?limit=200',
  hears: ['mailbox', 'message'],
  everySeconds: 4,
  learn: ({ mailboxes }, world) => world.learnNewest(mailboxes),
  render: ({ mailboxes, nextCursor }, world) => [
    mailboxTable([...mailboxes].sort(byOldest).slice(0, shownOf(4, 3)), world),
    ...(nextCursor === null && mailboxes.length <= shownOf(4, 3)
      ? []
      : [el('a', { href: address(world.spaceId, 'mailboxes') }, 'All mailboxes')]),
  ],
});
