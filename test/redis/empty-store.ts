import { OwnStore } from '../support/own-store.ts';

let started: Promise<OwnStore> | undefined;

/**
 * An embedded store that is empty, for tests that need that or look at all of it. It is the same for all files of a run,
 * as each start takes processor time: call it once, before a file's tests, and don't stop it.
 */
export async function emptyStore(): Promise<OwnStore> {
  started ??= OwnStore.start();
  const store = await started;
  const { store: redis } = await store.admin();
  await redis.flushall();
  return store;
}

// At the end of the run: this is outside of any suite.
after(async () => {
  await (await started)?.stop();
});
