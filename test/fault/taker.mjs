// A program that takes a lock and does steps once, for tests that kill it. It tells the outside world, a file, what it does.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster, Worker } from 'muster-client';

const { url, key, spaceId, pools, mailboxId, world } = JSON.parse(process.env.TAKER ?? '{}');
const muster = createMuster({ url, key, spaceId, attempts: 20 });
const tell = (what) => appendFileSync(world, `${JSON.stringify(what)}\n`);
const aWhile = (maxMs = 30) => sleep(Math.random() * maxMs);

const worker = new Worker(
  muster,
  { mailbox: { mailboxId }, concurrency: 3, leaseSeconds: 5 },
  async ({ id }, { once }) => {
    const saw = await once('step', async () => {
      const made = randomUUID();
      tell({ message: id, made });
      await aWhile(1_000);
      return made;
    });
    tell({ message: id, saw });
    await aWhile();
  },
);
// Calls fail while the service is away.
worker.on('error', ({ error, isFatal }) => isFatal && console.error(error));

async function hold(pool) {
  for (;;) {
    const asked = { leaseSeconds: 5, ttlSeconds: Number.POSITIVE_INFINITY, holderSession: randomUUID() };
    const body = async ({ fence }) => {
      tell({ fence });
      await aWhile();
    };
    await muster
      .pool(pool)
      .hold(body, asked)
      .catch(() => sleep(100));
  }
}

await Promise.all(pools.map(hold));
