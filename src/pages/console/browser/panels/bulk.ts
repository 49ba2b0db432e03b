import { el } from '../dom.ts';
import { count, plural, words } from '../format.ts';
import { acting, age, badge, button, type TableText, table } from '../parts.ts';
import { queryText } from '../place.ts';
import type { Bulk, Bulks } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';

const text = {
  caption: 'Bulk work, newest first',
  heads: ['Work', 'State', 'Done', 'Passed over', 'Began', 'Ended'],
  empty: 'No bulk work.',
  isCaptionVisible: true,
} as const satisfies TableText;

/** Why a requeue passes over a message, by the code of the error. */
const reasons: Readonly<Record<string, string>> = {
  GROUP_DECIDED: 'of a decided group',
  VERDICT_CONFLICT: 'with a verdict',
  SCOPE_CANCELLED: 'of a cancelled run',
};

/** `2 messages of a decided group, 1 message with a verdict`, or ''. */
export const passedOverText = (passedOver: Readonly<Record<string, number>>): string =>
  Object.entries(passedOver)
    .map(([code, number]) => `${plural(number, 'message')} ${reasons[code] ?? `(${words(code)})`}`)
    .join(', ');

export function bulkText({ action, messageState }: Pick<Bulk, 'action' | 'messageState'>): string {
  return `${action === 'REQUEUE' ? 'Requeue of' : 'Purge of'} ${messageState === null ? 'waiting' : words(messageState)} messages`;
}

/** Shows nothing if there is none. */
export function bulkTable(bulks: readonly Bulk[], world: SpaceState): Element[] {
  if (bulks.length === 0) return [];
  return [
    table(
      acting(text, world.can.write),
      bulks.map((bulk) => {
        const { id, state, done, passedOver, waitsFor, createdAt, finishedAt } = bulk;
        const name = bulkText(bulk);
        return {
          key: id,
          cells: [
            name,
            el('span', {}, badge(state), waitsFor === null ? '' : ` waits for room (${words(waitsFor)})`),
            state === 'RUNNING' ? `${count(done)} so far` : count(done),
            passedOverText(passedOver) || '–',
            age(createdAt),
            finishedAt === null ? '–' : age(finishedAt),
            ...(world.can.write
              ? [state === 'RUNNING' ? button('cancelBulk', 'Cancel…', { id, label: name }) : '–']
              : []),
          ],
        };
      }),
    ),
  ];
}

/** The last bulk work of a mailbox. What it changes are events, so it is read again while it makes progress. */
export function bulkPanel(mailboxId: string): Panel {
  return panel<Bulks>({
    id: 'bulk',
    path: `/bulk${queryText({ limit: '3', mailboxId })}`,
    hears: ['bulk', 'message'],
    everySeconds: 2.5,
    idleSeconds: 20,
    render: ({ bulks }, world) => bulkTable(bulks, world),
  });
}
