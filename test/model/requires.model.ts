import type { AllowanceModel } from './allowance.model.ts';
import { type Item, type Need, OrderModel } from './order.model.ts';
import type { ModelHold, PoolModel } from './pool.model.ts';

/** A group whose first accepted result decides it. */
export interface Members {
  readonly id: string;
  readonly scopeId: string;
  isDecided: boolean;
}

/** The pools and allowances, by id. */
export interface Units {
  readonly pool: PoolModel;
  readonly poolIds: readonly string[];
  readonly allowances: ReadonlyMap<string, AllowanceModel>;
}

/**
 * Messages that require units. A receive that finds too few units parks the message at the pool or allowance that is
 * short. When units are free again, the oldest messages of each scope that fit together become READY.
 */
export class RequiresModel extends OrderModel {
  readonly parked = new Map<Item, string>();
  readonly groupOf = new Map<Item, Members>();
  readonly #units: Units;
  readonly #held = new Map<Item, ModelHold[]>();
  /** Pools and allowances that may have free units: in this step, or once the workers have come to them. */
  readonly #freed = new Set<string>();
  readonly #left = new Set<string>();
  /** When an allowance may have more units. */
  readonly #looks = new Map<string, number>();

  constructor(perKey: number | null, retryDelaySeconds: number, units: Units) {
    super(perKey, retryDelaySeconds);
    this.#units = units;
    units.pool.onFree = (at) => this.#freed.add(units.poolIds[at] as string);
    for (const [id, allowance] of units.allowances) allowance.onFree = () => this.#freed.add(id);
  }

  get #clocks(): (PoolModel | AllowanceModel)[] {
    return [this.#units.pool, ...this.#units.allowances.values()];
  }

  #poolAt(id: string): number {
    return this.#units.poolIds.indexOf(id);
  }

  /** The number of units free for messages: 0 while holds or waiters wait. */
  available(id: string): number {
    const { pool, allowances } = this.#units;
    const allowance = allowances.get(id);
    if (allowance) return allowance.available;
    const at = this.#poolAt(id);
    return pool.waiting(at).length > 0 ? 0 : Math.max(0, this.limit(id) - pool.heldUnits(at));
  }

  limit(id: string): number {
    return this.#units.allowances.get(id)?.limit ?? this.#units.pool.units[this.#poolAt(id)] ?? 0;
  }

  /** The first need with too few units, if any. */
  short({ of: { requires = [] } }: Item): Need | undefined {
    return requires.find(({ id, units }) => units > this.available(id));
  }

  #look(id: string): void {
    const allowance = this.#units.allowances.get(id);
    if (!allowance || allowance.queue.length > 0) return;
    const { cooldownUntil, now, windowStartedAt } = allowance;
    const at = cooldownUntil > now ? cooldownUntil : windowStartedAt + 10_000;
    this.#looks.set(id, Math.min(at, this.#looks.get(id) ?? at));
  }

  #keep(item: Item, id: string): void {
    this.parked.set(item, id);
    this.#look(id);
  }

  /** Parks an item for which a receive found too few units. Units of its other needs are for others. */
  park(item: Item, id = this.short(item)?.id as string): void {
    item.state = 'BLOCKED';
    this.#keep(item, id);
    for (const need of item.of.requires ?? []) if (this.available(need.id) > 0) this.#left.add(need.id);
  }

  take(item: Item, fences: readonly number[]): void {
    const pools = (item.of.requires ?? []).filter(({ id }) => this.#poolAt(id) >= 0);
    const claim = ({ id, units }: Need, at: number): ModelHold =>
      this.#units.pool.claim(this.#poolAt(id), units, fences[at] as number);
    this.#held.set(item, pools.map(claim));
  }

  #give(item: Item): void {
    for (const hold of this.#held.get(item) ?? []) this.#units.pool.release(hold, true);
    this.#held.delete(item);
  }

  protected override passOn(item: Item, from: Item['state']): void {
    this.#give(item);
    this.parked.delete(item);
    if (from === 'READY') for (const { id } of item.of.requires ?? []) this.#left.add(id);
  }

  override giveBack(item: Item, delayMs: number | undefined, at: number): void {
    if (this.groupOf.get(item)?.isDecided) this.end(item, 'CANCELLED', at);
    else {
      this.#give(item);
      super.giveBack(item, delayMs, at);
    }
  }

  #walk(id: string): void {
    const all = [...this.parked].flatMap(([item, by]) => (by === id ? item : []));
    for (const scope of new Set(all.map((item) => item.scope))) {
      let room = this.available(id);
      for (const item of this.inOrder(all.filter((one) => one.scope === scope))) {
        const units = item.of.requires?.find((need) => need.id === id)?.units ?? 0;
        if (units > room) continue;
        const other = this.short(item);
        if (other) this.#keep(item, other.id);
        else {
          this.parked.delete(item);
          item.state = 'READY';
          room -= units;
        }
      }
    }
  }

  /** Frees parked messages for which there are units by now. */
  serve(now: number): void {
    const due = [...this.#looks].flatMap(([id, at]) => (at <= now ? id : []));
    const ids = new Set([...this.#freed, ...due]);
    this.#freed.clear();
    for (const id of ids) {
      this.#looks.delete(id);
      this.#walk(id);
    }
    for (const id of ids) if ([...this.parked.values()].includes(id)) this.#look(id);
  }

  /** Does the work that steps have left to the workers. */
  settle(): void {
    for (const id of this.#left) this.#walk(id);
    this.#left.clear();
  }

  override advance(now: number): void {
    for (;;) {
      const own = [this.nextAt, ...this.#looks.values()];
      const at = Math.min(...own, ...this.#clocks.map(({ nextAt }) => nextAt));
      if (at > now) break;
      for (const clock of this.#clocks) clock.advance(at);
      super.advance(at);
      this.serve(at);
    }
    for (const clock of this.#clocks) clock.advance(now);
  }

  /** Decides a group, as its first accepted result does. */
  decide(group: Members, now: number): void {
    group.isDecided = true;
    this.cancelAll(this.pending(group), now);
  }

  pending(group: Members): Item[] {
    const members = this.items.filter((item) => this.groupOf.get(item) === group);
    return members.filter(({ isLive, state }) => isLive && state !== 'CLAIMED');
  }
}
