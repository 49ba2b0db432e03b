// npm run bench:latency -- --help
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker as BullmqWorker, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { createMuster, Worker } from '../../../src/clients/typescript/index.ts';
import { makeTenants } from '../idle/tenants.ts';
import { machine, start } from '../options.ts';
import { startRedis } from '../peers/stores/redis.ts';
import { fixed, quantile, table } from '../report.ts';
import { MusterProcess } from '../servers/muster.ts';
import { type Options, readOptions } from './settings.ts';

/** Uncounted messages of each side, after which code is compiled. */
const WARM_UP = 200;

const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

/** One side of the comparison. `once` resolves with milliseconds, one value for each of its rows. */
interface Side {
  readonly rows: readonly string[];
  once(): Promise<readonly number[]>;
}

/** The arrival of the message being sent at its handler. */
class Arrival {
  at = 0;
  #resolve: () => void = () => undefined;

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  readonly handler = (): void => {
    this.at = performance.now();
    this.#resolve();
  };
}

/** The time from a send to its answer, and to the arrival of the message at the worker. */
async function timed(send: () => Promise<unknown>, arrival: Arrival): Promise<readonly number[]> {
  const arrived = arrival.next();
  const begun = performance.now();
  await send();
  const answered = performance.now();
  await arrived;
  return [answered - begun, arrival.at - begun];
}

async function musterSide(address: string): Promise<Side> {
  const [tenant] = await makeTenants(address, 1);
  if (!tenant) throw new Error('no organization was made');
  const server = await MusterProcess.start(address);
  cleanUps.push(() => server.stop());
  const muster = createMuster({ url: server.url, ...tenant.access });
  const { id: mailboxId } = await muster.mailbox.create({ name: 'latency' });
  const arrival = new Arrival();
  const worker = new Worker(muster, { mailbox: { mailboxId } }, arrival.handler);
  cleanUps.push(() => worker.close());
  const scopeId = randomUUID();
  const payload = { a: 'x'.repeat(100) };
  return {
    rows: ['Muster: GET /healthz by fetch', 'Muster: send, answered', 'Muster: send to a held receive'],
    async once() {
      const begun = performance.now();
      await (await fetch(`${server.url}/healthz`)).text();
      const took = performance.now() - begun;
      return [took, ...(await timed(() => muster.message.send({ mailboxId, scopeId, payload }), arrival))];
    },
  };
}

async function bullmqSide(address: string): Promise<Side> {
  const connection = { path: address, maxRetriesPerRequest: null };
  const queue = new Queue('latency', { connection });
  const arrival = new Arrival();
  const worker = new BullmqWorker('latency', async () => arrival.handler(), { connection });
  cleanUps.push(async () => {
    await worker.close();
    await queue.close();
  });
  await worker.waitUntilReady();
  const payload = { a: 'x'.repeat(100) };
  return {
    rows: ['BullMQ: add, answered', 'BullMQ: add to a waiting worker'],
    once: () => timed(() => queue.add('message', payload), arrival),
  };
}

function redisSide(redis: Redis): Side {
  return {
    rows: ['Redis: PING'],
    async once() {
      const begun = performance.now();
      await redis.ping();
      return [performance.now() - begun];
    },
  };
}

async function bench({ messages, pause }: Options): Promise<void> {
  try {
    const store = await startRedis();
    cleanUps.push(() => store.stop());
    const redis = new Redis({ path: store.address });
    cleanUps.push(() => redis.disconnect());
    const sides = [redisSide(redis), await bullmqSide(store.address), await musterSide(store.address)];
    const found = new Map<string, number[]>(sides.flatMap(({ rows }) => rows.map((row) => [row, []])));
    for (let n = 0; n < WARM_UP + messages; n++) {
      for (const { rows, once } of sides) {
        const took = await once();
        if (n >= WARM_UP) for (const [i, row] of rows.entries()) found.get(row)?.push(took[i] ?? Number.NaN);
        // The worker receives again meanwhile.
        await sleep(pause);
      }
    }
    const rows = [...found].map(([name, all]) => [
      name,
      ...[0.5, 0.9, 0.99].map((part) => fixed(quantile(all, part), 2)),
    ]);
    console.log(table(`ms, one message at a time; ${machine()}`, ['', 'p50', 'p90', 'p99'], rows));
  } finally {
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
