import { el } from '../dom.ts';
import { count, duration } from '../format.ts';
import {
  acting,
  age,
  badge,
  button,
  buttons,
  mailboxLink,
  messageLink,
  named,
  objectLink,
  pager,
  scopeLink,
  type TableText,
  table,
} from '../parts.ts';
import { type PageRef, queryText } from '../place.ts';
import type { Schedule, Schedules } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';

const text = {
  caption: 'Schedules',
  heads: ['Name', 'State', 'Repeats', 'Next', 'Last sent', 'Missed', 'Mailbox', 'Run'],
  empty: 'No schedule.',
} as const satisfies TableText;

/** Sorts by the next occurrence. Schedules without one come last. */
function byNext(a: Schedule, b: Schedule): number {
  const moment = ({ nextAt }: Schedule): number => (nextAt === null ? Infinity : Date.parse(nextAt));
  return moment(a) === moment(b) ? 0 : moment(a) - moment(b);
}

function comes({ cron, everySeconds, timezone }: Schedule): Element {
  if (cron === null) return el('span', {}, `every ${duration(everySeconds ?? 0)}`);
  return named(`${cron} (${timezone})`);
}

function lastOf({ lastAt, lastMessageId }: Schedule, world: SpaceState): Element | string {
  if (lastAt === null) return '–';
  const message = lastMessageId === null ? null : messageLink(lastMessageId, world);
  return el('span', {}, age(lastAt), ' ', message);
}

function acts({ id, name, state }: Schedule): Element | string {
  const target = { id, label: name };
  const shown = buttons(
    state === 'ACTIVE' && button('pauseSchedule', 'Pause…', target),
    state === 'PAUSED' && button('resumeSchedule', 'Resume…', target),
    state !== 'ENDED' && button('trigger', 'Send now…', target),
  );
  return shown ?? '–';
}

/** A page of the schedules. */
export function schedulesPanel(place: PageRef): Panel {
  return panel<Schedules>({
    id: 'schedules',
    path: `/schedules${queryText({ limit: '50', cursor: place.query.get('cursor') ?? undefined })}`,
    hears: ['schedule'],
    idleSeconds: 20,
    learn: (answer, world) => {
      for (const { id, name } of answer.schedules) world.name(id, { name });
    },
    render: (answer, world) => [
      table(
        acting(text, world.can.write),
        [...answer.schedules].sort(byNext).map((one) => ({
          key: one.id,
          cells: [
            objectLink('schedule', one.id, world),
            badge(one.state),
            comes(one),
            one.nextAt === null ? '–' : age(one.nextAt),
            lastOf(one, world),
            count(one.missed),
            mailboxLink(one.mailboxId, world),
            scopeLink(one.scopeId, world),
            ...(world.can.write ? [acts(one)] : []),
          ],
        })),
        50,
      ),
      ...pager(place, answer.nextCursor),
    ],
  });
}
