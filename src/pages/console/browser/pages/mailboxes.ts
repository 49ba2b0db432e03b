import type { Api } from '../api.ts';
import { nearly } from '../concerns.ts';
import { el, html, setHeading } from '../dom.ts';
import { count, duration, percent, plural, words } from '../format.ts';
import { bulkPanel } from '../panels/bulk.ts';
import { errorsPanel } from '../panels/errors.ts';
import { graphsPanel } from '../panels/graphs.ts';
import { panel } from '../panels/panel.ts';
import { receiversPanel } from '../panels/receivers.ts';
import { waits } from '../panels/waits.ts';
import {
  age,
  badge,
  bar,
  button,
  buttons,
  mailboxLink,
  pager,
  pairs,
  pauseButton,
  receiversOf,
  section,
  type TableText,
  table,
} from '../parts.ts';
import { address, type PageRef, type Query, queryText } from '../place.ts';
import type { Figures, Mailbox, Mailboxes, Message } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { backlogOf, byOldest, fullnessOf } from '../staff.ts';
import { errorsOf, requeueable } from './errors.ts';
import { messageTable, readMessages } from './message-list.ts';
import type { Page } from './page.ts';
import { searchForm } from './search.ts';

/** Orders of the list, by their names in the address: the heading that chooses each, and how it sorts. */
const orders = {
  oldest: { head: 'Oldest ready', sort: byOldest },
  size: { head: 'Backlog', sort: (a: Counted, b: Counted) => backlogOf(b) - backlogOf(a) },
  full: { head: 'Full', sort: (a: Counted, b: Counted) => fullnessOf(b) - fullnessOf(a) },
  throughput: { head: 'Last hour', sort: (a: Counted, b: Counted) => (b.lastHour ?? 0) - (a.lastHour ?? 0) },
} as const;

type Order = keyof typeof orders;

const queueText = {
  caption: 'Mailboxes',
  heads: ['Name', 'Receivers', 'Ready', 'Delayed', 'Blocked', 'Claimed', 'Failed', 'Oldest ready', 'Backlog', 'Full'],
  empty: 'No mailbox here.',
} as const satisfies TableText;

/** A mailbox, and how many of its messages were completed in the last hour, if that was read. */
type Counted = Mailbox & { readonly lastHour?: number };

/** A number that links to the messages it counts. */
function counted(value: number, { id }: Mailbox, state: string, world: SpaceState): Element | string {
  return value === 0 ? '0' : mailboxLink(id, world, count(value), { state });
}

function fullness(mailbox: Mailbox): Element {
  const { counts, backlogLimit } = mailbox;
  const label = `${count(backlogOf(mailbox))} of ${count(backlogLimit)}`;
  const full = bar(`Backlog ${label}`, {
    settled: percent(counts.claimed, backlogLimit),
    reserved: percent(counts.ready + counts.delayed + counts.blocked, backlogLimit),
  });
  return el('span', fullnessOf(mailbox) >= nearly ? { class: 'problem' } : {}, label, full);
}

function orderOf(text: string | null): Order {
  return text !== null && text in orders ? (text as Order) : 'oldest';
}

export function mailboxTable(
  mailboxes: readonly Counted[],
  world: SpaceState,
  { order = 'oldest', shownRows }: { readonly order?: Order; readonly shownRows?: number } = {},
): Element {
  const isTimed = mailboxes.some(({ lastHour }) => lastHour !== undefined);
  const links = Object.entries(orders).map(([by, { head }]) => {
    return [head, { href: address(world.spaceId, 'mailboxes', { by }), isCurrent: by === order }] as const;
  });
  const text = { ...queueText, heads: [...queueText.heads, 'Last hour'], orders: Object.fromEntries(links) };
  return table(
    text,
    [...mailboxes].sort(orders[order].sort).map((mailbox) => ({
      key: mailbox.id,
      cells: [
        el(
          'span',
          {},
          mailboxLink(mailbox.id, world, mailbox.name),
          ...(mailbox.mode === 'INBOX' ? [' ', badge('INBOX')] : []),
          ...(mailbox.paused ? [' ', badge('PAUSED')] : []),
        ),
        receiversOf(mailbox, world),
        counted(mailbox.counts.ready, mailbox, 'READY', world),
        counted(mailbox.counts.delayed, mailbox, 'DELAYED', world),
        counted(mailbox.counts.blocked, mailbox, 'BLOCKED', world),
        counted(mailbox.counts.claimed, mailbox, 'CLAIMED', world),
        counted(mailbox.counts.failed, mailbox, 'FAILED', world),
        mailbox.oldestReadyAt === null ? '–' : age(mailbox.oldestReadyAt),
        fullness(mailbox),
        `${Math.round(100 * fullnessOf(mailbox))} %`,
        isTimed ? `${count(mailbox.lastHour ?? 0)} done` : '–',
      ],
    })),
    shownRows,
  );
}

/** More mailboxes are not sorted: they are listed page by page, newest first. */
const maxSorted = 1_000;
const pageSize = 200;
/** Throughput takes a read for each mailbox. */
const maxTimed = 100;
const timedAtOnce = 10;

interface MailboxList {
  readonly mailboxes: readonly Counted[];
  readonly nextCursor: string | null;
}

async function readAll(api: Api, query: Query, signal: AbortSignal): Promise<MailboxList> {
  const mailboxes: Mailbox[] = [];
  let cursor = query['cursor'] ?? null;
  do {
    const path = `/mailboxes${queryText({ ...query, limit: String(pageSize), cursor: cursor ?? undefined })}`;
    const page = await api.get<Mailboxes>(path, signal);
    mailboxes.push(...page.mailboxes);
    cursor = page.nextCursor;
  } while (cursor !== null && mailboxes.length < maxSorted);
  return { mailboxes, nextCursor: cursor };
}

/** How many messages each of the mailboxes completed in the last hour: of those with the largest numbers of messages. */
async function readThroughput(api: Api, { mailboxes, nextCursor }: MailboxList, signal: AbortSignal) {
  const timed: Counted[] = mailboxes.slice(maxTimed);
  for (let at = 0; at < Math.min(mailboxes.length, maxTimed); at += timedAtOnce) {
    const some = mailboxes.slice(at, Math.min(at + timedAtOnce, maxTimed));
    const read = async (one: Mailbox): Promise<Counted> => {
      const { minutes } = await api.get<Figures>(`/figures?mailboxId=${one.id}`, signal);
      return { ...one, lastHour: minutes.reduce((sum, { acked }) => sum + acked, 0) };
    };
    timed.push(...(await Promise.all(some.map(read))));
  }
  return { mailboxes: timed, nextCursor };
}

/** All mailboxes in the order asked for, with a search by name. */
export function mailboxesPage(place: PageRef): Page {
  const { query } = place;
  const order = orderOf(query.get('by'));
  const filters = { name: query.get('name') ?? undefined, cursor: query.get('cursor') ?? undefined };
  const isTimed = order === 'throughput';
  const list = panel<MailboxList>({
    id: 'mailbox-list',
    path: '/mailboxes',
    hears: ['mailbox', 'message'],
    everySeconds: isTimed ? 60 : 4,
    read: async (api, signal) => {
      const all = await readAll(api, filters, signal);
      return isTimed ? readThroughput(api, all, signal) : all;
    },
    learn: ({ mailboxes }, world) => world.learnMailboxes(mailboxes),
    render: ({ mailboxes, nextCursor }, world) => [
      mailboxTable(mailboxes, world, { order, shownRows: 30 }),
      ...pager(place, nextCursor),
    ],
  });
  const form = searchForm(place, [{ name: 'name', label: 'Name, exactly' }]);
  return {
    title: 'Mailboxes',
    content: [section('All mailboxes', list.id, form)],
    panels: [list, receiversPanel(), waits],
  };
}

const states = ['READY', 'DELAYED', 'BLOCKED', 'CLAIMED', 'ACKED', ...requeueable];

function head(mailbox: Mailbox, place: PageRef, world: SpaceState): Node[] {
  const { id, name, mode, recipientId, counts, oldestReadyAt, maxAttempts, retryDelaySeconds, perKey } = mailbox;
  const numbers: Readonly<Record<string, number>> = {
    READY: counts.ready,
    DELAYED: counts.delayed,
    BLOCKED: counts.blocked,
    CLAIMED: counts.claimed,
    FAILED: counts.failed,
  };
  const { query } = place;
  const chosen = query.get('state') ?? '';
  const filters = {
    scopeId: query.get('scopeId') ?? undefined,
    workKey: query.get('workKey') ?? undefined,
    key: query.get('key') ?? undefined,
  };
  const tab = (state: string): Element => {
    const number = numbers[state];
    const text = `${state === '' ? 'all' : words(state)}${number === undefined ? '' : ` ${count(number)}`}`;
    const link = mailboxLink(id, world, text, { ...filters, state: state || undefined });
    if (state === chosen) link.setAttribute('aria-current', 'page');
    return link;
  };
  const target = { id, name, ...(filters.scopeId !== undefined && { scope: filters.scopeId }) };
  const waiting = counts.ready + counts.delayed + counts.blocked;
  return [
    pairs([
      ['Mode', recipientId === null ? mode : el('span', {}, `${mode}, received by `, el('b', {}, recipientId))],
      mailbox.paused && ['Paused', 'nothing is handed out'],
      perKey !== null && ['Per key', `${count(perKey)} at once`],
      mailbox.progressEvents && ['Progress', 'reports are events'],
      ['Backlog', fullness(mailbox)],
      ['Oldest ready', oldestReadyAt === null ? 'none' : age(oldestReadyAt)],
      [
        'Retries',
        `${plural(maxAttempts, 'attempt')}, ${retryDelaySeconds === 0 ? 'at once' : `first after ${duration(retryDelaySeconds)}`}`,
      ],
    ]),
    ...[
      buttons(
        world.can.write && pauseButton('Mailbox', mailbox, target),
        world.can.write && waiting > 0 && button('purge', 'Purge what waits…', target),
        world.can.write && button('clear', 'Remove finished…', target),
        world.can.write &&
          requeueable.includes(chosen) &&
          button('requeueAll', `Requeue all ${words(chosen)}…`, { ...target, state: chosen }),
      ),
    ].filter((one) => one !== null),
    el('nav', { 'aria-label': 'Messages by state', class: 'tabs' }, tab(''), ...states.map(tab)),
  ];
}

/** One mailbox: its figures, and its messages by state, with a search by work key, key, run and id. */
export function mailboxPage(place: PageRef, world: SpaceState): Page {
  const { query } = place;
  const id = place.id ?? '';
  const of = (name: string): string | undefined => query.get(name) ?? undefined;
  const top = panel<Mailbox>({
    id: 'mailbox',
    path: `/mailboxes/${id}`,
    hears: ['mailbox', 'message'],
    everySeconds: 4,
    learn: (mailbox, known) => {
      known.learnMailboxes([mailbox]);
      setHeading(`Mailbox ${mailbox.name}`, id);
    },
    render: (mailbox, known) => head(mailbox, place, known),
  });
  const wanted = {
    state: of('state'),
    scopeId: of('scopeId'),
    workKey: of('workKey'),
    key: of('key'),
    cursor: of('cursor'),
  };
  const list = readMessages(
    'messages',
    `/mailboxes/${id}/messages${queryText({ limit: '100', ...wanted })}`,
    (answer) => [
      ...[
        batchButtons(wanted.state ?? '', answer.messages, world),
        errorsOf(wanted.state ?? '', answer.messages, world),
      ].filter((one) => one !== null),
      messageTable(answer.messages, world, answer.nextCursor !== null),
      ...(answer.isPartial
        ? [el('p', { class: 'note' }, `Looked through ${count(answer.looked)} messages; there are more.`)]
        : []),
      ...pager(place, answer.nextCursor),
    ],
  );
  const search = searchForm(place, [
    { name: 'workKey', label: 'Work key' },
    { name: 'key', label: 'Key' },
    { name: 'scopeId', label: 'Run (scope id)', isId: true },
    { name: 'messageId', label: 'Message id', isId: true, leadsTo: 'message' },
  ]);
  const title = world.named(id).name;
  const graphs = graphsPanel(id);
  const receivers = receiversPanel(id);
  const bulk = bulkPanel(id);
  const errors = errorsPanel(id);
  const content = [
    html(
      'section',
      { class: 'wide', 'aria-label': 'Mailbox' },
      el('div', { id: 'mailbox' }),
      el('div', { id: bulk.id }),
    ),
    section('Over time', graphs.id),
    section('Who waits for a message', receivers.id),
    section('Errors today', errors.id),
    section('Messages', 'messages', search),
  ];
  return { title: `Mailbox ${title}`, id, content, panels: [top, bulk, graphs, receivers, errors, list] };
}

/** Buttons that act on all messages shown, and on no others. */
function batchButtons(state: string, messages: readonly Message[], world: SpaceState): Element | null {
  if (!world.can.write || messages.length === 0) return null;
  const ids = messages.map(({ id }) => id).join(' ');
  const these = messages.length === 1 ? 'this message' : `these ${count(messages.length)}`;
  return buttons(
    requeueable.includes(state) && button('requeueThese', `Requeue ${these}…`, { ids }),
    ['READY', 'DELAYED', 'BLOCKED'].includes(state) && button('cancelThese', `Cancel ${these}…`, { ids }),
  );
}
