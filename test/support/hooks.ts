import { endStore, prepareStore } from './store.ts';

// Before mocha loads the tests, which stops everything else for a second or two: hooks.wait.mjs awaits it.
export const preparing = prepareStore().catch(() => undefined);

/** For the whole run: stops what tests started, and fails the run if they left something behind. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    const found = await endStore();
    if (found.length === 0) return;
    // Open handles must not keep a failed run alive.
    setTimeout(() => process.exit(1), 1000).unref();
    throw new Error(`the suite leaves the store dirty:\n${found.join('\n')}`);
  },
};

/** Also where no test ran. */
export const mochaGlobalTeardown = endStore;

/** An unhandled rejection fails the current test, or the run. */
process.on('unhandledRejection', (error) => {
  throw error;
});
