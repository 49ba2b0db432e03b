import { el } from '../dom.ts';
import { age, mailboxLink, named, scopeLink, type TableText, table } from '../parts.ts';
import { queryText } from '../place.ts';
import type { Receivers } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';

const text: TableText = {
  caption: 'Workers that wait for a message, longest first',
  heads: ['Worker', 'Session', 'Mailbox', 'Run', 'Since'],
  empty: 'Nobody waits for a message.',
};

type Receiver = Receivers['receivers'][number];

const cellsOf = ({ holder, holderSession, mailboxId, scopeId, since }: Receiver, world: SpaceState) => [
  holder === null ? el('span', { class: 'note' }, 'the name of its key') : named(holder),
  named(holderSession),
  mailboxLink(mailboxId, world),
  scopeId === '*' ? 'all in turn' : scopeLink(scopeId, world),
  age(since),
];

/** Who waits for a message, in the space or at a mailbox. */
export function receiversPanel(mailboxId?: string): Panel {
  return panel<Receivers>({
    id: 'receivers',
    path: `/ops/receivers${queryText({ limit: '200', mailboxId })}`,
    hears: ['message'],
    everySeconds: 4,
    idleSeconds: 20,
    learn: (answer, world) => {
      if (mailboxId === undefined) world.learnReceivers(answer);
    },
    render: ({ receivers, truncated }, world) => [
      table(
        text,
        receivers.map((one, place) => ({ key: `${place}`, cells: cellsOf(one, world) })),
      ),
      ...(truncated ? [el('p', { class: 'note' }, 'There are more.')] : []),
    ],
  });
}
