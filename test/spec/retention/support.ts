import type { PlanChoice } from '../../../src/primitives/org/admin.ts';
import { Traffic } from '../../support/traffic.ts';
import { workOff } from '../../support/work-off.ts';
import { World } from '../../support/world.ts';

export const day = 86_400_000;

/** A space with its own clock, in which the sweeper and retention run only when the test calls them. */
export class Aging {
  readonly world: World;
  readonly traffic: Traffic;
  /** The moment that `at` and `sweepAt` count from. */
  readonly start: number;
  now: number;
  /** Events of a segment; undefined: the journal is not packed. */
  packs: number | undefined;
  /** Messages of a segment; undefined: they are not packed. */
  packsMessages: number | undefined;

  private constructor(world: World, traffic: Traffic, start: number) {
    this.world = world;
    this.traffic = traffic;
    this.start = start;
    this.now = start;
  }

  static async begin(choice: Partial<PlanChoice> = { plan: 'free' }, packsMessages?: number): Promise<Aging> {
    const world = await World.create(choice);
    // Midnight, so that days of usage coincide with days since the start.
    const start = Math.ceil(Date.now() / day) * day;
    await world.at(start);
    const aging = new Aging(world, await Traffic.on(world), start);
    aging.packsMessages = packsMessages;
    return aging;
  }

  /** Moves the clock to this many milliseconds after the start. */
  async at(ms: number): Promise<void> {
    this.now = this.start + ms;
    await this.world.at(this.now);
  }

  /** Moves the clock likewise, then sweeps everything that is due and removes what has expired. */
  async sweepAt(ms: number): Promise<void> {
    await this.at(ms);
    await this.world.service.due.drain(this.world.org);
    await workOff(this.world);
    if (this.packs !== undefined) await this.pack(this.packs);
    if (this.packsMessages !== undefined) await this.packMessages(this.packsMessages);
    await this.world.service.retention.retain(this.world.org);
  }

  /** Packs all events that are an hour old. */
  async pack(size: number): Promise<void> {
    const { service, org, spaceId } = this.world;
    await service.packing.packSpace(org, spaceId, undefined, { sealAfterMs: 3_600_000, isAll: true, size });
  }

  /** Packs all messages that finished an hour ago. */
  async packMessages(size: number): Promise<void> {
    const { service, org, spaceId } = this.world;
    const how = { sealAfterMs: 3_600_000, isAll: true, size, patienceMs: 0 };
    await service.packing.packMessages(org, spaceId, undefined, how);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async body(path: string): Promise<any> {
    return (await this.world.get(path)).body;
  }
}

/** What the run view of a scope lists, by kind. */
export async function kinds(aging: Aging, scopeId: string): Promise<Record<string, number> | null> {
  const { status, body } = await aging.world.get(`/ops/runs/${scopeId}`);
  if (status === 404) return null;
  const { barriers, waiters, reservations, groups, scopes, consumptions } = body;
  return {
    barriers: barriers.length,
    waiters: waiters.length,
    reservations: reservations.length,
    groups: groups.length,
    scopes: scopes.length,
    consumptions: consumptions.count,
    units: consumptions.units,
  };
}

export const none = { barriers: 0, waiters: 0, reservations: 0, groups: 0, scopes: 0, consumptions: 0, units: 0 };
