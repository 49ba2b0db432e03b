// The process in a copy of the project that runs test files again and again, each time on the library as it is then planted:
// mocha and the tests are loaded once. Its parent (runner.ts) sends one order at a time.
import { createRequire } from 'node:module';
import Mocha from 'mocha';
import type { Found, Order } from './runner.ts';

/** Loads with require, as mocha loads the tests: `import` would load other instances of these modules. */
const require = createRequire(import.meta.url);
const { api, stopService } = require('../support/world.ts') as typeof import('../support/world.ts');
const { endStore, prepareStore, redisUrl } = require('../support/store.ts') as typeof import('../support/store.ts');
const { luaNames } =
  require('../../src/primitives/primitives.ts') as typeof import('../../src/primitives/primitives.ts');
const { Scripts } = require('../../src/engine/redis/scripts.ts') as typeof import('../../src/engine/redis/scripts.ts');
const { connect } =
  require('../../src/engine/redis/connection.ts') as typeof import('../../src/engine/redis/connection.ts');
/** The copy's module exports its cache, too (tree.ts). */
const { known } =
  require('../../src/engine/library/library.ts') as typeof import('../../src/engine/library/library.ts') &
    Pick<Cache, 'known'>;
const { default: fc } = require('fast-check') as typeof import('fast-check');

interface Cache {
  readonly known: WeakMap<object, object>;
}

let isTesting = false;
// As in hooks.ts; between tests, what a killed store leaves is no failure.
process.on('unhandledRejection', (error) => {
  if (isTesting) throw error;
});
process.on('disconnect', () => process.exit());

const mocha = new Mocha({ ui: 'bdd', bail: true, reporter: Mocha.reporters.Base, timeout: 60_000, color: false });
mocha.cleanReferencesAfterRun(false);
/** How often each script was called since the last order. */
let calls: Record<string, number> = {};

const count = (name: string): void => {
  calls[name] = (calls[name] ?? 0) + 1;
};
const { execute, executeTogether, executeMixed, executeWhole } = Scripts.prototype;
Object.assign(Scripts.prototype, {
  execute(...args: Parameters<typeof execute>) {
    count(args[0]);
    return execute.apply(this as never, args);
  },
  executeTogether(...args: Parameters<typeof executeTogether>) {
    count(args[0]);
    return executeTogether.apply(this as never, args);
  },
  executeMixed(...args: Parameters<typeof executeMixed>) {
    for (const { script } of args[1]) count(script);
    return executeMixed.apply(this as never, args);
  },
  executeWhole(...args: Parameters<typeof executeWhole>) {
    for (const { script } of args[1]) count(script);
    return executeWhole.apply(this as never, args);
  },
});

/** All test files, loaded. */
let suites: readonly Mocha.Suite[] = [];

async function load(files: readonly string[], seed: number): Promise<void> {
  // So that a mutant does not die, or survive, by chance.
  fc.configureGlobal({ seed, endOnFailure: true });
  prepareStore();
  for (const file of files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  suites = mocha.suite.suites;
}

/** The cache with the library of unchanged files. */
let clean: object | undefined;

/** An empty store, and the library of the files as they are now. Returns why it cannot be loaded. */
async function renew(isClean: boolean): Promise<string | undefined> {
  await stopService();
  const store = await connect(await redisUrl());
  await store.call('FLUSHALL');
  await store.call('FUNCTION', 'FLUSH');
  store.disconnect();
  known.delete(luaNames);
  if (isClean && clean !== undefined) known.set(luaNames, clean);
  try {
    await api();
    if (isClean) clean = known.get(luaNames);
    return undefined;
  } catch (error) {
    await stopService().catch(() => undefined);
    return error instanceof Error ? error.message : String(error);
  }
}

/** Runs one file until its first failure. */
async function test(file: string, patienceMs: number): Promise<Found> {
  mocha.suite.suites = suites.filter((suite) => suite.file === file);
  limit(mocha.suite, patienceMs);
  calls = {};
  isTesting = true;
  const start = performance.now();
  let failure: Found['failure'];
  let passed = 0;
  await new Promise<void>((resolve) => {
    mocha
      .run(() => resolve())
      .on('pass', () => passed++)
      .on('fail', (failed: Mocha.Runnable, error: Error) => {
        failure ??= { title: failed.fullTitle(), message: `${error.name}: ${error.message}`.slice(0, 600) };
      });
  });
  isTesting = false;
  return { failure, passed, ms: Math.round(performance.now() - start), calls };
}

function limit(suite: Mocha.Suite, patienceMs: number): void {
  for (const one of suite.tests) if (one.timeout() > patienceMs) one.timeout(patienceMs);
  for (const inner of suite.suites) limit(inner, patienceMs);
}

/** What the tests since the last look have left behind. Then there is a new store. */
async function look(): Promise<string[]> {
  const found = await endStore();
  prepareStore();
  return found;
}

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'load':
      return load(order.files, order.seed);
    case 'renew':
      return renew(order.isClean);
    case 'test':
      return test(order.file, order.patienceMs);
    case 'look':
      return look();
  }
}

process.on('message', (order: Order) => {
  void obey(order).then((result) => process.send?.({ result }));
});
