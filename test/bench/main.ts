// npm run bench -- [--rounds 3] [--seconds 3] [--connections 50] [--spaces 16] [--queued 1000000] [--only muster,bare-koa]
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { CONTENDERS, type Contender, type Sample, type Settings, stopAll } from './contenders.ts';
import { Driver, type Plan, type Step } from './driver.ts';
import { bullmqQueued, musterQueued, type QueuedRow } from './queued.ts';
import { fixed, goals, median, millis, table, whole } from './report.ts';

const PHASES: Record<Plan, string> = {
  send: 'send: one POST per message; BullMQ: add, its worker held still',
  drain: 'drain: recv, then complete, over what was sent; BullMQ: its worker, released (no HTTP)',
  through: 'through: send, recv and complete in turn on each connection; BullMQ: add while its worker runs',
};
const QUEUED = 'queued';
const FEWEST_ROUNDS = 3;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '50' },
    spaces: { type: 'string', default: '16' },
    queued: { type: 'string', default: '1000000' },
    only: { type: 'string', default: [...Object.keys(CONTENDERS), QUEUED].join(',') },
  },
});
const number = (name: 'rounds' | 'seconds' | 'connections' | 'spaces' | 'queued', least: number) => {
  const value = Number(values[name]);
  if (!(value >= least)) throw new Error(`--${name} must be a number of at least ${least}, not "${values[name]}"`);
  return value;
};
const rounds = number('rounds', 1);
const many = number('queued', 0);
const only = values.only.split(',');
for (const name of only) {
  if (name !== QUEUED && !(name in CONTENDERS)) {
    throw new Error(`--only knows ${Object.keys(CONTENDERS).join(', ')} and ${QUEUED}, not "${name}"`);
  }
}

const driver = new Driver();
const settings: Settings = {
  driver,
  connections: number('connections', 1),
  spaces: number('spaces', 1),
  seconds: number('seconds', 0.5),
};
const failures: string[] = [];
const samples = new Map<string, Sample[]>();
const keyOf = (name: string, phase: Plan) => `${name}/${phase}`;

async function attempt<T>(what: string, action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    failures.push(`${what}: not measured: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function start(name: string): Promise<Contender | undefined> {
  const contender = CONTENDERS[name]?.(settings);
  if (!contender) return undefined;
  const started = await attempt(contender.name, async () => {
    await contender.start();
    await contender.warmUp();
    return contender;
  });
  if (!started) await contender.stop();
  return started;
}

/** Every contender in every round, each round beginning with another one, so that the machine's moods fall on all alike. */
async function runRounds(running: Contender[]): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`);
    const order = [...running.slice(round % running.length), ...running.slice(0, round % running.length)];
    for (const phase of Object.keys(PHASES) as Plan[]) {
      for (const contender of order) {
        if (!contender.phases.includes(phase)) continue;
        const sample = await attempt(`${contender.name}, ${phase}`, () => contender.run(phase));
        if (!sample) continue;
        const key = keyOf(contender.name, phase);
        samples.set(key, [...(samples.get(key) ?? []), sample]);
        const refused = Object.entries(sample.http?.refused ?? {}).filter(([status]) => status !== '204');
        for (const [status, count] of refused) failures.push(`${contender.name}, ${phase}: ${count} answers ${status}`);
      }
    }
  }
}

function medianOf(name: string, phase: Plan, value: (sample: Sample) => number | undefined): number | undefined {
  const list = (samples.get(keyOf(name, phase)) ?? []).map(value).filter((v) => v !== undefined);
  return list.length > 0 ? median(list) : undefined;
}

function ratio(above: number | undefined, below: number | undefined): number | undefined {
  return above === undefined || below === undefined ? undefined : above / below;
}

function phaseTable(running: Contender[], phase: Plan): string {
  const header = [
    '',
    'messages/s',
    'of (b)',
    'requests/s',
    ' p50 ms',
    ' p99 ms',
    'redis µs',
    'redis cpu µs',
    'server cpu µs',
  ];
  const bare = medianOf('(b) Koa', 'send', (sample) => sample.perSecond);
  const rows = running
    .filter(({ name }) => samples.has(keyOf(name, phase)))
    .flatMap(({ name }) => {
      const of = (value: (sample: Sample) => number | undefined) => medianOf(name, phase, value);
      const rate = of((sample) => sample.perSecond);
      const step = (which: Step, percentile: 'p50Micros' | 'p99Micros') =>
        millis(of((sample) => sample.http?.steps[which]?.[percentile]));
      const steps = Object.keys(samples.get(keyOf(name, phase))?.[0]?.http?.steps ?? {}) as Step[];
      const [first = 'send', ...more] = steps;
      return [
        [
          steps.length > 1 ? `${name} (${first})` : name,
          whole(rate),
          fixed(ratio(rate, bare), 2),
          whole(of((sample) => sample.http && sample.http.requests / sample.http.seconds)),
          step(first, 'p50Micros'),
          step(first, 'p99Micros'),
          fixed(
            of((sample) => sample.redisCommandMicros),
            1,
          ),
          fixed(
            of((sample) => sample.redisCpuMicros),
            1,
          ),
          fixed(
            of((sample) => sample.serverCpuMicros),
            1,
          ),
        ],
        ...more.map((which) => [
          `  … ${which}`,
          '',
          '',
          '',
          step(which, 'p50Micros'),
          step(which, 'p99Micros'),
          '',
          '',
          '',
        ]),
      ];
    });
  return rows.length > 0 ? table(PHASES[phase], header, rows) : '';
}

function redisTable(running: Contender[]): string {
  const redis = (name: string, phase: Plan) => medianOf(name, phase, (sample) => sample.redisCommandMicros);
  const rows = running
    .filter(({ phases }) => phases.includes('drain'))
    .map(({ name, probe }) => {
      const send = redis(name, 'send');
      const drain = redis(name, 'drain');
      const sum = send === undefined || drain === undefined ? undefined : send + drain;
      return [
        name,
        fixed(send, 1),
        fixed(drain, 1),
        fixed(sum, 1),
        fixed(redis(name, 'through'), 1),
        probe.topLevel().join(' '),
      ];
    });
  const title = 'Redis µs per message (INFO commandstats; the commands counted are those that clients issued)';
  return table(title, ['', 'send', 'drain', 'sum', 'through', 'commands'], rows);
}

function queuedTable(list: QueuedRow[]): string {
  const rows = list.map((row) => [
    `${row.name}, ${whole(row.queued)} queued`,
    whole(row.bytesPerMessage),
    fixed(row.sendMicros, 1),
    fixed(row.drainMicros, 1),
  ]);
  return table('With messages queued', ['', 'bytes per message', 'redis µs per send', 'per recv + complete'], rows);
}

function printGoals(queued: QueuedRow[]): void {
  const rate = (name: string) => medianOf(name, 'send', (sample) => sample.perSecond);
  const redis = (name: string) => {
    const [send, drain] = (['send', 'drain'] as const).map((phase) =>
      medianOf(name, phase, (s) => s.redisCommandMicros),
    );
    return send === undefined || drain === undefined ? undefined : send + drain;
  };
  const growth = (cost: (row: QueuedRow) => number | undefined) => {
    const [few, most] = queued.filter(({ name }) => name === 'Muster').map(cost);
    return ratio(most, few);
  };
  const kept = 'Redis µs, send + recv + complete, against BullMQ keeping its jobs, in process';
  console.log(
    goals([
      { name: 'send against (b)', value: ratio(rate('Muster'), rate('(b) Koa')), digits: 2, kind: 'least', bound: 0.7 },
      {
        name: 'send against BullMQ add behind Koa',
        value: ratio(rate('Muster'), rate('BullMQ, Koa')),
        digits: 2,
        kind: 'least',
        bound: 1,
      },
      {
        name: 'Redis µs, send + recv + complete, against BullMQ behind Koa',
        value: redis('Muster'),
        digits: 1,
        kind: 'most',
        bound: redis('BullMQ, Koa'),
      },
      { name: kept, value: redis('Muster'), digits: 1, kind: 'most', bound: redis('BullMQ, in process, kept') },
      {
        name: `send at ${whole(many)} queued against 1,000`,
        value: growth((row) => row.sendMicros),
        digits: 2,
        kind: 'most',
        bound: 1.2,
      },
      {
        name: `recv + complete at ${whole(many)} queued against 1,000`,
        value: growth((row) => row.drainMicros),
        digits: 2,
        kind: 'most',
        bound: 1.2,
      },
    ]),
  );
}

process.once('SIGINT', () => {
  void stopAll().finally(() => process.exit(130));
});

const running: Contender[] = [];
try {
  for (const name of Object.keys(CONTENDERS)) {
    if (!only.includes(name)) continue;
    const contender = await start(name);
    if (contender) running.push(contender);
  }
  if (running.length > 0) await runRounds(running);

  console.log(
    `${rounds} rounds of ${settings.seconds} s, ${settings.connections} connections, ${settings.spaces} spaces; medians; ` +
      `node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
  );
  if (rounds < FEWEST_ROUNDS) console.log(`fewer than ${FEWEST_ROUNDS} rounds: a trial, not a result`);
  for (const phase of Object.keys(PHASES) as Plan[]) console.log(phaseTable(running, phase));
  const driverMicros = [...samples.values()].flat().flatMap(({ http }) => http?.driverMicrosPerRequest ?? []);
  if (driverMicros.length > 0)
    console.log(`\nautocannon itself: ${fixed(median(driverMicros), 1)} µs of processor per request`);
  console.log(redisTable(running));
} finally {
  await stopAll();
}

const queued: QueuedRow[] = [];
if (only.includes(QUEUED)) {
  if (only.some((name) => name.startsWith('bullmq'))) {
    queued.push(...((await attempt('BullMQ, queued', () => bullmqQueued(settings, many))) ?? []));
  }
  if (only.includes('muster')) {
    queued.push(...((await attempt('Muster, queued', () => musterQueued(settings, many))) ?? []));
  }
  if (queued.length > 0) console.log(queuedTable(queued));
}
printGoals(queued);
driver.stop();
if (failures.length > 0) {
  console.log(`\n${failures.join('\n')}`);
  process.exitCode = 1;
}
