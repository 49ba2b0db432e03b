import type { Redis } from 'ioredis';
import { type Store, shardsOf } from '../redis/cluster.ts';
import { within } from '../redis/failures.ts';
import type { Scripts } from '../redis/scripts.ts';
import { type Depths, readDepths, readSweepLag } from './depths.ts';

/** A hung store must not block a scrape. */
const timeoutMs = 2_000;

export interface PackedAfterSeconds {
  readonly events: number;
  readonly messages: number;
}

/** A webhook destination that has events to get. */
export interface LateDestination {
  readonly org: string;
  readonly space: string;
  readonly destination: string;
  readonly waiting: number;
  readonly unread: number;
  /** When the oldest of the events happened. */
  readonly since: number;
}

export interface WorkersState {
  /** How late the workers' next round is; undefined if no worker has ever run on the store. */
  readonly lagSeconds: number | undefined;
  /** 0 if nothing is claimed. */
  readonly oldestClaimAgeSeconds: number;
  /** The furthest behind first. */
  readonly lateDestinations: readonly (LateDestination & { readonly lagSeconds: number })[];
}

/** How old the newest snapshot of this process's folder is, and whether its last attempt failed. */
export interface SnapshotHealth {
  readonly intervalSeconds: number;
  readonly ageSeconds: number;
  readonly isFailing: boolean;
}

/** Figures read from the store; parts that could not be read are undefined. */
export interface Reading {
  readonly isUp: boolean;
  readonly state: StoreState | undefined;
  readonly sweepLagSeconds: number | undefined;
  /** How late the workers' next round is. */
  readonly workerLagSeconds: number | undefined;
  readonly oldestClaimAgeSeconds: number | undefined;
  readonly lateDestinations: WorkersState['lateDestinations'] | undefined;
  /** Undefined unless this process makes snapshots. */
  readonly snapshots: SnapshotHealth | undefined;
  readonly depths: Depths | undefined;
  /** The age at which messages and events are packed at the latest; undefined if never. */
  readonly packedAfterSeconds: PackedAfterSeconds | undefined;
}

interface StoreReaderParts {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly ready: () => Promise<boolean>;
  /** The types of events that spaces count. */
  readonly events: readonly string[];
  readonly packedAfterSeconds: PackedAfterSeconds | undefined;
  readonly workers: () => Promise<WorkersState>;
  /** Undefined unless this process makes snapshots. */
  readonly snapshots: (() => Promise<SnapshotHealth>) | undefined;
}

/** Reads the store for the metrics, at most once per `maxAgeMs` regardless of the number of scrapes. */
export class StoreReader {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #ready: () => Promise<boolean>;
  readonly events: readonly string[];
  readonly #packedAfterSeconds: PackedAfterSeconds | undefined;
  readonly #workers: () => Promise<WorkersState>;
  readonly #snapshots: (() => Promise<SnapshotHealth>) | undefined;
  readonly #startedAt = performance.now();
  readonly #maxAgeMs: number;
  #latest: Promise<Reading> | undefined;
  #readAt = 0;

  constructor(parts: StoreReaderParts, maxAgeMs: number) {
    this.#store = parts.store;
    this.#scripts = parts.scripts;
    this.#ready = parts.ready;
    this.events = parts.events;
    this.#packedAfterSeconds = parts.packedAfterSeconds;
    this.#workers = parts.workers;
    this.#snapshots = parts.snapshots;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Never rejects. */
  read(): Promise<Reading> {
    const now = performance.now();
    if (!this.#latest || now - this.#readAt > this.#maxAgeMs) {
      this.#readAt = now;
      this.#latest = this.#read();
    }
    return this.#latest;
  }

  async #read(): Promise<Reading> {
    const [isUp, state, sweepLagSeconds, workers, snapshots, depths] = await Promise.all([
      inTime(this.#ready()),
      inTime(readStoreState(this.#store)),
      inTime(readSweepLag(this.#store)),
      inTime(this.#workers()),
      this.#snapshots && inTime(this.#snapshots()),
      inTime(readDepths(this.#store, this.#scripts, this.events)),
    ]);
    // While no worker has ever run, none has since this process started.
    const workerLagSeconds = workers && (workers.lagSeconds ?? (performance.now() - this.#startedAt) / 1000);
    return {
      isUp: isUp ?? false,
      state,
      sweepLagSeconds,
      workerLagSeconds,
      oldestClaimAgeSeconds: workers?.oldestClaimAgeSeconds,
      lateDestinations: workers?.lateDestinations,
      snapshots,
      depths,
      packedAfterSeconds: this.#packedAfterSeconds,
    };
  }
}

/** Undefined if it fails or takes too long. */
function inTime<T>(reading: Promise<T>): Promise<T | undefined> {
  return within(timeoutMs, reading).catch(() => undefined);
}

/** The store's own figures, in a cluster summed over its masters. */
interface StoreState {
  readonly masters: number;
  readonly usedMemoryBytes: number;
  /** The ratio of the fullest master; undefined without a limit. */
  readonly memoryRatio: number | undefined;
  readonly clients: number;
  readonly commands: number;
  readonly evictedKeys: number;
  readonly isAppendOnly: boolean;
  /** Whether the last writes to disk succeeded. */
  readonly isPersisting: boolean;
}

type Info = (field: string) => string;

/** Rejects when the store is unavailable or denies INFO, as a managed one may. */
export async function readStoreState(store: Store): Promise<StoreState> {
  const infos = await Promise.all(shardsOf(store).map(infoOf));
  const numbers = (field: string): number[] => infos.map((info) => Number(info(field)));
  const sum = (field: string): number => numbers(field).reduce((total, one) => total + one, 0);
  const every = (field: string, value: string): boolean => infos.every((info) => info(field) === value);
  const limits = numbers('maxmemory');
  const ratios = numbers('used_memory').map((used, i) => used / (limits[i] as number));
  return {
    masters: infos.length,
    usedMemoryBytes: sum('used_memory'),
    memoryRatio: limits.every((limit) => limit > 0) ? Math.max(...ratios) : undefined,
    clients: sum('connected_clients'),
    commands: sum('total_commands_processed'),
    evictedKeys: sum('evicted_keys'),
    isAppendOnly: every('aof_enabled', '1'),
    isPersisting: every('aof_last_write_status', 'ok') && every('rdb_last_bgsave_status', 'ok'),
  };
}

async function infoOf(node: Redis): Promise<Info> {
  const text = await node.info();
  const fields = new Map(text.split('\r\n').map((line) => line.split(':', 2) as [string, string]));
  return (field) => fields.get(field) ?? '';
}
