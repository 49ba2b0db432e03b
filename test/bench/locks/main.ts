// npm run bench:locks -- --help
import { randomUUID } from 'node:crypto';
import { createMuster } from '../../../src/clients/typescript/index.ts';
import { Driver, type Plan } from '../driver.ts';
import { makeTenants } from '../idle/tenants.ts';
import { machine, start } from '../options.ts';
import { startRedis } from '../peers/stores/redis.ts';
import { fixed, median, quantile, table } from '../report.ts';
import { ForkedServer } from '../servers/fork.ts';
import { MusterProcess } from '../servers/muster.ts';
import { type Options, readOptions } from './settings.ts';

const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

/** One side of the comparison, which takes and releases free locks. */
interface Side {
  readonly name: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  /** A plan for each connection, with a new lock: an earlier one may still be held from the round before. */
  plans(): Promise<readonly Plan[]>;
}

type Client = ReturnType<typeof createMuster>;

function musterSide(url: string, muster: Client, access: { spaceId: string; key: string }, connections: number): Side {
  const space = `/v1/spaces/${access.spaceId}`;
  const body = JSON.stringify({ scopeId: randomUUID(), holder: 'bench', ttlSeconds: 0 });
  const keep = { hold: 'id', token: 'token' };
  return {
    name: 'Muster',
    url,
    headers: { authorization: `Bearer ${access.key}` },
    async plans() {
      const pools = Array.from({ length: connections }, () => muster.pool.create({ name: randomUUID(), units: 1 }));
      return (await Promise.all(pools)).map(
        ({ id }): Plan => [
          { name: 'acquire', path: `${space}/pools/${id}/acquire`, body, keyed: true, keep },
          { name: 'release', path: `${space}/pool-holds/<hold>/release`, body: '{"token":"<token>"}', keyed: false },
        ],
      );
    },
  };
}

async function redlockSide(address: string, connections: number): Promise<Side> {
  const server = await ForkedServer.start('servers/redlock-koa.ts', { BENCH_REDIS_SOCKET: address });
  cleanUps.push(() => server.stop());
  const plan = (name: string): Plan => [
    { name: 'acquire', path: `/acquire/${name}`, body: '{}', keyed: false, keep: { token: 'token' } },
    { name: 'release', path: `/release/${name}/<token>`, body: '{}', keyed: false },
  ];
  return {
    name: 'Redlock, one Redis, bare Koa',
    url: server.url,
    headers: {},
    plans: async () => Array.from({ length: connections }, () => plan(randomUUID())),
  };
}

/**
 * For each hold that waits for one pool: the milliseconds from the start of the release before it to the answer that it
 * is HELD.
 */
async function handOvers(muster: Client, waiters: number): Promise<number[]> {
  const pool = await muster.pool.create({ name: randomUUID(), units: 1 });
  const scopeId = randomUUID();
  const acquire = () =>
    muster.pool.acquire({ poolId: pool.id, scopeId, holder: randomUUID(), ttlSeconds: 3600, leaseSeconds: 600 });
  const holds = [];
  for (let i = 0; i <= waiters; i++) holds.push(await acquire());
  const held = holds.slice(1).map(async ({ id }) => {
    for (;;) {
      const { state } = await muster.hold.view({ holdId: id, waitSeconds: 30 });
      if (state === 'HELD') return performance.now();
    }
  });
  const took: number[] = [];
  for (const [i, next] of held.entries()) {
    const { id, token } = holds[i] as (typeof holds)[number];
    const begun = performance.now();
    await muster.hold.release({ holdId: id, token });
    took.push((await next) - begun);
  }
  return took;
}

async function bench({ rounds, seconds, connections, waiters }: Options): Promise<void> {
  const driver = new Driver();
  try {
    const store = await startRedis();
    cleanUps.push(() => store.stop());
    const [tenant] = await makeTenants(store.address, 1);
    if (!tenant) throw new Error('no organization was made');
    const server = await MusterProcess.start(store.address);
    cleanUps.push(() => server.stop());
    const muster = createMuster({ url: server.url, ...tenant.access });
    const sides: Side[] = [
      await redlockSide(store.address, connections),
      musterSide(server.url, muster, tenant.access, connections),
    ];
    const found = new Map<string, number[]>(sides.map(({ name }) => [name, []]));
    const waits: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const { name, url, headers, plans } of sides) {
        const job = { url, headers, plans: await plans(), connections, seconds };
        const { laps, seconds: took, refused } = await driver.run(job);
        if (Object.keys(refused).length > 0) console.log(`${name} refused ${JSON.stringify(refused)}`);
        found.get(name)?.push(laps / took);
      }
      waits.push(...(await handOvers(muster, waiters)));
    }
    const limit = median(found.get(sides[0]?.name ?? '') ?? []);
    const rows = [...found].map(([name, all]) => [name, fixed(median(all), 0), fixed(median(all) / limit, 2)]);
    console.log(table(`acquire and release of a free lock; ${machine()}`, ['', 'pairs/s', 'of the first'], rows));
    const parts = [0.5, 0.9, 0.99].map((part) => fixed(quantile(waits, part), 2));
    console.log(table(`ms from a release to the next of ${waiters} that wait`, ['p50', 'p90', 'p99'], [parts]));
  } finally {
    driver.stop();
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
