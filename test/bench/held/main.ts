// npm run bench:held -- --help
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicros } from '../cpu.ts';
import { makeTenants } from '../idle/tenants.ts';
import { residentBytes } from '../memory.ts';
import { machine, start } from '../options.ts';
import { startRedis } from '../peers/stores/redis.ts';
import { fixed, quantile, table, whole } from '../report.ts';
import { MusterProcess } from '../servers/muster.ts';
import { Space } from './holders.ts';
import { type Options, readOptions } from './settings.ts';

/** How many held requests are started before a short pause. */
const atOnce = 100;
/** Longer than a receive is held, so that each has been answered and repeated. */
const settleMs = 31_000;
const restMs = 30_000;

const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

/** Held requests fail when the service stops. */
function failUnlessOver(error: unknown): void {
  if (cleanUps.length > 0) throw error;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(1);
}

/** Starts this many held requests, spread over the spaces. */
async function hold(spaces: readonly Space[], held: number): Promise<void> {
  for (let i = 0; i < held; i++) {
    const space = spaces[Math.floor(i / 3) % spaces.length] as Space;
    if (i % 3 === 0) await space.watch();
    else (i % 3 === 1 ? space.receive() : space.wait()).catch(failUnlessOver);
    if (i % atOnce === 0) await sleep(50);
  }
}

type Row = readonly [what: string, tookMs: readonly number[]];

/** The times from the send, or the end, of a message to the answers of the requests held for it. */
async function wake(spaces: readonly Space[], { wakes, held }: Options): Promise<Row[]> {
  const [received, ended, watched]: [number[], number[], number[]] = [[], [], []];
  const watchers = Math.floor(Math.ceil(held / 3) / spaces.length);
  for (let i = 0; i < wakes; i++) {
    const space = spaces[i % spaces.length] as Space;
    let begun = performance.now();
    const sent = await space.send('worked');
    await until(() => space.received.has(sent) && (space.watched.get(sent)?.length ?? 0) >= watchers);
    received.push((space.received.get(sent) ?? 0) - begun);
    watched.push(Math.max(0, ...(space.watched.get(sent) ?? [])) - begun);
    const awaited = space.awaited.pop();
    if (awaited === undefined) continue;
    begun = performance.now();
    await space.cancel(awaited);
    await until(() => space.ended.has(awaited));
    ended.push((space.ended.get(awaited) ?? 0) - begun);
  }
  return [
    ['a send, until one of the workers has the message', received],
    [`a send, until all ${watchers} watches of its space have the event`, watched],
    ['an end, until the wait for it is answered', ended],
  ];
}

async function bench(options: Options): Promise<void> {
  const { held, spaces: count } = options;
  try {
    const store = await startRedis();
    cleanUps.push(() => store.stop());
    const tenants = await makeTenants(store.address, count);
    const muster = await MusterProcess.start(store.address, 'api');
    cleanUps.push(() => muster.stop());
    const spaces = await Promise.all(tenants.map((tenant) => Space.create(tenant, muster.url)));
    const before = [residentBytes(muster.pid), residentBytes(store.pid)];
    await hold(spaces, held);
    await sleep(settleMs);
    const after = [residentBytes(muster.pid), residentBytes(store.pid)];
    const cpu = [cpuMicros(muster.pid), cpuMicros(store.pid)];
    await sleep(restMs);
    const used = [cpuMicros(muster.pid), cpuMicros(store.pid)].map((now, i) => (now - (cpu[i] ?? 0)) / restMs / 10);
    const [api = 0, redis = 0] = after.map((bytes, i) => (bytes - (before[i] ?? 0)) / held / 1000);
    console.log(
      `${whole(held)} requests held by one API process, a third each: receives, waits, watches; ${machine()}`,
    );
    const header = ['', 'kB a held request', '% of a core at rest'];
    console.log(
      table('memory and processor', header, [
        ['API', fixed(api, 1), fixed(used[0], 1)],
        ['Redis', fixed(redis, 1), fixed(used[1], 1)],
      ]),
    );
    const rows = (await wake(spaces, options)).map(([what, tookMs]) => [
      what,
      ...[0.5, 0.9, 0.99, 1].map((part) => fixed(quantile(tookMs, part), 1)),
    ]);
    console.log(table('wake-up, ms', ['', 'p50', 'p90', 'p99', 'most'], rows));
  } finally {
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
