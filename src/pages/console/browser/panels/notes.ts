import { el } from '../dom.ts';
import { count } from '../format.ts';
import { clock, named, pager, type TableText, table } from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import type { Notes } from '../records.ts';
import { type Panel, panel } from './panel.ts';

const text: TableText = {
  caption: 'Notes',
  heads: ['Note', 'Version', 'Holder', 'Put'],
  empty: 'No note.',
};

/** The notes of a scope, by key. Each links to its value. */
export function notesPanel(scopeId: string, place: PageRef): Panel {
  const cursor = place.query.get('cursor') ?? undefined;
  return panel<Notes>({
    id: 'notes',
    path: `/scopes/${scopeId}/notes${queryText({ limit: '50', cursor })}`,
    hears: ['note'],
    everySeconds: 4,
    idleSeconds: 20,
    render: ({ notes, nextCursor }, world) => [
      table(
        text,
        notes.map(({ key, version, holder, updatedAt }) => ({
          key,
          cells: [
            el('a', { class: 'named', href: address(world.spaceId, `note/${scopeId}`, { key }) }, key),
            count(version),
            named(holder ?? '–'),
            clock(updatedAt),
          ],
        })),
        50,
      ),
      ...pager(place, nextCursor),
    ],
  });
}
