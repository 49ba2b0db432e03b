// npm run bench:idle -- --help
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { cpuMicros } from '../cpu.ts';
import { machine, start } from '../options.ts';
import { startRedis } from '../peers/stores/redis.ts';
import type { Store } from '../peers/stores/store.ts';
import { fixed, quantile, table, whole } from '../report.ts';
import { MusterProcess } from '../servers/muster.ts';
import { type Options, readOptions } from './settings.ts';
import { forEach, makeTenants, type Tenant } from './tenants.ts';

/** By then, all work that follows a start or a change is done. */
const SETTLE_MS = 40_000;
/** The time from the first send until a timer may be due. */
const LEAD_MS = 20_000;
/** Organizations over which the timers are spread. */
const ORGANIZATIONS_WITH_TIMERS = 100;

const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

async function logBytes(redis: Redis): Promise<number> {
  return Number(/^aof_current_size:(\d+)/m.exec(await redis.info('persistence'))?.[1]);
}

/** Measures the costs of a service at rest: a row of the table. */
async function rest(what: string, seconds: number, store: Store, muster: MusterProcess, redis: Redis) {
  console.error(what);
  await sleep(SETTLE_MS);
  const read = async () => [await logBytes(redis), cpuMicros(muster.pid), cpuMicros(store.pid)];
  const begun = performance.now();
  const before = await read();
  await sleep(seconds * 1000);
  const after = await read();
  const took = (performance.now() - begun) / 1000;
  const [bytes = 0, api = 0, server = 0] = after.map((value, i) => (value - (before[i] ?? 0)) / took);
  return [what, whole(bytes), fixed(api / 10_000, 2), fixed(server / 10_000, 2)];
}

/** How late messages with random deadlines expire, by the store's clock. */
async function lateness(tenants: readonly Tenant[], url: string, { timers, seconds }: Options): Promise<number[]> {
  console.error('timers');
  const some = tenants.slice(0, ORGANIZATIONS_WITH_TIMERS);
  const mailboxes = new Map<Tenant, string>();
  await forEach(some, async (tenant) => {
    mailboxes.set(tenant, (await tenant.call(url, '/mailboxes', { name: 'timers' })).id);
  });
  const deadlines = new Map<string, number>();
  const begin = Date.now() + LEAD_MS;
  await forEach(Array.from({ length: timers }), async (_, n) => {
    const tenant = some[n % some.length] as Tenant;
    const deadline = Math.round(begin + Math.random() * seconds * 1000);
    const body = { scopeId: randomUUID(), payload: 1, deadline: new Date(deadline).toISOString() };
    const { id } = await tenant.call(url, `/mailboxes/${mailboxes.get(tenant)}/messages`, body);
    deadlines.set(id, deadline);
  });
  if (Date.now() > begin) console.log('the timers took long to arm: some were due before the last was there');
  await sleep(begin + seconds * 1000 + SETTLE_MS - Date.now());
  const late: number[] = [];
  await forEach(some, async (tenant) => {
    const { events } = await tenant.call(url, '/events?limit=500');
    for (const { type, aggregateId, occurredAt } of events)
      if (type === 'message.expired') late.push(Date.parse(occurredAt) - (deadlines.get(aggregateId) ?? 0));
  });
  if (late.length !== timers) throw new Error(`${late.length} of ${timers} messages have expired`);
  return late;
}

async function bench(options: Options): Promise<void> {
  const { organizations, seconds, watches, only } = options;
  try {
    const store = await startRedis();
    cleanUps.push(() => store.stop());
    const tenants = await makeTenants(store.address, organizations);
    process.env['WEBHOOK_ALLOW_PRIVATE'] = 'true';
    const muster = await MusterProcess.start(store.address);
    cleanUps.push(() => muster.stop());
    const redis = new Redis({ path: store.address });
    cleanUps.push(() => redis.disconnect());
    const { url } = muster;
    const rows: string[][] = [];
    const measure = async (what: string) => rows.push(await rest(what, seconds, store, muster, redis));
    if (only.includes('nothing')) await measure('nothing to do');
    if (only.includes('destinations')) {
      const body = { url: 'http://127.0.0.1:9/', eventTypes: ['budget.*'] };
      await forEach(tenants, (tenant) => tenant.call(url, '/destinations', body));
      await measure('and a webhook destination in each');
    }
    if (only.includes('watches')) {
      await forEach(Array.from({ length: watches }), (_, n) => (tenants[n % organizations] as Tenant).watch(url));
      await measure(`and ${watches} watches held`);
    }
    console.log(`${whole(organizations)} organizations, ${seconds} s at rest; ${machine()}`);
    const header = ['', 'log, bytes/s', 'API and worker, % of a core', 'Redis, % of a core'];
    if (rows.length > 0) console.log(table('at rest', header, rows));
    if (!only.includes('timers')) return;
    const late = await lateness(tenants, url, options);
    const share = (part: number) => whole(quantile(late, part));
    const title = `${whole(late.length)} timers at random moments within ${seconds} s, ms late`;
    console.log(table(title, ['', 'p50', 'p99', 'most'], [['', share(0.5), share(0.99), share(1)]]));
  } finally {
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
