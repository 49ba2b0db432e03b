import { Cluster } from 'ioredis';

type Told = Parameters<Cluster['refreshSlotsCache']>[0];

/** So long after it asked where the slots are, it asks again at the earliest. */
const paceMs = 200;
const slotCount = 16_384;

/**
 * The client of a cluster for BullMQ and for the subscription. As long as a shard is dead that somebody listens to, the
 * client would do nothing but ask where the slots are, hundreds of times a second.
 */
export class PatientCluster extends Cluster {
  /** It takes for granted that each slot has a list of nodes; where one has not, nobody would hear of any slot. */
  override slots: Cluster['slots'] = Array.from({ length: slotCount }, () => []);
  #askedAt = Number.NEGATIVE_INFINITY;
  #next: NodeJS.Timeout | undefined;
  #told: NonNullable<Told>[] = [];

  override refreshSlotsCache(told?: Told): void {
    if (told) this.#told.push(told);
    this.#next ??= setTimeout(() => this.#ask(), Math.max(0, this.#askedAt + paceMs - performance.now()));
  }

  #ask(): void {
    const all = this.#told;
    this.#told = [];
    this.#next = undefined;
    this.#askedAt = performance.now();
    super.refreshSlotsCache((error) => {
      for (const told of all) told(error);
    });
  }
}
