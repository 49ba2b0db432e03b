import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { panel } from '../panels/panel.ts';
import { pager, section } from '../parts.ts';
import { type PageRef, queryText } from '../place.ts';
import type { EventsPage } from '../records.ts';
import { eventList } from './events.ts';
import type { Page } from './page.ts';
import { searchForm } from './search.ts';

const aggregates = [
  'message',
  'task',
  'group',
  'budget',
  'barrier',
  'allowance',
  'waiter',
  'mailbox',
  'scope',
  'schedule',
  'limits',
  'destination',
  'delivery',
  'pool',
  'hold',
  'question',
  'note',
];

/** How many minutes ago the history begins; '' for live events instead. */
const spans = [
  ['', 'live'],
  ['15', 'the last 15 minutes'],
  ['60', 'the last hour'],
  ['360', 'the last 6 hours'],
  ['1440', 'the last day'],
  ['all', 'everything that is kept'],
] as const;

const perPage = 100;
/** Each scans some 5,000 events. */
const maxReads = 10;

interface EventPage {
  readonly events: EventsPage['events'];
  /** null at the end of the journal. */
  readonly nextCursor: string | null;
}

/** Reads a page. That may take several reads, because a read may find no event that passes the filter. */
async function read(api: Api, query: string, signal: AbortSignal): Promise<EventPage> {
  let page = await api.get<EventsPage>(`/watch${query}`, signal);
  let last = '';
  for (let reads = 1; page.events.length === 0 && page.nextCursor !== last && reads < maxReads; reads++) {
    last = page.nextCursor;
    const rest = query.replace(/&(cursor|since)=[^&]*/g, '');
    page = await api.get<EventsPage>(`/watch${rest}&cursor=${last}`, signal);
  }
  // The cursor of an empty page advances only while there are more events to scan.
  const isEnd = page.events.length === 0 && page.nextCursor === last;
  return { events: page.events, nextCursor: isEnd ? null : page.nextCursor };
}

/** The time `span` minutes before now; undefined for the beginning of the journal. */
function begin(span: string, now: number): string | undefined {
  return span === 'all' ? undefined : new Date(now - Number(span) * 60_000).toISOString();
}

/** Live events, newest first, or the history from some time ago, oldest first. Both can be filtered by type and run. */
export function journalPage(place: PageRef, now: number): Page {
  const { query } = place;
  const of = (name: string): string | undefined => query.get(name) || undefined;
  const span = spans.find(([value]) => value === query.get('span'))?.[0] ?? '';
  const [cursor, types, scopeId] = [of('cursor'), of('types'), of('scopeId')];
  const form = searchForm(place, [
    { name: 'span', label: 'From', options: spans },
    {
      name: 'types',
      label: 'Of type',
      options: [['', 'any type'], ...aggregates.map((one) => [`${one}.*`, one] as const), ...failures],
    },
    { name: 'scopeId', label: 'Run (scope id)', isId: true },
  ]);
  const title = 'Journal';
  if (span === '' && cursor === undefined) {
    const content = [el('section', { 'aria-label': 'Find in the journal' }, form)];
    return { title, content, panels: [], journalOf: scopeId ?? '', journalTypes: types };
  }
  const since = cursor === undefined ? begin(span, now) : undefined;
  const wanted = queryText({ limit: String(perPage), types, scopeId, cursor, since });
  const list = panel<EventPage>({
    id: 'history',
    path: '/watch',
    // History does not change.
    hears: [],
    idleSeconds: 3_600,
    read: (api, signal) => read(api, wanted, signal),
    render: ({ events, nextCursor }, world) => [
      events.length === 0 && nextCursor !== null
        ? el('p', { class: 'empty' }, 'None found yet; the next page looks further.')
        : eventList(events, world),
      ...pager(place, nextCursor),
    ],
  });
  return { title, content: [section('History, oldest first', list.id, form)], panels: [list] };
}

/** The most common searches. */
const failures = [
  ['message.failed,message.rejected,message.expired', 'failed, rejected, expired messages'],
  ['message.lease_expired', 'lost claims'],
  ['delivery.exhausted,destination.disabled', 'webhooks given up'],
] as const;
