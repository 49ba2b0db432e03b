import { type Api, Failure } from '../api.ts';
import { el } from '../dom.ts';
import { type KindName, kindNames, kindOf } from '../kinds.ts';
import { panel } from '../panels/panel.ts';
import { clock, named, objectLink, scopeLink, section, type TableText, table } from '../parts.ts';
import { address, isUuid, type PageRef, queryText } from '../place.ts';
import type { EventsPage, Found, Keys, Receivers, Scopes, Waits } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { eventItem } from './events.ts';
import { sentAt } from './message.ts';
import type { Page } from './page.ts';

/** An object found, and why it matches. */
interface Hit {
  readonly kind: KindName;
  readonly id: string;
  readonly why: string;
  readonly at?: string;
  readonly scopeId?: string;
}

interface FoundRecords {
  readonly hits: readonly Hit[];
  /** The events that contain an id without a page, such as that of a reservation, a delivery or a task. */
  readonly events: EventsPage['events'];
  readonly keys: Keys['keys'];
  /** Whether a searched list of holders or API keys was incomplete. */
  readonly isPartial: boolean;
}

const perList = 20;
/** An id contains the time of its creation. Its first event should be among this many events from that time on. */
const perJournal = 500;

/** undefined if the server has no such object, or the key may not see it. */
async function tried<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof Failure) || error.isTransient || error.status >= 500) throw error;
    return undefined;
  }
}

async function byId(api: Api, id: string, signal: AbortSignal): Promise<Omit<FoundRecords, 'keys'>> {
  const looks = kindNames.map(async (kind) => {
    const found = await tried(api.get(`${kindOf(kind).path}${id}`, signal));
    return found === undefined ? [] : [{ kind, id, why: 'its id' }];
  });
  const hits = (await Promise.all(looks)).flat();
  if (hits.length > 0 || id[14] !== '7') return { hits, events: [], isPartial: false };
  // A second earlier: objects made in one step share one event, whose time may be before that of the id.
  const query = queryText({ limit: String(perJournal), since: new Date(sentAt(id) - 1000).toISOString() });
  const page = await tried(api.get<EventsPage>(`/watch${query}`, signal));
  const events = page?.events.filter((event) => JSON.stringify(event).includes(id)) ?? [];
  return { hits, events, isPartial: false };
}

/** The lists that can be searched for an exact name. */
const byName = [
  ['mailbox', 'mailboxes'],
  ['budget', 'budgets'],
  ['allowance', 'allowances'],
  ['pool', 'pools'],
] as const satisfies (readonly [KindName, string])[];

/** Everything that a holder holds or waits for now. */
function heldBy(holder: string, waits: Waits, { receivers }: Receivers): Hit[] {
  const of = <T extends { readonly holder: string; readonly scopeId: string }>(
    rows: readonly T[],
    kind: KindName,
    why: string,
    idOf: (row: T) => string,
  ): Hit[] =>
    rows.filter((row) => row.holder === holder).map((row) => ({ kind, id: idOf(row), why, scopeId: row.scopeId }));
  const mailboxIds = new Set(receivers.filter((one) => one.holder === holder).map(({ mailboxId }) => mailboxId));
  return [
    ...[...mailboxIds].map((id) => ({ kind: 'mailbox' as const, id, why: 'its holder waits for a message' })),
    ...of(waits.heldClaims, 'message', 'its holder works on it', ({ messageId }) => messageId),
    ...of(waits.heldHolds, 'hold', 'its holder has units', ({ holdId }) => holdId),
    ...of(waits.waitingHolds, 'hold', 'its holder waits', ({ holdId }) => holdId),
    ...of(waits.waiters, 'waiter', 'its holder waits', ({ waiterId }) => waiterId),
    ...of(waits.heldGrants, 'waiter', 'its holder has units', ({ waiterId }) => waiterId),
  ];
}

async function byText(api: Api, text: string, signal: AbortSignal): Promise<Omit<FoundRecords, 'keys'>> {
  const limit = String(perList);
  const messages = async (filter: 'workKey' | 'key', why: string): Promise<Hit[]> => {
    const found = await tried(api.get<Found>(`/messages${queryText({ [filter]: text, limit })}`, signal));
    return (found?.messages ?? []).map(({ id, createdAt, scopeId }) => ({
      ...{ kind: 'message', id, why, at: createdAt, scopeId },
    }));
  };
  const runs = async (): Promise<Hit[]> => {
    const found = await tried(api.get<Scopes>(`/scopes${queryText({ namePrefix: text, limit })}`, signal));
    return (found?.scopes ?? []).map(({ id, createdAt }) => ({
      ...{ kind: 'run', id, why: 'its name begins with it', at: createdAt },
    }));
  };
  const named = byName.map(async ([kind, list]): Promise<Hit[]> => {
    const path = `/${list}${queryText({ name: text, limit })}`;
    const found = await tried(api.get<Readonly<Record<string, unknown>>>(path, signal));
    const rows = (found?.[list] ?? []) as readonly { readonly id: string; readonly createdAt: string }[];
    return rows.map(({ id, createdAt }) => ({ kind, id, why: 'its name', at: createdAt }));
  });
  const [waits, receivers, ...lists] = await Promise.all([
    api.get<Waits>('/ops/waits', signal),
    api.get<Receivers>('/ops/receivers', signal),
    messages('workKey', 'its work key'),
    messages('key', 'its key'),
    runs(),
    ...named,
  ]);
  const hits = [...lists.flat(), ...heldBy(text, waits, receivers)];
  return { hits, events: [], isPartial: waits.truncated || receivers.truncated };
}

async function read(api: Api, text: string, { can }: SpaceState, signal: AbortSignal): Promise<FoundRecords> {
  const isId = isUuid(text);
  const [found, listed] = await Promise.all([
    isId ? byId(api, text.toLowerCase(), signal) : byText(api, text, signal),
    can.keys ? tried(api.outside.get<Keys>('/keys?limit=200', signal)) : undefined,
  ]);
  const keys = (listed?.keys ?? []).filter(({ id, name }) => id === text.toLowerCase() || name === text);
  return { ...found, keys, isPartial: found.isPartial || (listed?.nextCursor ?? null) !== null };
}

const heads: TableText = {
  caption: 'Found',
  heads: ['What', 'Which', 'Found by', 'Made', 'Run'],
  empty: 'Nothing found.',
};

const hints =
  'Search for a complete id, a work key, key or name as it is, the beginning of a run’s name, or a holder of something now.';

const partial = 'Only 200 holds and waits of each kind, and the newest 200 API keys, were searched; there are more.';

function shown({ hits, events, keys, isPartial }: FoundRecords, world: SpaceState): Node[] {
  const rows = hits.map(({ kind, id, why, at, scopeId }) => ({
    key: `${kind} ${id} ${why}`,
    cells: [
      kindOf(kind).noun,
      objectLink(kind, id, world),
      why,
      at === undefined ? '–' : clock(at),
      scopeId === undefined ? '–' : scopeLink(scopeId, world),
    ],
  }));
  const ofKeys = keys.map(({ id, name, createdAt }) => ({
    key: id,
    cells: [
      'API key',
      el('a', { class: 'named', href: address(world.spaceId, 'keys') }, name ?? id),
      name === null ? 'its id' : 'its id or name',
      clock(createdAt),
      '–',
    ],
  }));
  if (rows.length + ofKeys.length === 0 && events.length > 0)
    return [
      el('p', {}, 'It has no page of its own. Events that name it:'),
      el('ol', { class: 'events' }, ...events.map((event) => eventItem(event, world))),
    ];
  const isNothing = rows.length + ofKeys.length === 0;
  return [
    table(heads, [...rows, ...ofKeys], 50),
    ...(isPartial ? [el('p', { class: 'note' }, partial)] : []),
    ...(isNothing ? [el('p', { class: 'note' }, hints)] : []),
  ];
}

/** The results of the search box on every page. A single result is opened at once. */
export function findPage({ query }: PageRef, world: SpaceState): Page {
  const text = (query.get('q') ?? '').trim();
  const list = panel<FoundRecords>({
    id: 'found',
    path: '/messages',
    hears: [],
    idleSeconds: 3_600,
    read: (api, signal) => read(api, text, world, signal),
    learn: ({ hits, events, keys }, known) => {
      const [only] = hits;
      const isOne = hits.length === 1 && events.length + keys.length === 0;
      if (isOne && only) location.replace(address(known.spaceId, `${only.kind}/${only.id}`));
    },
    render: shown,
  });
  const content = text === '' ? [el('p', { class: 'note' }, hints)] : [section('Found', list.id)];
  return {
    title: 'Search',
    content: [...(text === '' ? [] : [el('p', {}, 'For ', named(text))]), ...content],
    panels: text === '' ? [] : [list],
  };
}
