import type { Redis } from 'ioredis';
import { type Store, shardsOf } from '../redis/cluster.ts';

/** What the store says of itself; of a cluster, summed over its masters. */
export interface StoreState {
  readonly masters: number;
  readonly usedMemoryBytes: number;
  /** Of the fullest master; undefined where no limit is set. */
  readonly memoryRatio: number | undefined;
  readonly clients: number;
  readonly commands: number;
  readonly evictedKeys: number;
  readonly isAppendOnly: boolean;
  /** Whether the last writes to disk succeeded. */
  readonly isPersisting: boolean;
}

type Info = (field: string) => string;

/** Rejects when the store is away, and where the server does not tell: a managed one may forbid INFO. */
export async function readStoreState(store: Store): Promise<StoreState> {
  const told = await Promise.all(shardsOf(store).map(infoOf));
  const numbers = (field: string): number[] => told.map((info) => Number(info(field)));
  const sum = (field: string): number => numbers(field).reduce((total, one) => total + one, 0);
  const every = (field: string, value: string): boolean => told.every((info) => info(field) === value);
  const limits = numbers('maxmemory');
  const ratios = numbers('used_memory').map((used, i) => used / (limits[i] as number));
  return {
    masters: told.length,
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
