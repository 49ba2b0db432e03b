import { el } from '../dom.ts';
import { duration, words } from '../format.ts';
import { jsonOf, pretty } from '../json-text.ts';
import { badge, exactly, named, type TableText, table } from '../parts.ts';
import type { Attempts } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';

const text: TableText = {
  caption: 'Attempts, oldest first',
  heads: ['Attempt', 'Outcome', 'Who', 'From', 'How long', 'Error', 'Progress'],
  empty: 'No attempts yet.',
};

type Attempt = Attempts['attempts'][number];

function outcome({ outcome: how }: Attempt): Element {
  const isBad = how !== null && !['ACKED', 'UNTRIED', 'ASKED'].includes(how);
  const shown = how === null ? badge('CLAIMED') : el('span', { class: `badge${isBad ? ' failed' : ''}` }, words(how));
  return el('span', {}, shown);
}

function row(attempt: Attempt, world: SpaceState) {
  const { attempt: number, holder, claimedAt, endedAt, error, progress } = attempt;
  const end = endedAt === null ? world.now() : Date.parse(endedAt);
  const seconds = (end - Date.parse(claimedAt)) / 1000;
  return {
    key: `${claimedAt} ${holder} ${number}`,
    cells: [
      String(number),
      outcome(attempt),
      named(holder),
      exactly(claimedAt),
      `${seconds > 0 && seconds < 1 ? 'under 1 s' : duration(seconds)}${endedAt === null ? ' so far' : ''}`,
      error === null ? '–' : named(error),
      progress === null ? '–' : named(pretty(jsonOf(progress))),
    ],
  };
}

/** The attempts of a message one by one. */
export function attemptsPanel(id: string): Panel {
  return panel<Attempts>({
    id: 'attempts',
    path: `/messages/${id}/attempts`,
    hears: ['message'],
    everySeconds: 2.5,
    idleSeconds: 20,
    render: ({ attempts }, world) => [
      table(
        text,
        attempts.map((one) => row(one, world)),
      ),
    ],
  });
}
