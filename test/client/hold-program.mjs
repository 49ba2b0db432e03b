// Waits for a pool's units, for tests that stop and kill it: so many times at once, and says so when it holds them.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster } from 'muster-client';

const { url, key, spaceId, pool, count, leaseSeconds } = JSON.parse(process.env.HOLD ?? '{}');
const muster = createMuster({ url, key, spaceId });

/** As an election does it: for ever. */
async function hold(index) {
  for (;;)
    await muster
      .pool(pool)
      .hold(
        async ({ signal }) => {
          console.log('holds');
          await sleep(600_000, undefined, { signal });
        },
        { ttlSeconds: Number.POSITIVE_INFINITY, leaseSeconds, holderSession: `${process.pid}/${index}` },
      )
      .catch(() => undefined);
}

await Promise.all(Array.from({ length: count }, (_, index) => hold(index)));
