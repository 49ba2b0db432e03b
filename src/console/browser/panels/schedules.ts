import { el } from '../dom.ts';
import { count, duration } from '../format.ts';
import { age, badge, more, named, scopeLink, type TableText, table } from '../parts.ts';
import type { Schedules } from '../records.ts';
import { panel } from './panel.ts';

const text: TableText = {
  caption: 'Schedules',
  heads: ['Name', 'State', 'Comes', 'Next', 'Last sent', 'Missed', 'Mailbox', 'Run'],
  empty: 'No schedule.',
};

type Schedule = Schedules['schedules'][number];

/** The next to come first, those that do not come last. */
function byNext(a: Schedule, b: Schedule): number {
  const moment = ({ nextAt }: Schedule): number => (nextAt === null ? Infinity : Date.parse(nextAt));
  return moment(a) === moment(b) ? 0 : moment(a) - moment(b);
}

function comes({ cron, everySeconds, timezone }: Schedule): Element {
  if (cron === null) return el('span', {}, `every ${duration(everySeconds ?? 0)}`);
  return named(`${cron} (${timezone})`);
}

export const schedules = panel<Schedules>({
  id: 'schedules',
  path: '/schedules?limit=50',
  hears: ['schedule'],
  idleSeconds: 20,
  learn: (answer, world) => {
    for (const { id, name } of answer.schedules) world.name(id, { name });
  },
  render: (answer, world) => [
    table(
      text,
      [...answer.schedules].sort(byNext).map((one) => ({
        key: one.id,
        cells: [
          named(one.name),
          badge(one.state),
          comes(one),
          one.nextAt === null ? '–' : age(one.nextAt, world),
          one.lastAt === null ? '–' : age(one.lastAt, world),
          count(one.missed),
          named(world.named(one.mailboxId).name),
          scopeLink(one.scopeId, world),
        ],
      })),
    ),
    ...more(answer.nextCursor),
  ],
});
