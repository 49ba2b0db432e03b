import { fixed, table, whole } from '../report.ts';
import { COST_NAMES, type Cost } from './cost.ts';
import { HEADROOM, type Needs } from './plan.ts';
import { limitOf, type Step } from './simulate.ts';

/** Of every operation, as measured. */
export function costTable(costs: ReadonlyMap<string, Cost>): string {
  const header = ['', 'redis µs', 'redis cpu µs', 'api cpu µs', 'journal', 'replay', 'record', 'AOF'];
  const rows = [...costs].map(([name, cost]) => [
    name,
    ...COST_NAMES.map((column) => (column.endsWith('Micros') ? fixed(cost[column], 1) : whole(cost[column]))),
  ]);
  const title =
    'Measured, per call: µs of processor time; bytes of memory left behind in the journal, the replay record (24 h) and ' +
    'the records themselves; bytes of the append-only file; network bytes with headers';
  return table(title, [...header, 'redis in', 'redis out', 'http in', 'http out'], rows);
}

type Line = [label: string, value: (needs: Needs, load: number) => string];

/** What each load needs, by arithmetic from the costs. */
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
  return table(title, header, rows);
}

/** Every step of one simulation, and what ended it. */
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
