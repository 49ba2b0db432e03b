/** How a barrier behaves: it keeps the keys of each epoch. */
export class BarrierModel {
  readonly target: number;
  readonly epochs: Set<string>[] = [new Set()];
  state: 'OPEN' | 'RELEASED' | 'CANCELLED' = 'OPEN';
  releasedAt: number | null = null;
  releases = 0;
  cancels = 0;

  constructor(target: number) {
    this.target = target;
  }

  get keys(): Set<string> {
    return this.epochs.at(-1) as Set<string>;
  }

  /** Returns `200` or an error code. */
  arrive(key: string, epoch: number | null, now: number): string {
    if (epoch !== null && epoch !== this.epochs.length) return 'EPOCH_MISMATCH';
    if (this.keys.has(key)) return '200';
    if (this.state !== 'OPEN') return `BARRIER_${this.state}`;
    this.keys.add(key);
    if (this.keys.size === this.target) {
      this.state = 'RELEASED';
      this.releasedAt = now;
      this.releases += 1;
    }
    return '200';
  }

  nextEpoch(): string {
    if (this.state === 'OPEN') return 'BARRIER_NOT_RELEASED';
    this.state = 'OPEN';
    this.releasedAt = null;
    this.epochs.push(new Set());
    return '200';
  }

  cancel(): string {
    if (this.state === 'RELEASED') return 'BARRIER_RELEASED';
    if (this.state === 'OPEN') this.cancels += 1;
    this.state = 'CANCELLED';
    return '200';
  }
}
