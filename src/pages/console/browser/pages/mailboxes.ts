import { el, html, setHeading } from '../dom.ts';
import { count, duration, percent, plural, words } from '../format.ts';
import { bulkPanel } from '../panels/bulk.ts';
import { errorsPanel } from '../panels/errors.ts';
import { graphsPanel } from '../panels/graphs.ts';
import { panel } from '../panels/panel.ts';
import { receiversPanel } from '../panels/receivers.ts';
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
  section,
  type TableText,
  table,
} from '../parts.ts';
import { type PageRef, queryText } from '../place.ts';
import type { Mailbox, Mailboxes, Message } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { errorsOf, requeueable } from './errors.ts';
import { messageTable, readMessages } from './message-list.ts';
import type { Page } from './page.ts';
import { searchForm } from './search.ts';

const queueText: TableText = {
  caption: 'Mailboxes',
  heads: ['Name', 'Mode', 'Ready', 'Delayed', 'Blocked', 'Claimed', 'Failed', 'Oldest ready', 'Backlog'],
  empty: 'No mailbox here.',
};

/** Longest waiting first. */
export function byOldest(a: Mailbox, b: Mailbox): number {
  const moment = ({ oldestReadyAt }: Mailbox): number =>
    oldestReadyAt === null ? Infinity : Date.parse(oldestReadyAt);
  return moment(a) === moment(b) ? 0 : moment(a) - moment(b);
}

/** A number that links to the messages it counts. */
function counted(value: number, { id }: Mailbox, state: string, world: SpaceState): Element | string {
  return value === 0 ? '0' : mailboxLink(id, world, count(value), { state });
}

export function backlogOf({ counts: { ready, delayed, blocked, claimed } }: Mailbox): number {
  return ready + delayed + blocked + claimed;
}

function fullness(mailbox: Mailbox): Element {
  const { counts, backlogLimit } = mailbox;
  const label = `${count(backlogOf(mailbox))} of ${count(backlogLimit)}`;
  const full = bar(`Backlog ${label}`, {
    settled: percent(counts.claimed, backlogLimit),
    reserved: percent(counts.ready + counts.delayed + counts.blocked, backlogLimit),
  });
  return el('span', {}, label, full);
}

export function mailboxTable(mailboxes: readonly Mailbox[], world: SpaceState, shownRows?: number): Element {
  return table(
    queueText,
    [...mailboxes].sort(byOldest).map((mailbox) => ({
      key: mailbox.id,
      cells: [
        el('span', {}, mailboxLink(mailbox.id, world, mailbox.name), ...(mailbox.paused ? [' ', badge('PAUSED')] : [])),
        mailbox.mode,
        counted(mailbox.counts.ready, mailbox, 'READY', world),
        counted(mailbox.counts.delayed, mailbox, 'DELAYED', world),
        counted(mailbox.counts.blocked, mailbox, 'BLOCKED', world),
        counted(mailbox.counts.claimed, mailbox, 'CLAIMED', world),
        counted(mailbox.counts.failed, mailbox, 'FAILED', world),
        mailbox.oldestReadyAt === null ? '–' : age(mailbox.oldestReadyAt, world),
        fullness(mailbox),
      ],
    })),
    shownRows,
  );
}

/** All mailboxes, page by page, with a search by name. */
export function mailboxesPage(place: PageRef): Page {
  const { query } = place;
  const filters = { name: query.get('name') ?? undefined, cursor: query.get('cursor') ?? undefined };
  const list = panel<Mailboxes>({
    id: 'mailbox-list',
    path: `/mailboxes${queryText({ limit: '50', ...filters })}`,
    hears: ['mailbox', 'message'],
    everySeconds: 4,
    learn: ({ mailboxes }, world) => world.learnMailboxes(mailboxes),
    render: ({ mailboxes, nextCursor }, world) => [mailboxTable(mailboxes, world), ...pager(place, nextCursor)],
  });
  const form = searchForm(place, [{ name: 'name', label: 'Name, exactly' }]);
  return { title: 'Mailboxes', content: [section('All mailboxes', list.id, form)], panels: [list] };
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
      ['Oldest ready', oldestReadyAt === null ? 'none' : age(oldestReadyAt, world)],
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
