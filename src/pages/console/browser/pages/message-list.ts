import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { duration, words } from '../format.ts';
import { type Panel, panel } from '../panels/panel.ts';
import { age, badge, clock, messageLink, named, scopeLink, type TableText, table } from '../parts.ts';
import type { Message } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { damageNotes, type Readable, readPassing } from './damaged.ts';

/** The service scans this many messages for a page, which may be empty although there are more matches. */
const perScan = 1_000;
const maxScans = 20;

interface MessagePage extends Readable {
  /** The number of messages scanned, at least. */
  readonly looked: number;
  /** Whether the search stopped early, so that there may be matches further on. */
  readonly isPartial: boolean;
}

async function search(api: Api, path: string, signal: AbortSignal): Promise<MessagePage> {
  let answer = await readPassing(api, path, signal);
  const damaged = [...answer.damaged];
  let scans = 1;
  for (; answer.messages.length === 0 && answer.nextCursor !== null && scans < maxScans; scans++) {
    answer = await readPassing(api, `${path.replace(/&cursor=[^&]*/, '')}&cursor=${answer.nextCursor}`, signal);
    damaged.push(...answer.damaged);
  }
  const isPartial = answer.messages.length === 0 && answer.nextCursor !== null;
  return { ...answer, damaged, looked: scans * perScan, isPartial };
}

/** A page of messages. A search that takes many reads is not repeated with every event. */
export function readMessages(id: string, path: string, render: (found: MessagePage) => Node[]): Panel {
  const list: { -readonly [K in keyof Panel]: Panel[K] } = panel<MessagePage>({
    id,
    path,
    hears: ['message'],
    everySeconds: 4,
    read: async (api, signal) => {
      const found = await search(api, path, signal);
      list.everySeconds = found.looked > perScan ? list.idleSeconds : 4;
      return found;
    },
    render: (found) => [...damageNotes(found), ...render(found)],
  });
  return list;
}

const text: TableText = {
  caption: 'Messages, oldest first',
  heads: ['Message', 'State', 'Work key', 'Attempts', 'Holder', 'Created', 'Run'],
  empty: 'No such message.',
};

type Summary = Pick<Message, 'state' | 'reason' | 'createdAt' | 'finishedAt' | 'readyAt' | 'lastError'>;

/** The state of a message, with the reason for its end, how long it took, the time when it is ready, and the last error. */
export function stateOf(message: Summary): Element {
  const { state, reason, createdAt, finishedAt, readyAt, lastError } = message;
  const why = reason === null ? '' : ` ${words(reason)}`;
  const took = finishedAt === null ? '' : ` after ${duration((Date.parse(finishedAt) - Date.parse(createdAt)) / 1000)}`;
  const ready = readyAt === null ? [] : [' ready ', age(readyAt)];
  return el('span', {}, badge(state), why, took, ...ready, ...(lastError === null ? [] : [': ', named(lastError)]));
}

export function messageTable(messages: readonly Message[], world: SpaceState, isMore = false): Element {
  // Most mailboxes have no keys.
  const hasKeys = messages.some(({ key }) => key !== null);
  const heads = hasKeys ? [...text.heads, 'Key'] : text.heads;
  return table(
    { ...text, heads, ...(isMore && { empty: 'None found yet.' }) },
    messages.map((message) => ({
      key: message.id,
      cells: [
        messageLink(message.id, world),
        stateOf(message),
        named(message.workKey ?? message.taskKey ?? '–'),
        `${message.attempts} of ${message.maxAttempts}`,
        named(message.holder ?? '–'),
        clock(message.createdAt),
        scopeLink(message.scopeId, world),
        ...(hasKeys ? [named(message.key ?? '–')] : []),
      ],
    })),
  );
}
