import { type Child, el, setHeading } from '../dom.ts';
import { momentIn } from '../format.ts';
import { isText, jsonOf, pretty } from '../json-text.ts';
import { type KindName, kindOf, kindOfField } from '../kinds.ts';
import { panel } from '../panels/panel.ts';
import { ageText, badge, exactly, named, objectLink, pairs, table } from '../parts.ts';
import { isUuid, type PageRef } from '../place.ts';
import type { ScheduleView } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** `leaseExpiresAt` as words: `Lease expires at`. */
function labelOf(field: string): string {
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function shownValue(field: string, value: unknown, world: SpaceState): Child {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!isText(value)) {
    const isShort = Array.isArray(value) && value.every((one) => typeof one === 'string');
    if (isShort) return value.length === 0 ? 'none' : named(value.join(', '));
    // Focusable, since it scrolls.
    return el('pre', { tabindex: '0', role: 'group', 'aria-label': labelOf(field) }, pretty(jsonOf(value)));
  }
  if (moment.test(value)) return exactly(value);
  if (field === 'state') return badge(value);
  const kind = kindOfField(field);
  if (kind !== undefined && isUuid(value)) return objectLink(kind, value, world);
  return isUuid(value) ? el('span', { class: 'id' }, value) : named(value);
}

/** Moments of a schedule, by its own clock, too, where that is another than the reader's. */
function momentsAhead({ nextMoments, timezone }: ScheduleView): Element {
  const isOther = timezone !== Intl.DateTimeFormat().resolvedOptions().timeZone;
  return table(
    {
      caption: 'Next moments',
      heads: ['In', 'Here', ...(isOther ? [timezone] : [])],
      empty: 'No moment is ahead: it is paused or has ended.',
      isCaptionVisible: true,
    },
    nextMoments.map((moment) => ({
      key: moment,
      cells: [
        el('time', { datetime: moment, 'data-ticks': '' }, ageText(moment)),
        exactly(moment),
        ...(isOther ? [el('time', { datetime: moment }, momentIn(moment, timezone))] : []),
      ],
    })),
  );
}

/** An object of a kind that has no page of its own: its fields, with ids as links. */
export function objectPage({ id = '', page }: PageRef, world: SpaceState): Page {
  const kind = page as KindName;
  const { noun, path, nameField } = kindOf(kind);
  const list = panel<Readonly<Record<string, unknown>>>({
    id: 'object',
    path: `${path}${id}`,
    hears: [kind],
    everySeconds: 4,
    idleSeconds: 20,
    learn: (record, known) => {
      const name = nameField === undefined ? undefined : record[nameField];
      if (typeof name !== 'string') return;
      known.name(id, { name });
      setHeading(`${noun} ${name}`, id);
    },
    render: (record, known) => [
      pairs(
        Object.entries(record)
          .filter(([field, value]) => value !== id && value !== null && field !== 'nextMoments')
          .map(([field, value]) => [labelOf(field), shownValue(field, value, known)] as const),
      ),
      ...(kind === 'schedule' ? [momentsAhead(record as unknown as ScheduleView)] : []),
    ],
  });
  const name = world.nameOf(id);
  const content = el('section', { class: 'wide', 'aria-label': noun }, el('div', { id: list.id }));
  return { title: name === null ? noun : `${noun} ${name}`, id, content: [content], panels: [list] };
}
