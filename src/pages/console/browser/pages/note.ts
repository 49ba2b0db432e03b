import { el } from '../dom.ts';
import { count } from '../format.ts';
import { members, parse, pretty } from '../json-text.ts';
import { type Panel, panel } from '../panels/panel.ts';
import { clock, named, pairs, scopeLink } from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { Note } from '../records.ts';
import type { Page } from './page.ts';

/** A note, and its value as its original text. */
interface Shown {
  readonly note: Note;
  readonly value: string;
}

function notePanel(scopeId: string, key: string): Panel {
  const path = `/scopes/${scopeId}/notes/${encodeURIComponent(key)}`;
  return panel<Shown>({
    id: 'note',
    path,
    hears: ['note'],
    everySeconds: 2.5,
    idleSeconds: 20,
    read: async (api, signal) => {
      const text = await api.text(path, signal);
      return { note: parse(text) as Note, value: members(text).get('value') ?? 'null' };
    },
    render: ({ note, value }, world) => [
      pairs([
        ['Key', named(note.key)],
        ['Run', scopeLink(note.scopeId, world)],
        ['Version', count(note.version)],
        note.holder !== null && ['Holder', named(note.holder)],
        ['Made', clock(note.createdAt)],
        ['Put', clock(note.updatedAt)],
      ]),
      el('h2', { 'data-key': 'Value' }, 'Value'),
      // Focusable, since it scrolls.
      el('pre', { tabindex: '0', role: 'group', 'aria-label': 'Value', 'data-key': 'Value text' }, pretty(value)),
    ],
  });
}

/** One note of a scope. Its key is in the query. */
export function notePage({ id = '', query }: PageRef): Page {
  return { title: 'Note', content: [el('div', { id: 'note' })], panels: [notePanel(id, query.get('key') ?? '')] };
}
