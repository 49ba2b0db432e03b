import { el } from '../dom.ts';
import { count, percent, plural } from '../format.ts';
import { age, bar, messageLink, named, objectLink, pager, type Row, scopeLink } from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { Pool, Pools, Waits } from '../records.ts';
import type { World } from '../world.ts';
import { type Panel, panel } from './panel.ts';
import { filtered } from './resources.ts';

type Waiting = Waits['waitingHolds'][number];
type Held = Waits['heldHolds'][number];
type Party = Pick<Waiting, 'holder' | 'holderSession'>;

const partyOf = ({ holder, holderSession }: Party): string => `${holder}\t${holderSession ?? ''}`;
const nameOf = ({ holder, holderSession }: Party): string =>
  holderSession === null ? holder : `${holder} (${holderSession})`;

/** Whom a hold waits for: the one before it in the queue, or else those that hold units of its pool. */
function aheadOf(hold: Waiting, { waitingHolds, heldHolds }: Waits): readonly Party[] {
  const inPool = ({ poolId }: { readonly poolId: string }): boolean => poolId === hold.poolId;
  if (hold.position > 1) return waitingHolds.filter((one) => inPool(one) && one.position === hold.position - 1);
  return hold.blockedBy === 'UNITS' ? heldHolds.filter(inPool) : [];
}

/** The circle that a hold is in: those that it waits for, directly and through others, until it comes back to itself. */
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
  return el('span', {}, reason, circle.length === 0 ? '' : `; a circle: ${circle.join(' waits for ')}`);
}

/** `1 unit of pool <name>`; rest: what is said of them. */
const unitsOf = (units: number, poolId: string, world: World, rest = ''): Element =>
  el('span', { class: 'named' }, `${plural(units, 'unit')} of pool `, objectLink('pool', poolId, world), rest);

/** Holds that wait, as rows of who waits for what. */
export function waitingRows(waits: Waits, world: World): (Row & { readonly since: string })[] {
  return waits.waitingHolds.map((hold) => ({
    key: hold.holdId,
    since: hold.waitingSince,
    cells: [
      named(hold.holder),
      unitsOf(hold.units, hold.poolId, world),
      age(hold.waitingSince, world),
      whyNoUnits(hold, waits),
      scopeLink(hold.scopeId, world),
    ],
  }));
}

const until = ({ leaseExpiresAt }: Held, world: World): Node[] =>
  leaseExpiresAt === null ? [] : [el('span', {}, 'lease ends ', age(leaseExpiresAt, world))];

/** Units that are held, as rows of who holds what: by holds, and by the claims of messages that require them. */
export function heldRows({ heldHolds, heldClaims }: Waits, world: World): (Row & { readonly since: string })[] {
  const byClaims = heldClaims.flatMap(({ messageId, holder, claimedAt, leaseExpiresAt, scopeId, holds }) =>
    holds.map(({ poolId, units, fence }) => ({
      key: `${messageId} ${poolId}`,
      since: claimedAt,
      cells: [
        named(holder),
        unitsOf(units, poolId, world, `, fence ${fence}`),
        age(claimedAt, world),
        el('span', {}, messageLink(messageId, world), ', lease ends ', age(leaseExpiresAt, world)),
        scopeLink(scopeId, world),
      ],
    })),
  );
  const byHolds = heldHolds.map((hold) => ({
    key: hold.holdId,
    since: hold.heldAt,
    cells: [
      named(hold.holder),
      unitsOf(hold.units, hold.poolId, world, `, fence ${hold.fence}`),
      age(hold.heldAt, world),
      el('span', {}, ...until(hold, world)),
      scopeLink(hold.scopeId, world),
    ],
  }));
  return [...byHolds, ...byClaims];
}

function poolItem({ id, units, heldUnits, waiting }: Pool, world: World): Element {
  const held = `${count(heldUnits)} of ${count(units)} units held`;
  return el(
    'li',
    { 'data-key': id },
    el('span', { class: 'name' }, objectLink('pool', id, world)),
    bar(held, { settled: Math.min(100, percent(heldUnits, units)) }),
    el('span', { class: 'note' }, held),
    waiting > 0 ? el('span', { class: 'note' }, `${count(waiting)} waiting`) : null,
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
