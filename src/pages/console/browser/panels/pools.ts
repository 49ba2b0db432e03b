import { el } from '../dom.ts';
import { count, percent, plural } from '../format.ts';
import {
  acting,
  age,
  bar,
  button,
  buttons,
  messageLink,
  named,
  objectLink,
  onlySome,
  pager,
  type Row,
  scopeLink,
  type TableText,
  table,
} from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { Pool, Pools, Waits } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { type Panel, panel } from './panel.ts';
import { filtered } from './resources.ts';

type Waiting = Waits['waitingHolds'][number];
type Party = Pick<Waiting, 'holder' | 'holderSession'>;

const partyOf = ({ holder, holderSession }: Party): string => `${holder}\t${holderSession ?? ''}`;
const nameOf = ({ holder, holderSession }: Party): string =>
  holderSession === null ? holder : `${holder} (${holderSession})`;

/** The holders that a hold waits for: the one ahead of it in line or, if it is first, everyone who holds units. */
function aheadOf(hold: Waiting, { waitingHolds, heldHolds }: Waits): readonly Party[] {
  const inPool = ({ poolId }: { readonly poolId: string }): boolean => poolId === hold.poolId;
  if (hold.position > 1) return waitingHolds.filter((one) => inPool(one) && one.position === hold.position - 1);
  return hold.blockedBy === 'UNITS' ? heldHolds.filter(inPool) : [];
}

/** The deadlock that a hold is part of: the chain of holders it waits for, back to itself. Empty if there is none. */
function circleOf(hold: Waiting, waits: Waits): readonly Party[] {
  const seen = new Set<string>();
  const follow = (one: Waiting, path: readonly Party[]): readonly Party[] => {
    for (const ahead of aheadOf(one, waits)) {
      if (ahead.holderSession === null || seen.has(partyOf(ahead))) continue;
      if (partyOf(ahead) === partyOf(hold)) return [...path, ahead];
      seen.add(partyOf(ahead));
      for (const next of waits.waitingHolds.filter((other) => partyOf(other) === partyOf(ahead))) {
        const found = follow(next, [...path, ahead]);
        if (found.length > 0) return found;
      }
    }
    return [];
  };
  return hold.holderSession === null ? [] : follow(hold, [hold]);
}

function whyNoUnits(hold: Waiting, waits: Waits): Element {
  const ahead = aheadOf(hold, waits).map(nameOf);
  const names = ahead.length > 3 ? `${ahead.slice(0, 3).join(', ')} and ${ahead.length - 3} more` : ahead.join(', ');
  const reason =
    hold.position > 1
      ? `position ${hold.position}: behind ${names || 'others'}`
      : hold.blockedBy === 'AGENTS'
        ? 'the plan allows no more agents at once'
        : `first in line; held by ${names || 'others'}`;
  const circle = circleOf(hold, waits).map(nameOf);
  return el('span', {}, reason, circle.length === 0 ? '' : `; a deadlock: ${circle.join(' waits for ')}`);
}

/** `2 units of pool <browsers>`. */
export function unitsOf(units: number, poolId: string, world: SpaceState): Element {
  return el('span', { class: 'named' }, `${plural(units, 'unit')} of pool `, objectLink('pool', poolId, world));
}

/** Waiting holds, as rows of the overview's table of waits. */
export function waitingRows(waits: Waits, world: SpaceState): (Row & { readonly since: string })[] {
  return waits.waitingHolds.map((hold) => ({
    key: hold.holdId,
    since: hold.waitingSince,
    cells: [
      named(hold.holder),
      unitsOf(hold.units, hold.poolId, world),
      age(hold.waitingSince),
      whyNoUnits(hold, waits),
      scopeLink(hold.scopeId, world),
    ],
  }));
}

const heldText: TableText = {
  caption: 'Holding, longest first',
  heads: ['Who', 'Units', 'Fence', 'Since', 'Lease ends', 'By', 'Run'],
  empty: 'Nobody holds units of it.',
  isCaptionVisible: true,
};

const waitingText: TableText = {
  caption: 'Waiting, in order',
  heads: ['Position', 'Who', 'Units', 'Since', 'Because', 'Gives up', 'Run'],
  empty: 'Nobody waits for units of it.',
  isCaptionVisible: true,
};

/** Units that somebody holds: by a hold, or by the claim of a message that requires them. */
interface HeldUnits extends Party {
  readonly poolId: string;
  readonly units: number;
  readonly fence: number;
  readonly heldAt: string;
  readonly leaseExpiresAt: string | null;
  readonly scopeId: string;
  /** undefined: by a claim. */
  readonly holdId: string | undefined;
  readonly messageId: string | undefined;
}

/** All of the units that are held. */
export function heldUnits({ heldHolds, heldClaims }: Waits): HeldUnits[] {
  const byClaims = heldClaims.flatMap(({ holds, claimedAt, ...claim }) =>
    holds.map((one) => ({ ...claim, ...one, heldAt: claimedAt, holdId: undefined })),
  );
  return [...heldHolds.map((hold) => ({ ...hold, messageId: undefined })), ...byClaims];
}

function heldTable(waits: Waits, poolId: string, world: SpaceState): Element {
  const { config } = world.can;
  const held = heldUnits(waits).filter((one) => one.poolId === poolId);
  const rows = held
    .toSorted((one, other) => (one.heldAt < other.heldAt ? -1 : 1))
    .map((one) => {
      const target = { id: one.holdId ?? '', label: `${nameOf(one)}, fence ${one.fence}` };
      return {
        key: `${one.holdId ?? one.messageId}`,
        cells: [
          named(nameOf(one)),
          count(one.units),
          String(one.fence),
          age(one.heldAt),
          one.leaseExpiresAt === null ? '–' : age(one.leaseExpiresAt),
          one.messageId === undefined ? 'a hold' : el('span', {}, 'message ', messageLink(one.messageId, world)),
          scopeLink(one.scopeId, world),
          ...(config ? [one.holdId === undefined ? '–' : button('breakHold', 'Break…', target)] : []),
        ],
      };
    });
  return table(acting(heldText, config), rows);
}

function waitingTable(waits: Waits, poolId: string, world: SpaceState): Element {
  const { write } = world.can;
  const waiting = waits.waitingHolds.filter((one) => one.poolId === poolId);
  const rows = waiting
    .toSorted((one, other) => one.position - other.position)
    .map((one) => ({
      key: one.holdId,
      cells: [
        count(one.position),
        named(nameOf(one)),
        count(one.units),
        age(one.waitingSince),
        whyNoUnits(one, waits),
        age(one.expiresAt),
        scopeLink(one.scopeId, world),
        ...(write
          ? [button('cancelHold', 'Cancel…', { id: one.holdId, label: `${nameOf(one)}, position ${one.position}` })]
          : []),
      ],
    }));
  return table(acting(waitingText, write), rows);
}

/** Who holds units of a pool, and who waits for them. */
export function partiesPanel(poolId: string): Panel {
  return panel<Waits>({
    id: 'parties',
    path: '/ops/waits',
    hears: ['pool', 'hold', 'message'],
    everySeconds: 4,
    idleSeconds: 20,
    render: (answer, world) => [
      heldTable(answer, poolId, world),
      waitingTable(answer, poolId, world),
      ...(answer.truncated ? [el('p', { class: 'note' }, onlySome)] : []),
    ],
  });
}

/** How much of a pool is held, with the button that changes its units. */
export function poolState({ id, name, units, heldUnits: now, waiting }: Pool, world: SpaceState): Node[] {
  const held = `${count(now)} of ${count(units)} units held`;
  return [
    bar(held, { settled: Math.min(100, percent(now, units)) }),
    el('span', { class: 'note' }, held),
    waiting > 0 ? el('span', { class: 'note' }, `${count(waiting)} waiting`) : null,
    buttons(world.can.config && button('poolUnits', 'Change the units…', { id, label: name })),
  ].filter((part) => part !== null);
}

function poolItem(pool: Pool, world: SpaceState): Element {
  return el(
    'li',
    { 'data-key': pool.id },
    el('span', { class: 'name' }, objectLink('pool', pool.id, world)),
    ...poolState(pool, world),
  );
}

export function poolsPanel(place?: PageRef): Panel {
  return panel<Pools>({
    id: 'pools',
    path: `/pools${filtered(place, 'pools')}`,
    hears: ['pool', 'hold'],
    idleSeconds: 20,
    learn: (answer, world) => {
      for (const { id, name } of answer.pools) world.name(id, { name });
    },
    render: (answer, world) => [
      answer.pools.length === 0
        ? el('p', { class: 'empty' }, 'No pool here.')
        : el('ul', { class: 'bars' }, ...answer.pools.map((one) => poolItem(one, world))),
      ...(place ? pager(place, answer.nextCursor, 'pools') : []),
    ],
  });
}

export const pools = poolsPanel();
