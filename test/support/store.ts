import { clients } from './clients.ts';
import { TestCluster } from './cluster.ts';
import type { OwnStore } from './own-store.ts';

interface Started {
  readonly store: OwnStore | TestCluster;
  /** Its clients before any test. */
  readonly known: ReadonlySet<string>;
}

/** A promise, so that concurrent tests start only one. */
let starting: Promise<Started> | undefined;
let isUsed = false;

/** A cluster of one node, which refuses the same as a larger one; TEST_REDIS=plain: an embedded store. */
async function start(): Promise<Started> {
  const isPlain = process.env['TEST_REDIS'] === 'plain';
  const store = isPlain ? await (await import('./own-store.ts')).OwnStore.start() : await TestCluster.start(1);
  return { store, known: await clients(store.url) };
}

/** Starts the store early: a new cluster takes no writes for two seconds, while the tests are loaded. */
export function prepareStore(): Promise<Started> {
  starting ??= start();
  // Its users handle a failure.
  starting.catch(() => undefined);
  return starting;
}

/** The store of this test run. */
export async function redisUrl(): Promise<string> {
  isUsed = true;
  return (await prepareStore()).store.url;
}

type LastLook = (url: string, known: ReadonlySet<string>) => Promise<string[]>;

let lastLook: LastLook = async () => [];

/** Called before the store stops; returns what tests have left there, given the clients from before. */
export function lookLast(look: LastLook): void {
  lastLook = look;
}

/** Stops the store; returns what tests have left there. */
export async function endStore(): Promise<string[]> {
  const started = await starting?.catch(() => undefined);
  if (!started) return [];
  try {
    return isUsed ? await lastLook(started.store.url, started.known) : [];
  } finally {
    starting = undefined;
    isUsed = false;
    await started.store.stop();
  }
}
