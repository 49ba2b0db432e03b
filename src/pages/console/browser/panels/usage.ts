import { el } from '../dom.ts';
import { count, duration, percent, plural } from '../format.ts';
import {
  acting,
  age,
  button,
  exactly,
  named,
  onlySome,
  pairs,
  type Row,
  scopeLink,
  type TableText,
  table,
} from '../parts.ts';
import { Past, type Recent, tooMuch } from '../past.ts';
import type { Allowance, Waits } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';
import { whyNoUnits } from './waits.ts';

/** Units taken by a consumption or by the grant of a waiter: the estimate, and the actual use. */
interface Taken {
  readonly id: string;
  readonly at: string;
  readonly scopeId: string;
  readonly isGrant: boolean;
  readonly units: number;
  /** undefined until it is settled. */
  used: number | undefined;
}

interface Usage {
  readonly allowance: Allowance;
  /** The events of the allowance, and all grants in the space. */
  readonly own: Recent | undefined;
  readonly grants: Recent | undefined;
}

/** All units taken of the allowance, newest first. */
function takenOf({ allowance, own, grants }: Usage): Taken[] {
  const taken = new Map<string, Taken>();
  for (const { type, occurredAt: at, aggregateId, payload } of grants?.events ?? [])
    if (type === 'waiter.granted' && payload.allowanceId === allowance.id)
      taken.set(aggregateId, {
        ...{ id: aggregateId, at, scopeId: payload.scopeId, isGrant: true, units: payload.units, used: undefined },
      });
  for (const { type, occurredAt: at, payload } of own?.events ?? []) {
    if (type === 'allowance.consumed')
      taken.set(payload.consumptionId, {
        ...{ id: payload.consumptionId, at, scopeId: payload.scopeId, isGrant: false },
        ...{ units: payload.units, used: undefined },
      });
    const known = type === 'allowance.settled' ? taken.get(payload.consumptionId) : undefined;
    if (known && type === 'allowance.settled') known.used = payload.settledUnits;
  }
  return [...taken.values()].sort((one, other) => (one.at < other.at ? 1 : -1));
}

interface Sums {
  readonly count: number;
  readonly estimated: number;
  /** The number of settled ones, their estimates, and their actual use. */
  readonly settled: number;
  readonly settledEstimate: number;
  readonly used: number;
}

function sumsOf(taken: readonly Taken[]): Sums {
  const settled = taken.filter((one) => one.used !== undefined);
  const sum = (list: readonly Taken[], of: (one: Taken) => number): number =>
    list.reduce((all, one) => all + of(one), 0);
  return {
    count: taken.length,
    estimated: sum(taken, ({ units }) => units),
    settled: settled.length,
    settledEstimate: sum(settled, ({ units }) => units),
    used: sum(settled, ({ used = 0 }) => used),
  };
}

/** `1,200 of 3,000 estimated (40 %)`, for the settled ones. */
function usedText({ count: times, settled, settledEstimate, used }: Sums): string {
  if (settled === 0) return 'none is settled';
  const share = settledEstimate === 0 ? '' : ` (${Math.round(percent(used, settledEstimate))} %)`;
  const open = settled === times ? '' : `, ${count(times - settled)} not settled`;
  return `${count(used)} of ${count(settledEstimate)} estimated${share}${open}`;
}

const sumsText = (sums: Sums): string =>
  `${plural(sums.count, 'time')}, ${count(sums.estimated)} units: ${usedText(sums)}`;

/** The provider's last report of the units left. */
function observed({ own, allowance }: Usage): Node | null {
  const last = own?.events.findLast(({ type }) => type === 'allowance.observed');
  if (last?.type !== 'allowance.observed') return null;
  const isEarlier = last.occurredAt < allowance.windowStartedAt;
  const left = `${plural(last.payload.availableUnits, 'unit')} left`;
  return el('span', {}, `${left}, `, age(last.occurredAt), isEarlier ? ', in an earlier window' : '');
}

const usedBy: TableText = {
  caption: 'By run, largest first',
  heads: ['Run', 'Times', 'Estimated', 'Used'],
  empty: 'Nobody has taken units of it.',
  isCaptionVisible: true,
};
const recentText: TableText = {
  caption: 'The newest first',
  heads: ['When', 'How', 'Estimated', 'Used', 'Run'],
  empty: 'Nothing was taken.',
  isCaptionVisible: true,
};
/** More rows would bury the important ones. */
const maxRows = 100;
const shownRecent = 10;

function byRun(taken: readonly Taken[], world: SpaceState): Row[] {
  const runs = new Map<string, Taken[]>();
  for (const one of taken) {
    const list = runs.get(one.scopeId) ?? [];
    runs.set(one.scopeId, list);
    list.push(one);
  }
  return [...runs]
    .map(([scopeId, list]) => ({ scopeId, sums: sumsOf(list) }))
    .sort((one, other) => other.sums.estimated - one.sums.estimated)
    .slice(0, maxRows)
    .map(({ scopeId, sums }) => ({
      key: scopeId,
      cells: [scopeLink(scopeId, world), count(sums.count), count(sums.estimated), usedText(sums)],
    }));
}

function recentRow(one: Taken, holders: ReadonlyMap<string, string>, world: SpaceState): Row {
  const holder = holders.get(one.id);
  const by = holder === undefined ? '' : ` to ${holder}`;
  return {
    key: one.id,
    cells: [
      exactly(one.at),
      named(one.isGrant ? `granted after a wait${by}` : 'consumed'),
      count(one.units),
      one.used === undefined ? 'not settled' : count(one.used),
      scopeLink(one.scopeId, world),
    ],
  };
}

function drawn(usage: Usage, world: SpaceState): Node[] {
  const { own, grants, allowance } = usage;
  if (!own || !grants) return [el('p', { class: 'note' }, tooMuch)];
  const spanMs = Math.min(own.spanMs, grants.spanMs);
  const since = new Date(world.now() - spanMs).toISOString();
  const taken = takenOf(usage).filter(({ at }) => at >= since);
  const inWindow = sumsOf(taken.filter(({ at }) => at >= allowance.windowStartedAt));
  const all = sumsOf(taken);
  const word = observed(usage);
  const holders = new Map(world.waits?.heldGrants.map(({ waiterId, holder }) => [waiterId, holder]));
  return [
    pairs([
      // A window may have started before the first event that was read.
      allowance.windowStartedAt >= since && ['This window', sumsText(inWindow)],
      [`Last ${duration(spanMs / 1000)}`, sumsText(all)],
      word !== null && ['Provider', word],
    ]),
    table(usedBy, byRun(taken, world)),
    table(
      recentText,
      taken.slice(0, maxRows).map((one) => recentRow(one, holders, world)),
      shownRecent,
    ),
  ];
}

/** Who has used how much of an allowance over the last days, from the journal. */
export function usagePanel(id: string, world: SpaceState): Panel {
  const own = new Past({ aggregate: `allowance:${id}` });
  const grants = new Past({ types: 'waiter.granted' });
  return panel<Usage>({
    id: 'usage',
    path: '/watch',
    hears: ['allowance', 'waiter'],
    read: async (api, signal) => ({
      allowance: await api.get<Allowance>(`/allowances/${id}`, signal),
      own: await own.read(api, world.now(), signal),
      grants: await grants.read(api, world.now(), signal),
    }),
    render: drawn,
  });
}

const waitersText: TableText = {
  caption: 'Waiters, in order',
  heads: ['Position', 'Who', 'Units', 'Since', 'Because', 'Gives up', 'Run'],
  empty: 'Nobody waits for units of it.',
};

function waiters({ waiters: all, truncated }: Waits, id: string, world: SpaceState): Node[] {
  const own = all.filter(({ allowanceId }) => allowanceId === id);
  const rows = own
    .toSorted((one, other) => one.position - other.position)
    .map((one) => {
      const data = { id: one.waiterId, label: `${one.holder}, position ${one.position}` };
      const cells = [
        count(one.position),
        named(one.holder),
        count(one.units),
        age(one.waitingSince),
        whyNoUnits(one),
        age(one.expiresAt),
        scopeLink(one.scopeId, world),
      ];
      return {
        key: one.waiterId,
        cells: world.can.write ? [...cells, button('cancelWaiter', 'Cancel…', data)] : cells,
      };
    });
  return [
    table(acting(waitersText, world.can.write), rows),
    ...(truncated ? [el('p', { class: 'note' }, onlySome)] : []),
  ];
}

/** Who waits for units of an allowance, in order. */
export function waitersPanel(id: string): Panel {
  return panel<Waits>({
    id: 'waiters',
    path: '/ops/waits',
    hears: ['waiter', 'allowance'],
    everySeconds: 4,
    idleSeconds: 20,
    learn: (answer, world) => {
      world.waits = answer;
    },
    render: (answer, world) => waiters(answer, id, world),
  });
}
