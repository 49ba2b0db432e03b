import type { Api } from '../api.ts';
import { failedStates } from '../concerns.ts';
import { el } from '../dom.ts';
import { count, words } from '../format.ts';
import { panel } from '../panels/panel.ts';
import { mailboxLink, pager } from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import type { Census, Mailbox, Mailboxes } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { damageNotes, type Readable, readPassing } from './damaged.ts';
import { errorList } from './errors.ts';
import type { Page } from './page.ts';

type FailedState = (typeof failedStates)[number];

const shownEach = 50;
const readsAtOnce = 5;
/** How many pages of mailboxes without such messages are skipped at most. */
const maxPages = 50;

interface FailedList {
  readonly state: FailedState;
  readonly census: Census;
  readonly nextCursor: string | null;
  readonly mailboxes: readonly { readonly mailbox: Mailbox; readonly messages: Readable }[];
}

/** The mailboxes that may have such messages. FAILED ones are counted, so mailboxes without any are skipped. */
async function candidatesOf(api: Api, state: FailedState, cursor: string | undefined, signal: AbortSignal) {
  const isCounted = state === 'FAILED';
  let next: string | null = cursor ?? null;
  for (let reads = 1; ; reads++) {
    const page: Mailboxes = await api.get(`/mailboxes${queryText({ limit: '20', cursor: next ?? undefined })}`, signal);
    const candidates = page.mailboxes.filter(({ counts }) => !isCounted || counts.failed > 0);
    next = page.nextCursor;
    if (candidates.length > 0 || next === null || reads === maxPages) return { candidates, nextCursor: next };
  }
}

/**
 * For a page of mailboxes, the first messages of each one that has any in the state. If no state is asked for, uses the
 * first state that has any messages.
 */
async function read(
  api: Api,
  asked: FailedState | undefined,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<FailedList> {
  const census = await api.get<Census>('/census', signal);
  const state = asked ?? failedStates.find((one) => census.messages[one] > 0) ?? 'FAILED';
  const nothing = { candidates: [], nextCursor: null };
  const { candidates, nextCursor } =
    census.messages[state] === 0 ? nothing : await candidatesOf(api, state, cursor, signal);
  const found: { mailbox: Mailbox; messages: Readable }[] = [];
  for (let at = 0; at < candidates.length; at += readsAtOnce) {
    const some = candidates.slice(at, at + readsAtOnce).map(async (mailbox) => ({
      mailbox,
      messages: await readPassing(api, `/mailboxes/${mailbox.id}/messages?state=${state}&limit=${shownEach}`, signal),
    }));
    const isShown = ({ messages, damaged }: Readable) => messages.length + damaged.length > 0;
    found.push(...(await Promise.all(some)).filter(({ messages }) => isShown(messages)));
  }
  return { state, census, nextCursor, mailboxes: found };
}

function tabs({ census, state: chosen }: FailedList, world: SpaceState): Element {
  const links = failedStates.map((state) => {
    const href = address(world.spaceId, 'failed', { state });
    const current: Record<string, string> = state === chosen ? { 'aria-current': 'page' } : {};
    return el('a', { href, ...current }, `${words(state)} ${count(census.messages[state])}`);
  });
  return el('nav', { 'aria-label': 'How it ended', class: 'tabs' }, ...links);
}

/** Work that ended without success, by mailbox and error. */
export function failedPage(place: PageRef): Page {
  const { query } = place;
  const state = failedStates.find((one) => one === query.get('state'));
  const cursor = query.get('cursor') ?? undefined;
  const list = panel<FailedList>({
    id: 'failed',
    path: '/census',
    // Reading the mailboxes takes many reads.
    hears: [],
    idleSeconds: 30,
    read: (api, signal) => read(api, state, cursor, signal),
    learn: ({ mailboxes }, world) => world.learnMailboxes(mailboxes.map(({ mailbox }) => mailbox)),
    render: (found, world) => [
      tabs(found, world),
      ...(found.mailboxes.length === 0
        ? [
            el(
              'p',
              { class: 'empty' },
              `Nothing ${words(found.state)} ${found.nextCursor === null ? 'here' : 'on this page'}.`,
            ),
          ]
        : []),
      ...found.mailboxes.map(({ mailbox, messages }) => {
        const number = found.state === 'FAILED' ? `${count(mailbox.counts.failed)} ` : '';
        const all = mailboxLink(mailbox.id, world, `All ${number}${words(found.state)} of ${mailbox.name}`, {
          state: found.state,
        });
        return el(
          'section',
          { 'data-key': mailbox.id, 'aria-label': mailbox.name },
          el('h2', { class: 'named' }, mailbox.name),
          ...damageNotes(messages),
          errorList(found.state, messages.messages, world),
          messages.nextCursor === null ? '' : el('p', { class: 'note' }, `Of the first ${shownEach}; there are more.`),
          el('p', {}, all),
        );
      }),
      ...pager({ ...place, query: new URLSearchParams([...place.query, ['state', found.state]]) }, found.nextCursor),
    ],
  });
  return { title: 'Failed work', content: [el('div', { id: list.id })], panels: [list] };
}
