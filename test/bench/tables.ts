import { LIMIT } from './contenders/bare.ts';
import type { Contender, Sample } from './contenders/contender.ts';
import type { StepResult } from './driver.ts';
import { PHASES, type Phase } from './phases.ts';
import type { QueuedRow } from './queued.ts';
import { fixed, millis, ratio, table, whole } from './report.ts';
import type { Results } from './rounds.ts';

/**
 * The ratio to the limit. A phase of single calls is compared with the bare server in the same phase, a phase of
 * messages with the bare server's POST.
 */
export function ofLimit(results: Results, name: string, phase: Phase): number | undefined {
  const rate = (sample: Sample) => sample.perSecond;
  const limitPhase = PHASES[phase].counts === 'requests' ? phase : 'send';
  return ratio(results.median(name, phase, rate), results.median(LIMIT, limitPhase, rate));
}

interface Column {
  head: string;
  /** The cell in the contender's first row. */
  whole: (name: string) => string;
  /** Instead: the figure of each step, one per row. */
  step?: keyof StepResult;
}

function columns(results: Results, phase: Phase): Column[] {
  const of = (value: (sample: Sample) => number | undefined) => (name: string) => results.median(name, phase, value);
  const perSecond = of((sample) => sample.perSecond);
  const requests = of((sample) => sample.http && sample.http.requests / sample.http.seconds);
  const command = of((sample) => sample.redisCommandMicros);
  const redisCpu = of((sample) => sample.redisCpuMicros);
  const serverCpu = of((sample) => sample.serverCpuMicros);
  const ofB = { head: 'of (b)', whole: (name: string) => fixed(ofLimit(results, name, phase), 2) };
  const rates =
    PHASES[phase].counts === 'messages'
      ? [
          { head: 'messages/s', whole: (name: string) => whole(perSecond(name)) },
          ofB,
          { head: 'requests/s', whole: (name: string) => whole(requests(name)) },
        ]
      : [{ head: 'requests/s', whole: (name: string) => whole(perSecond(name)) }, ofB];
  return [
    ...rates,
    { head: ' p50 ms', whole: () => '', step: 'p50Micros' },
    { head: ' p99 ms', whole: () => '', step: 'p99Micros' },
    { head: 'redis µs', whole: (name) => fixed(command(name), 1) },
    { head: 'redis cpu µs', whole: (name) => fixed(redisCpu(name), 1) },
    { head: 'server cpu µs', whole: (name) => fixed(serverCpu(name), 1) },
  ];
}

/** A row for each contender that ran the phase, and one more for each further step of its plan; '' where none did. */
export function phaseTable(results: Results, running: Contender[], phase: Phase): string {
  const list = columns(results, phase);
  const rows = running.flatMap(({ name }) => {
    const [sample] = results.of(name, phase);
    if (!sample) return [];
    const [first = '', ...more] = Object.keys(sample.http?.steps ?? {});
    const timed = (step: string, field: keyof StepResult) =>
      millis(results.median(name, phase, ({ http }) => http?.steps[step]?.[field]));
    const label = more.length > 0 ? `${name} (${first})` : name;
    return [
      [label, ...list.map((column) => (column.step ? timed(first, column.step) : column.whole(name)))],
      ...more.map((step) => [`  … ${step}`, ...list.map((column) => (column.step ? timed(step, column.step) : ''))]),
    ];
  });
  return rows.length > 0 ? table(PHASES[phase].title, ['', ...list.map(({ head }) => head)], rows) : '';
}

/** Redis µs of a message sent, received and completed; undefined if one of the two phases was not measured. */
export function queueMicros(results: Results, name: string): number | undefined {
  const micros = (phase: Phase) => results.median(name, phase, (sample) => sample.redisCommandMicros);
  const send = micros('send');
  const drain = micros('drain');
  return send === undefined || drain === undefined ? undefined : send + drain;
}

export function redisTable(results: Results, running: Contender[]): string {
  const rows = running
    .filter(({ phases }) => phases.includes('drain'))
    .map(({ name, probe }) => {
      const micros = (phase: Phase) =>
        fixed(
          results.median(name, phase, (sample) => sample.redisCommandMicros),
          1,
        );
      const sum = fixed(queueMicros(results, name), 1);
      return [name, micros('send'), micros('drain'), sum, micros('through'), probe.topLevel().join(' ')];
    });
  const title = 'Redis µs per message (INFO commandstats; the commands counted are those that clients issued)';
  return table(title, ['', 'send', 'drain', 'sum', 'through', 'commands'], rows);
}

export function queuedTable(list: QueuedRow[]): string {
  const rows = list.map((row) => [
    `${row.name}, ${whole(row.queued)} queued`,
    whole(row.bytesPerMessage),
    fixed(row.sendMicros, 1),
    fixed(row.drainMicros, 1),
  ]);
  return table('With messages queued', ['', 'bytes per message', 'redis µs per send', 'per recv + complete'], rows);
}
