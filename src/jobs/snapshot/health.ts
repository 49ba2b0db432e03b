import type { SnapshotHealth } from '../../engine/metrics/store-reading.ts';
import { listSnapshots } from './folder.ts';

/** Watches the snapshots of a process. Without one, its age is that of the process. */
export class SnapshotWatch {
  readonly #folder: string;
  readonly #intervalSeconds: number;
  readonly #startedAt = Date.now();
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor({ folder, intervalSeconds }: { readonly folder: string; readonly intervalSeconds: number }) {
    this.#folder = folder;
    this.#intervalSeconds = intervalSeconds;
  }

  note(failed: boolean): void {
    this.#failedAt = failed ? Date.now() : Number.NEGATIVE_INFINITY;
  }

  async read(): Promise<SnapshotHealth> {
    const [newest] = await listSnapshots(this.#folder);
    const madeAt = newest && Date.parse(newest.createdAt);
    const now = Date.now();
    // Of several workers, each makes a snapshot now and then: after two intervals, another one has tried since.
    const isRecent = now - this.#failedAt < 2000 * this.#intervalSeconds;
    return {
      intervalSeconds: this.#intervalSeconds,
      ageSeconds: Math.max(0, now - (madeAt ?? this.#startedAt)) / 1000,
      isFailing: isRecent && (madeAt === undefined || madeAt < this.#failedAt),
    };
  }
}
