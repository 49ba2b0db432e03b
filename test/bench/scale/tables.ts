import { fixed, table, whole } from '../report.ts';
import { COST_NAMES, type Cost } from './cost.ts';
import { HEADROOM, type Needs, type PlanPart } from './plan.ts';
import { limitOf, type Step } from './simulate.ts';

const HEADS: Record<keyof Cost, string> = {
  redisMicros: 'redis µs',
  redisCpuMicros: 'redis cpu µs',
  apiMicros: 'api cpu µs',
  journal: 'journal',
  replay: 'replay',
  record: 'record',
  aof: 'AOF',
  redisIn: 'redis in',
  redisOut: 'redis out',
  httpIn: 'http in',
  httpOut: 'http out',
};
const LEFT_BEHIND = ['journal', 'replay', 'record', 'aof'];
const TITLES = {
  write:
    'Measured, per call: µs in Redis by its own clock, µs of processor time of Redis and of the API; bytes of memory left\n' +
    'behind in the journal, in the replay record (gone two days later) and in the records; bytes of the AOF; network bytes with headers',
  read: 'Measured, per read',
};

/** The measured costs of every operation. */
export function costTable(kind: 'write' | 'read', costs: ReadonlyMap<string, Cost>): string {
  const columns = COST_NAMES.filter((name) => kind === 'write' || !LEFT_BEHIND.includes(name));
  const rows = [...costs].map(([name, cost]) => [
    name,
    ...columns.map((column) => (column.endsWith('Micros') ? fixed(cost[column], 1) : whole(cost[column]))),
  ]);
  return table(TITLES[kind], ['', ...columns.map((column) => HEADS[column])], rows);
}

type Line = [label: string, value: (needs: Needs, load: number) => string];

/** The resources that each load needs, computed from the costs. */
export function needsTable(loads: number[], needs: Needs[], shardGib: number): string {
  const lines: Line[] = [
    ['operations a day, millions', ({ operationsPerDay }) => fixed(operationsPerDay / 1e6, 1)],
    ['share of one Redis core', ({ perShard }, load) => `${fixed((100 * load * HEADROOM) / perShard, 1)} %`],
    ['share of one API core', ({ perProcess }, load) => `${fixed((100 * load * HEADROOM) / perProcess, 1)} %`],
    ['journal GiB', ({ journalGib }) => fixed(journalGib, 1)],
    ['replay records GiB', ({ replayGib }) => fixed(replayGib, 1)],
    ['messages GiB', ({ recordGib }) => fixed(recordGib, 1)],
    ['memory GiB in all', ({ memoryGib }) => fixed(memoryGib, 1)],
    ['AOF GiB a day', ({ aofGibPerDay }) => fixed(aofGibPerDay, 1)],
    ['Redis network Mbit/s', ({ redisMbitPerSecond }) => fixed(redisMbitPerSecond, 1)],
    ['HTTP network Mbit/s', ({ httpMbitPerSecond }) => fixed(httpMbitPerSecond, 1)],
    ['shards by processor', ({ shardsByProcessor }) => whole(shardsByProcessor)],
    [`shards by memory, ${shardGib} GiB each`, ({ shardsByMemory }) => whole(shardsByMemory)],
    ['shards', ({ shards }) => whole(shards)],
    ['API processes', ({ processes }) => whole(processes)],
    [
      'organizations of this load on one shard',
      ({ perShard, memoryGib }, load) => {
        const fit = Math.floor(Math.min(perShard / load, shardGib / memoryGib));
        return fit > 0 ? whole(fit) : 'too large';
      },
    ],
  ];
  const title = `Arithmetic: loads of send, recv and complete in equal parts, of many organizations; cores used to ${100 * HEADROOM} %`;
  const header = ['', ...loads.map((load) => `${load.toLocaleString('en')} op/s`)];
  const rows = lines.map(([label, value]) => [label, ...needs.map((need, i) => value(need, loads[i] ?? 0))]);
  const [one] = needs;
  const carries = `one Redis core carries ${whole(one?.perShard)} op/s so, one API core ${whole(one?.perProcess)} op/s`;
  return `${table(title, header, rows)}\n${carries}`;
}

/** Every step of one simulation, and the limit that it reached. */
export function kneeTable(steps: Step[]): string {
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  const rows = steps.map((step) => [
    whole(step.offered),
    whole(step.done),
    fixed(step.p50Millis, 1),
    fixed(step.p99Millis, 1),
    percent(step.redis),
    step.api.map(percent).join(' + '),
    percent(step.drivers),
    percent(step.rest),
  ]);
  const [last] = steps.slice(-1);
  const title = `Simulated: one shard, ${last?.processes} API process(es), offered send, recv and complete in turn`;
  const header = ['offered op/s', 'done op/s', 'p50 ms', 'p99 ms', 'redis', 'api', 'load generator', 'idle or others'];
  return `${table(title, header, rows)}\nat its end: ${last ? limitOf(last) : '-'}`;
}

/** The memory of one organization on the Scale plan, in one shard. */
export function scalePlanTable(parts: readonly PlanPart[], shardGib: number): string {
  const gib = (bytes: number) => bytes / 2 ** 30;
  const rows = parts.map(({ what, count, bytes }) => [what, whole(count), whole(bytes), fixed(gib(count * bytes), 2)]);
  const sum = parts.reduce((total, { count, bytes }) => total + count * bytes, 0);
  return table(
    `Arithmetic: one organization on the Scale plan at its full figures, in one shard of ${shardGib} GiB`,
    ['', 'number', 'bytes each', 'GiB'],
    [...rows, ['in all', '', '', fixed(gib(sum), 1)]],
  );
}
