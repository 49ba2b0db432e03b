import { LIMIT } from './contenders/bare.ts';
import { CALL_PHASES, PHASES } from './phases.ts';
import type { QueuedRow } from './queued.ts';
import { fixed, ratio, table, whole } from './report.ts';
import type { Results } from './rounds.ts';
import { ofLimit, queueMicros } from './tables.ts';

interface Goal {
  name: string;
  value: number | undefined;
  digits: number;
  /** `least`: value must reach the bound; `most`: must not pass it. */
  kind: 'least' | 'most';
  bound: number | undefined;
}

const OF_LIMIT = 0.7;
const GROWTH = 1.2;

function isMet({ value, kind, bound }: Goal): boolean | undefined {
  if (value === undefined || bound === undefined || Number.isNaN(value) || Number.isNaN(bound)) return undefined;
  return kind === 'least' ? value >= bound : value <= bound;
}

function speedGoals(results: Results): Goal[] {
  const rate = (name: string) => results.median(name, 'send', (sample) => sample.perSecond);
  const againstLimit = (['send', ...CALL_PHASES] as const).map((phase): Goal => {
    const name = `${PHASES[phase].title.split(':')[0]} against ${LIMIT.split(' ')[0]}`;
    const perRequest = PHASES[phase].counts === 'requests' ? ', per request' : '';
    const value = ofLimit(results, 'Muster', phase);
    return { name: name + perRequest, value, digits: 2, kind: 'least', bound: OF_LIMIT };
  });
  const againstAdd = ratio(rate('Muster'), rate('BullMQ, Koa'));
  const name = 'send against BullMQ add behind Koa';
  return [...againstLimit, { name, value: againstAdd, digits: 2, kind: 'least', bound: 1 }];
}

function redisGoals(results: Results): Goal[] {
  const value = queueMicros(results, 'Muster');
  const against = (what: string, name: string): Goal => ({
    name: `Redis µs, send + recv + complete, against ${what}`,
    value,
    digits: 1,
    kind: 'most',
    bound: queueMicros(results, name),
  });
  return [
    against('BullMQ behind Koa', 'BullMQ, Koa'),
    against('BullMQ keeping its jobs, in process', 'BullMQ, in process, kept'),
  ];
}

/** Compares batches of 50 with BullMQ's addBulk and worker, and with single calls. */
function batchGoals(results: Results): Goal[] {
  const rate = (name: string) => results.median(name, 'through', (sample) => sample.perSecond);
  const [batch, bulk, single] = ['Muster, batches of 50', 'BullMQ, in process, addBulk', 'Muster'].map(rate);
  const micros = ratio(
    queueMicros(results, 'Muster, batches of 50'),
    queueMicros(results, 'BullMQ, in process, addBulk'),
  );
  return [
    { name: 'batches, messages/s, against addBulk', value: ratio(batch, bulk), digits: 2, kind: 'least', bound: 1 },
    { name: 'batches, messages/s, against calls', value: ratio(batch, single), digits: 2, kind: 'least', bound: 4 },
    { name: 'batches, Redis µs, against addBulk', value: micros, digits: 2, kind: 'most', bound: 1.25 },
  ];
}

function growthGoals(queued: QueuedRow[], maxQueued: number): Goal[] {
  const growth = (what: string, cost: (row: QueuedRow) => number | undefined): Goal => {
    const [few, many] = queued.filter(({ name }) => name === 'Muster').map(cost);
    const name = `${what} at ${whole(maxQueued)} queued against 1,000`;
    return { name, value: ratio(many, few), digits: 2, kind: 'most', bound: GROWTH };
  };
  return [growth('send', (row) => row.sendMicros), growth('recv + complete', (row) => row.drainMicros)];
}

/** Each goal, its measured value, and whether it is met. maxQueued: the longer of the two queues. */
export function goalsTable(results: Results, queued: QueuedRow[], maxQueued: number): string {
  const rows = [
    ...speedGoals(results),
    ...redisGoals(results),
    ...batchGoals(results),
    ...growthGoals(queued, maxQueued),
  ].map((goal) => {
    const met = isMet(goal);
    return [
      goal.name,
      fixed(goal.value, goal.digits),
      `${goal.kind === 'least' ? '≥' : '≤'} ${fixed(goal.bound, goal.digits)}`,
      met === undefined ? 'not measured' : met ? 'met' : 'MISSED',
    ];
  });
  return table('Goals', ['goal', 'measured', 'wanted', ''], rows);
}
