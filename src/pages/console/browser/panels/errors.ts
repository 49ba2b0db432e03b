import { el } from '../dom.ts';
import { count } from '../format.ts';
import { clock, named, type TableText, table } from '../parts.ts';
import type { ErrorCounts } from '../records.ts';
import { type Panel, panel } from './panel.ts';

const text = {
  caption: 'Errors of today (UTC), the most frequent first',
  heads: ['Error', 'Attempts', 'Last'],
  empty: 'No attempt has failed with an error today.',
} as const satisfies TableText;

/** The most frequent errors of a mailbox today, over all attempts that failed. */
export function errorsPanel(mailboxId: string): Panel {
  return panel<ErrorCounts>({
    id: 'errors',
    path: `/mailboxes/${mailboxId}/errors`,
    hears: ['message'],
    idleSeconds: 30,
    render: ({ errors }) => [
      table(
        text,
        errors.map(({ error, count: number, lastAt }) => ({
          key: error,
          cells: [named(error), count(number), clock(lastAt)],
        })),
        8,
      ),
      el('p', { class: 'note' }, 'Without ids and numbers, for which … stands.'),
    ],
  });
}
