// Arithmetic, no measurement: the resources that a load needs at the measured costs.
import type { Cost } from './cost.ts';

interface Load {
  operationsPerSecond: number;
  retentionDays: number;
  /** Memory of one shard that data may fill. */
  shardGib: number;
}

/** The planned maximum use of a core or a disk. The rest is for peaks, sweeps and rewrites. */
export const HEADROOM = 0.6;
/** The events of finished messages stay in the journal at least this long. */
const JOURNAL_DAYS = 30;
const REPLAY_DAYS = 2;
const DAY_SECONDS = 86_400;
const GIB = 2 ** 30;
/** How long events stay unpacked: SEAL_AFTER_SECONDS, and an hour in which others gather. */
const LIVE_EVENT_DAYS = 2 / 24;
/** How long finished messages stay unpacked if an unfinished one delays them as long as it can. */
const LIVE_MESSAGE_DAYS = 13 / 24;
/** Operations of a message's life, each with an event: send, recv, complete. */
export const LIFE = 3;

/** Bytes of memory, with all indexes. */
export interface Footprint {
  readonly event: number;
  readonly packedEvent: number;
  readonly message: number;
  readonly packedMessage: number;
}

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

export function needsOf(cost: Cost, footprint: Footprint, load: Load): Needs {
  const { operationsPerSecond, retentionDays, shardGib } = load;
  const perDay = operationsPerSecond * DAY_SECONDS;
  const gib = (bytes: number, days: number) => (bytes * perDay * days) / GIB;
  const perShard = (HEADROOM * 1e6) / cost.redisCpuMicros;
  const perProcess = (HEADROOM * 1e6) / cost.apiMicros;
  const { event, packedEvent, message, packedMessage } = footprint;
  const journalGib = gib(packedEvent, Math.max(retentionDays, JOURNAL_DAYS)) + gib(event, LIVE_EVENT_DAYS);
  const replayGib = gib(cost.replay, REPLAY_DAYS);
  const recordGib = gib(packedMessage / LIFE, retentionDays) + gib(message / LIFE, LIVE_MESSAGE_DAYS);
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

export interface PlanPart {
  readonly what: string;
  readonly count: number;
  readonly bytes: number;
}

const SCALE = { operations: 100_000_000, agents: 5_000, runs: 50_000, tasks: 500_000, retentionDays: 90 };
const MONTH_DAYS = 30;
/** How often the clients renew a lease of a minute. */
const RENEWAL_SECONDS = 20;
/** The highest backlog that one space may have. */
const BACKLOG = 1_000_000;

/** The records that one organization on the Scale plan keeps if it uses all of the plan's figures. */
export function scalePlan(costs: ReadonlyMap<string, Cost>, mix: Cost, footprint: Footprint): PlanPart[] {
  const { operations, agents, runs, tasks, retentionDays } = SCALE;
  const { event, packedEvent, message, packedMessage } = footprint;
  const perDay = operations / MONTH_DAYS;
  const kept = perDay * retentionDays;
  const left = (name: string) => {
    const { journal, record } = costs.get(name) ?? mix;
    return journal + record;
  };
  const renewals = (agents * DAY_SECONDS * REPLAY_DAYS) / RENEWAL_SECONDS;
  return [
    { what: `events of ${retentionDays} days, packed`, count: kept, bytes: packedEvent },
    { what: 'events not packed yet', count: perDay * LIVE_EVENT_DAYS, bytes: event },
    { what: `finished messages of ${retentionDays} days, packed`, count: kept / LIFE, bytes: packedMessage },
    { what: 'finished messages not packed yet', count: (perDay * LIVE_MESSAGE_DAYS) / LIFE, bytes: message },
    { what: 'replays of operations, two days', count: perDay * REPLAY_DAYS, bytes: mix.replay },
    {
      what: `replays of renewals, two days, one in ${RENEWAL_SECONDS} s`,
      count: renewals,
      bytes: costs.get('message.renew')?.replay ?? mix.replay,
    },
    { what: 'active tasks', count: tasks, bytes: left('task.submit') },
    { what: 'active runs', count: runs, bytes: left('group.create') },
    { what: 'a full backlog', count: BACKLOG, bytes: left('message.send') },
  ];
}
