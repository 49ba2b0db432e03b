import { el } from '../dom.ts';
import { plural, shortId } from '../format.ts';
import { panel } from '../panels/panel.ts';
import { age, badge, button, buttons, named, pager, section, table } from '../parts.ts';
import { address, isUuid, type PageRef, queryText } from '../place.ts';
import type { Key, KeyAudit, Keys } from '../records.ts';
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

/** The query of the page that shows what a key did. */
const chosen = 'did';

function row(key: Key, world: SpaceState) {
  const { id, name, permissions, lastUsedAt, expiresAt } = key;
  const state = stateOf(key, world);
  const label = name ?? shortId(id);
  return {
    key: id,
    cells: [
      el('a', { class: 'named', href: address(world.spaceId, 'keys', { [chosen]: id }) }, label),
      badge(state),
      named(permissions.join(', ')),
      named(limitsOf(key, world)),
      lastUsedAt === null ? 'never' : usedText(key, lastUsedAt),
      expiresAt === null ? 'never' : age(expiresAt),
      state === 'REVOKED' ? '' : buttons(button('revokeKey', 'Revoke…', { id, label })),
    ],
  };
}

/** The API knows the minute for a key with a holder, mailboxes or an end, else the day. */
function usedText({ holder, mailboxes, expiresAt }: Key, lastUsedAt: string): string {
  const isExact = holder !== null || mailboxes.length > 0 || expiresAt !== null;
  return `${isExact ? `${lastUsedAt.slice(0, 10)} ${lastUsedAt.slice(11, 16)}` : lastUsedAt.slice(0, 10)} UTC`;
}

const trail = {
  caption: 'What the key changed, newest first',
  heads: ['When', 'What', 'Of', 'More'],
  empty: 'Nothing that the audit trail keeps.',
};

/** What a key changed, by the audit trail. */
function trailPanel(keyId: string, place: PageRef) {
  const cursor = place.query.get('changes') ?? undefined;
  return panel<KeyAudit>({
    id: 'trail',
    path: '/keys',
    read: (api, signal) =>
      api.outside.get<KeyAudit>(`/keys/${keyId}/audit${queryText({ limit: '50', cursor })}`, signal),
    hears: [],
    render: ({ entries, nextCursor }) => [
      table(
        trail,
        entries.map(({ at, action, target, detail }, n) => ({
          key: `${at} ${n}`,
          cells: [
            age(at),
            named(action),
            el('span', { class: 'id', title: target }, isUuid(target) ? shortId(target) : target),
            named(JSON.stringify(detail)),
          ],
        })),
        50,
      ),
      ...pager(place, nextCursor, 'changes'),
    ],
  });
}

/**
 * The keys that the user's own key may manage, and what a chosen one of them did. The user's key needs key_admin.
 */
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
  const own = section('Keys that this one may manage', keys.id);
  const keyId = place.query.get(chosen);
  if (keyId === null || !isUuid(keyId)) return { title, content: [own], panels: [keys] };
  const changes = trailPanel(keyId, place);
  return { title, content: [section(`What key ${shortId(keyId)} did`, changes.id), own], panels: [changes, keys] };
}
