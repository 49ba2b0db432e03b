// One shard at an increasing offered load, with a given number of API processes, until it no longer keeps up.
import { cpuMicros } from '../cpu.ts';
import { Driver, type JobResult, type Plan } from '../driver.ts';

export interface Step {
  processes: number;
  /** Operations a second: send, recv and complete count one each. */
  offered: number;
  done: number;
  p50Millis: number;
  p99Millis: number;
  /** Shares of a core. */
  redis: number;
  api: number[];
  drivers: number;
  /** Idle, or used by others. */
  rest: number;
}

interface Shard {
  redisPid: number;
  /** A simulation of n processes uses the first n of these. */
  apis: readonly { url: string; pid: number }[];
  headers: Record<string, string>;
  plans: readonly Plan[];
}

const KEEPS_UP = 0.9;
const PATIENCE_MILLIS = 1_000;
/** Of a core: a process never gets all of it. */
const FULL = 0.85;

interface Settings {
  seconds: number;
  connections: number;
  /** Offered first; each step offers half as much again. */
  from: number;
  cores: number;
}

const GROWTH = 1.5;

/** Raises the load until less than 90 % of the offered operations are done, or the p99 is over a second. */
export async function findKnee(shard: Shard, processes: number, settings: Settings): Promise<Step[]> {
  const drivers = shard.apis.slice(0, processes).map((api) => ({ api, driver: new Driver() }));
  const steps: Step[] = [];
  try {
    await measure(shard, drivers, settings.from, settings);
    for (let offered = settings.from; ; offered = Math.round(offered * GROWTH)) {
      const step = await measure(shard, drivers, offered, settings);
      steps.push(step);
      if (step.done < KEEPS_UP * offered || step.p99Millis > PATIENCE_MILLIS) return steps;
    }
  } finally {
    for (const { driver } of drivers) driver.stop();
  }
}

type Driven = { api: Shard['apis'][number]; driver: Driver }[];

async function measure(shard: Shard, drivers: Driven, offered: number, settings: Settings): Promise<Step> {
  const { seconds, connections, cores } = settings;
  const pids = drivers.map(({ api }) => api.pid);
  const before = { redis: cpuMicros(shard.redisPid), api: pids.map(cpuMicros) };
  const results = await Promise.all(
    drivers.map(({ api, driver }) =>
      driver.run({
        url: api.url,
        plans: shard.plans,
        headers: shard.headers,
        connections: Math.ceil(connections / drivers.length),
        seconds,
        requestsPerSecond: Math.round(offered / drivers.length),
      }),
    ),
  );
  const share = (micros: number) => micros / 1e6 / seconds;
  const redis = share(cpuMicros(shard.redisPid) - before.redis);
  const api = pids.map((pid, i) => share(cpuMicros(pid) - (before.api[i] ?? 0)));
  const used = results.reduce((sum, one) => sum + one.driverMicrosPerRequest * one.requests, 0);
  const all = results.flatMap((result) => Object.values(result.steps));
  const worst = (of: 'p50Micros' | 'p99Micros') => Math.max(...all.map((step) => step[of])) / 1000;
  return {
    processes: drivers.length,
    offered,
    done: results.reduce((sum, result) => sum + successes(result) / result.seconds, 0),
    p50Millis: worst('p50Micros'),
    p99Millis: worst('p99Micros'),
    redis,
    api,
    drivers: share(used),
    rest: Math.max(0, cores - redis - api.reduce((sum, one) => sum + one, 0) - share(used)),
  };
}

/** An empty answer to recv is work done too. */
function successes(result: JobResult): number {
  const refused = Object.entries(result.refused).filter(([status]) => status !== '204');
  return result.requests - refused.reduce((sum, [, times]) => sum + times, 0);
}

/** The resource that was exhausted in the last step. */
export function limitOf(step: Step): string {
  const full = [
    ...(step.redis > FULL ? ['Redis'] : []),
    ...(step.api.some((share) => share > FULL) ? ['the API processes'] : []),
    ...(step.drivers / step.processes > FULL ? ['the load generator'] : []),
  ];
  if (full.length > 0) return `${full.join(' and ')}, at a full core`;
  const inAll = step.redis + step.drivers + step.api.reduce((sum, one) => sum + one, 0);
  return `the machine: nobody had a full core, and all of them together ${Math.round(100 * inAll)} % of one`;
}
