import { el } from '../dom.ts';
import { plural, shortId } from '../format.ts';
import { panel } from '../panels/panel.ts';
import { age, badge, button, buttons, named, pager, section, table } from '../parts.ts';
import { type PageRef, queryText } from '../place.ts';
import type { Key, Keys } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';

const text = {
  caption: 'API keys, newest first',
  heads: ['Key', 'State', 'May', 'Limited to', 'Last used', 'Ends', 'Do'],
  empty: 'No key that this one may see.',
};

function stateOf({ revokedAt, expiresAt }: Key, world: SpaceState): 'ACTIVE' | 'REVOKED' | 'ENDED' {
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt !== null && Date.parse(expiresAt) <= world.now() ? 'ENDED' : 'ACTIVE';
}

function limitsOf({ spaces, mailboxes, holder }: Key, world: SpaceState): string {
  const limits = [
    ...(mailboxes.length > 0 ? [`mailboxes ${mailboxes.map((id) => world.named(id, 'mailbox').name).join(', ')}`] : []),
    ...(mailboxes.length === 0 && spaces.length > 0 ? [plural(spaces.length, 'space')] : []),
    ...(holder === null ? [] : [`holder ${holder}`]),
  ];
  return limits.length === 0 ? '–' : limits.join('; ');
}

function row(key: Key, world: SpaceState) {
  const { id, name, permissions, lastUsedAt, expiresAt } = key;
  const state = stateOf(key, world);
  const label = name ?? shortId(id);
  return {
    key: id,
    cells: [
      named(label),
      badge(state),
      named(permissions.join(', ')),
      named(limitsOf(key, world)),
      // The API records only the day.
      lastUsedAt === null ? 'never' : `${lastUsedAt.slice(0, 10)} UTC`,
      expiresAt === null ? 'never' : age(expiresAt, world),
      state === 'REVOKED' ? '' : buttons(button('revokeKey', 'Revoke…', { id, label })),
    ],
  };
}

/** The keys that the user's own key may manage. It needs key_admin. */
export function keysPage(place: PageRef, world: SpaceState): Page {
  const title = 'API keys';
  const lack = 'Managing keys needs the permission key_admin, which this key does not have.';
  if (!world.can.keys) return { title, content: [el('p', { class: 'empty' }, lack)], panels: [] };
  const cursor = place.query.get('cursor') ?? undefined;
  const keys = panel<Keys>({
    id: 'keys',
    path: '/keys',
    read: (api, signal) => api.outside.get<Keys>(`/keys${queryText({ limit: '50', cursor })}`, signal),
    hears: [],
    render: (answer, world) => [
      el('div', {}, buttons(button('createKey', 'Create a key…', {}))),
      table(
        text,
        answer.keys.map((one) => row(one, world)),
        50,
      ),
      ...pager(place, answer.nextCursor),
    ],
  });
  return { title, content: [section('Keys that this one may manage', keys.id)], panels: [keys] };
}
