import type { Api } from '../api.ts';
import { el } from '../dom.ts';
import { duration, momentText, money } from '../format.ts';
import { graph } from '../graph.ts';
import { age, pairs } from '../parts.ts';
import { Past, type Recent, tooMuch } from '../past.ts';
import type { Budgets } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';

const hour = 3_600_000;
const day = 24 * hour;
/** How many pages of budgets are searched for those below one. */
const maxPages = 5;

interface Spent {
  readonly recent: Recent | undefined;
  /** The budget and those below it. */
  readonly ids: ReadonlySet<string>;
}

/** A budget and all budgets below it, among the newest thousand. */
async function treeOf(api: Api, id: string, signal: AbortSignal): Promise<Set<string>> {
  const parents = new Map<string, string | null>();
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < maxPages; pages++) {
    const from = cursor === '' ? '' : `&cursor=${cursor}`;
    const page: Budgets = await api.get<Budgets>(`/budgets?limit=200${from}`, signal);
    for (const one of page.budgets) parents.set(one.id, one.parentBudgetId);
    cursor = page.nextCursor;
  }
  const isBelow = (one: string | null | undefined): boolean => one === id || (!!one && isBelow(parents.get(one)));
  return new Set([id, ...[...parents.keys()].filter(isBelow)]);
}

/** The time of one bar: a day if the span has several, an hour if it has several, or else ten minutes. */
const slotOf = (spanMs: number): number => (spanMs > day ? day : spanMs > hour ? hour : hour / 6);

/** The settled amount of each bar, oldest first; the current time is in the last one. */
function amountsOf({ recent, ids }: Spent, now: number): (readonly [at: number, minor: bigint])[] {
  const { spanMs, events } = recent ?? { spanMs: 0, events: [] };
  const slotMs = slotOf(spanMs);
  const last = Math.floor(now / slotMs);
  const sums = new Map<number, bigint>();
  for (const event of events) {
    if (event.type !== 'budget.settled' || !ids.has(event.aggregateId)) continue;
    const slot = Math.floor(Date.parse(event.occurredAt) / slotMs);
    sums.set(slot, (sums.get(slot) ?? 0n) + BigInt(event.payload.amountMinor));
  }
  const slots = Array.from({ length: spanMs / slotMs + 1 }, (_, n) => last - spanMs / slotMs + n);
  return slots.map((slot) => [slot * slotMs, sums.get(slot) ?? 0n] as const);
}

/** When the budget's alerts were reached, newest first. */
function alerts({ recent }: Spent, id: string): Node[] {
  const reached = (recent?.events ?? []).filter(
    (event) => event.type === 'budget.threshold_reached' && event.aggregateId === id,
  );
  const facts = reached.reverse().map((event) => {
    const percent = event.type === 'budget.threshold_reached' ? event.payload.percent : 0;
    return [`${percent} %`, el('span', {}, 'reached ', age(event.occurredAt))] as const;
  });
  return facts.length === 0 ? [] : [el('h3', {}, 'Alerts'), pairs(facts)];
}

function drawn(spent: Spent, id: string, world: SpaceState): Node[] {
  const { recent } = spent;
  if (!recent) return [el('p', { class: 'note' }, tooMuch)];
  const { scale = 0, currency = '' } = world.named(id);
  const of = (minor: bigint): string => `${money(String(minor), scale)} ${currency}`;
  const amounts = amountsOf(spent, world.now());
  const minors = amounts.map(([, minor]) => minor);
  const sum = minors.reduce((all, minor) => all + minor, 0n);
  const most = minors.reduce((top, minor) => (minor > top ? minor : top), 0n);
  const span = duration(recent.spanMs / 1000);
  const slotMs = slotOf(recent.spanMs);
  const slot = duration(slotMs / 1000);
  // Bars show only relative heights, for which a number is exact enough.
  const heights = minors.map((minor) => Number((minor * 10_000n) / (most || 1n)));
  const facts = amounts
    .filter(([, minor]) => minor > 0n)
    .reverse()
    .map(([at, minor]) => {
      const moment = new Date(at).toISOString();
      return [slotMs === day ? `${moment.slice(0, 10)} UTC` : momentText(moment), of(minor)] as const;
    });
  const shape = { title: 'Settled', now: `${of(sum)} in ${span}`, peak: `${of(most)} in ${slot}` };
  return [
    graph({ ...shape, from: `${span} ago` }, heights),
    ...(facts.length === 0 ? [] : [pairs(facts)]),
    ...(spent.ids.size === 1 ? [] : [el('p', { class: 'note' }, 'With what was settled of the budgets below it.')]),
    ...alerts(spent, id),
  ];
}

/** The spending of a budget and of the budgets below it over the last days, from the journal. */
export function spentPanel(id: string, world: SpaceState): Panel {
  const past = new Past({ types: 'budget.settled,budget.threshold_reached' });
  let ids: Set<string> | undefined;
  return panel<Spent>({
    id: 'spent',
    path: '/watch',
    hears: ['budget'],
    read: async (api, signal) => {
      ids ??= await treeOf(api, id, signal);
      return { recent: await past.read(api, world.now(), signal), ids };
    },
    render: (spent, known) => drawn(spent, id, known),
  });
}
