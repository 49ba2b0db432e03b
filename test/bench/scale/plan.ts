// Arithmetic, no measurement: what the measured costs mean for a load.
import type { Cost } from './cost.ts';

interface Load {
  operationsPerSecond: number;
  retentionDays: number;
  /** Memory of one shard that data may fill. */
  shardGib: number;
}

/** What a core or a disk is planned to be used at the most: the rest is for peaks, sweeps and rewrites. */
export const HEADROOM = 0.6;
/** What finished messages leave in the journal stays at least so long. */
const JOURNAL_DAYS = 30;
const REPLAY_DAYS = 2;
const DAY_SECONDS = 86_400;
const GIB = 2 ** 30;

export interface Needs {
  perShard: number;
  perProcess: number;
  operationsPerDay: number;
  journalGib: number;
  replayGib: number;
  recordGib: number;
  memoryGib: number;
  shardsByProcessor: number;
  shardsByMemory: number;
  shards: number;
  processes: number;
  aofGibPerDay: number;
  redisMbitPerSecond: number;
  httpMbitPerSecond: number;
}

/** The mean of several costs, as of a message's three calls. */
export function meanCost(costs: Cost[]): Cost {
  const sum = (name: keyof Cost) => costs.reduce((total, cost) => total + cost[name], 0) / costs.length;
  const names = Object.keys(costs[0] ?? {}) as (keyof Cost)[];
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as unknown as Cost;
}

export function needsOf(cost: Cost, load: Load): Needs {
  const { operationsPerSecond, retentionDays, shardGib } = load;
  const perDay = operationsPerSecond * DAY_SECONDS;
  const gib = (bytes: number, days: number) => (bytes * perDay * days) / GIB;
  const perShard = (HEADROOM * 1e6) / cost.redisCpuMicros;
  const perProcess = (HEADROOM * 1e6) / cost.apiMicros;
  const journalGib = gib(cost.journal, Math.max(retentionDays, JOURNAL_DAYS));
  const replayGib = gib(cost.replay, REPLAY_DAYS);
  const recordGib = gib(cost.record, retentionDays);
  const memoryGib = journalGib + replayGib + recordGib;
  const shardsByProcessor = Math.ceil(operationsPerSecond / perShard);
  const shardsByMemory = Math.ceil(memoryGib / shardGib);
  const mbit = (bytes: number) => (bytes * operationsPerSecond * 8) / 1e6;
  return {
    perShard,
    perProcess,
    operationsPerDay: perDay,
    journalGib,
    replayGib,
    recordGib,
    memoryGib,
    shardsByProcessor,
    shardsByMemory,
    shards: Math.max(shardsByProcessor, shardsByMemory),
    processes: Math.ceil(operationsPerSecond / perProcess),
    aofGibPerDay: gib(cost.aof, 1),
    redisMbitPerSecond: mbit(cost.redisIn + cost.redisOut),
    httpMbitPerSecond: mbit(cost.httpIn + cost.httpOut),
  };
}
