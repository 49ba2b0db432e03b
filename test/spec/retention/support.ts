import type { PlanChoice } from '../../../src/org/admin.ts';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

export const day = 86_400_000;

/** A space with a clock of its own, whose sweeper and retention run when the test says so. */
export class Aging {
  readonly world: World;
  readonly traffic: Traffic;
  /** The moment at which everything began. */
  readonly start: number;
  now: number;

  private constructor(world: World, traffic: Traffic, start: number) {
    this.world = world;
    this.traffic = traffic;
    this.start = start;
    this.now = start;
  }

  static async begin(choice: Partial<PlanChoice> = { plan: 'free' }): Promise<Aging> {
    const world = await World.create(choice);
    // Midnight: days of usage and days since then are the same.
    const start = Math.ceil(Date.now() / day) * day;
    await world.at(start);
    return new Aging(world, await Traffic.on(world), start);
  }

  /** Moves the clock to so many milliseconds after the beginning. */
  async at(ms: number): Promise<void> {
    this.now = this.start + ms;
    await this.world.at(this.now);
  }

  /** The same, and everything that is due or whose time is over by then is made real. */
  async sweepAt(ms: number): Promise<void> {
    await this.at(ms);
    await this.world.service.due.drain(this.world.org);
    await this.world.service.due.drain(this.world.org, '*');
    await this.world.service.retention.retain(this.world.org);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async body(path: string): Promise<any> {
    return (await this.world.get(path)).body;
  }
}
