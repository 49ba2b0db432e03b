import { clients } from './clients.ts';
import { TestCluster } from './cluster.ts';
import type { OwnStore } from './own-store.ts';

/** A promise, so that concurrent tests start only one. */
let starting: Promise<OwnStore | TestCluster> | undefined;
/** The store's clients before any test. */
let known: Promise<ReadonlySet<string>> | undefined;

/** A cluster of one node, which refuses the same commands as a larger one. With TEST_REDIS=plain, an embedded store. */
async function start(): Promise<OwnStore | TestCluster> {
  const isPlain = process.env['TEST_REDIS'] === 'plain';
  return isPlain ? (await import('./own-store.ts')).OwnStore.start() : TestCluster.form(1);
}

/** Starts the store early, as a new cluster accepts no writes for two seconds; meanwhile the tests are loaded. */
export function prepareStore(): Promise<OwnStore | TestCluster> {
  starting ??= start();
  // Its users handle a failure.
  starting.catch(() => undefined);
  return starting;
}

/** The store of this test run. */
export async function redisUrl(): Promise<string> {
  const store = await prepareStore();
  if (store instanceof TestCluster) await store.writable();
  known ??= clients(store.url);
  await known;
  return store.url;
}

type LastLook = (url: string, known: ReadonlySet<string>) => Promise<string[]>;

let lastLook: LastLook = async () => [];

/** Called before the store stops. Gets the clients from before, and returns what tests have left. */
export function lookLast(look: LastLook): void {
  lastLook = look;
}

/** Stops the store. Returns what tests have left in it. */
export async function endStore(): Promise<string[]> {
  const store = await starting?.catch(() => undefined);
  if (!store) return [];
  try {
    return known ? await lastLook(store.url, await known) : [];
  } finally {
    starting = known = undefined;
    await store.stop();
  }
}
