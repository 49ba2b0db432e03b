// npm run bench:endurance -- --help
import { setTimeout as sleep } from 'node:timers/promises';
import { Lab } from '../../fault/lab.ts';
import { onceSettled } from '../../fault/verify.ts';
import { Workload } from '../../fault/workload.ts';
import { expectAgreement } from '../../support/agree.ts';
import type { World } from '../../support/world.ts';
import { residentBytes } from '../memory.ts';
import { machine, start } from '../options.ts';
import { fixed, median, quantile, ratio, table, whole } from '../report.ts';
import { Generations } from './generations.ts';
import { PacedCaller } from './paced-caller.ts';
import { type Options, readOptions } from './settings.ts';

const MB = 1_000_000;
const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

/** The figures of one minute. */
interface Minute {
  readonly calls: number;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  readonly most: number | undefined;
  readonly api: number;
  readonly worker: number;
  readonly redis: number;
  readonly stored: number;
  readonly aof: number;
  readonly logged: number;
}

async function minuteOf(lab: Lab, tookMs: readonly number[]): Promise<Minute> {
  const info = await lab.redis.link.info();
  const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  const processes = [...lab.apis, ...(lab.worker ? [lab.worker] : [])];
  return {
    calls: tookMs.length,
    p50: quantile(tookMs, 0.5),
    p99: quantile(tookMs, 0.99),
    most: quantile(tookMs, 1),
    api: Math.max(...lab.apis.map(({ pid }) => residentBytes(pid))),
    worker: residentBytes(lab.worker?.pid ?? 0),
    redis: residentBytes(lab.redis.pid),
    stored: figure('used_memory'),
    aof: figure('aof_current_size'),
    logged: processes.reduce((sum, { stderr }) => sum + stderr.length, 0),
  };
}

const rowOf = (name: string, minute: Minute): string[] => [
  name,
  whole(minute.calls),
  ...[minute.p50, minute.p99, minute.most].map((ms) => fixed(ms, 1)),
  ...[minute.api, minute.worker, minute.redis, minute.stored, minute.aof].map((bytes) => fixed(bytes / MB, 1)),
  whole(minute.logged),
];

const header = ['minute', 'calls', 'p50', 'p99', 'most', 'API', 'worker', 'Redis', 'stored', 'log', 'said'];

/** How the last tenth compares with the second one: by then caches are full and code is compiled. */
function drift(minutes: readonly Minute[]): string {
  const tenth = Math.max(1, Math.floor(minutes.length / 10));
  const [early, late] = [minutes.slice(tenth, 2 * tenth), minutes.slice(-tenth)];
  const change = (of: (minute: Minute) => number | undefined): string => {
    const [before, after] = [early, late].map((some) => median(some.map((minute) => of(minute) ?? Number.NaN)));
    return fixed(ratio(after, before), 2);
  };
  const calls = minutes.reduce((sum, minute) => sum + minute.calls, 0);
  const perCall = ((minutes.at(-1)?.stored ?? 0) - (minutes[0]?.stored ?? 0)) / calls;
  return (
    `The last tenth against the second: p50 × ${change(({ p50 }) => p50)}, p99 × ${change(({ p99 }) => p99)}, ` +
    `API × ${change(({ api }) => api)}, worker × ${change(({ worker }) => worker)}. ` +
    `Stored: ${whole(perCall)} bytes a call more, of what is retained.`
  );
}

/** Recounts every space. A worker would go on packing the records that are being counted. */
async function recounted(lab: Lab, worlds: readonly World[]): Promise<string> {
  await lab.worker?.end('SIGTERM');
  const begun = performance.now();
  let records = 0;
  for (const world of worlds) records += await expectAgreement(world);
  const seconds = (performance.now() - begun) / 1000;
  return `Every counter agrees with the records: ${whole(records)} were counted in ${fixed(seconds, 1)} s.`;
}

async function bench(options: Options): Promise<void> {
  // Most finished records should be packed during the run.
  process.env['SEAL_AFTER_SECONDS'] = '60';
  try {
    const lab = await Lab.opened({ appendfsync: 'everysec' });
    cleanUps.push(() => lab.stop());
    await lab.admit();
    const caller = new PacedCaller(() => lab.urls());
    cleanUps.push(() => caller.close());
    const loads = new Generations((seed) => {
      const load = new Workload(caller, lab.tenants, seed);
      load.start(options.clients);
      return load;
    });
    await sleep(options.warm * 1000);
    caller.take();
    await sleep(options.warm * 1000);
    const full = caller.take().length / options.warm;
    caller.pace((full * options.load) / 100);
    console.log(
      `${whole(full)} calls/s at full load; ${options.load} % of them for ${options.minutes} min; ${machine()}`,
    );
    const minutes: Minute[] = [];
    for (let minute = 1; minute <= options.minutes; minute++) {
      await sleep(60_000);
      minutes.push(await minuteOf(lab, caller.take()));
      console.error(rowOf(String(minute), minutes.at(-1) as Minute).join('  '));
      if (minute < options.minutes) loads.next();
    }
    const shown = minutes.flatMap((minute, at) => {
      const isShown = at % Math.ceil(minutes.length / 24) === 0 || at === minutes.length - 1;
      return isShown ? [rowOf(String(at + 1), minute)] : [];
    });
    console.log(
      table('calls in a minute, ms of a call, MB of memory, MB of the log of Redis, bytes said', header, shown),
    );
    console.log(`\n${drift(minutes)}`);
    // Queues are emptied at full speed.
    caller.pace(Number.POSITIVE_INFINITY);
    const last = await loads.last();
    console.log(await onceSettled(lab, last, (worlds) => recounted(lab, worlds)));
    const unexpected = [...loads.unexpected, ...last.unexpected];
    if (unexpected.length > 0) throw new Error(`not explained: ${unexpected.slice(0, 3).join('; ')}`);
  } finally {
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
