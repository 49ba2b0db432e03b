import { endStore, prepareStore } from './store.ts';

// Starts before mocha loads the tests, which blocks everything else for a second or two; hooks.wait.mjs awaits it.
export const preparing = prepareStore().catch(() => undefined);

/** Once per run: stops what tests started, and fails the run if they left anything behind. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    const found = await endStore();
    if (found.length === 0) return;
    // Open handles must not keep a failed run alive.
    setTimeout(() => process.exit(1), 1000).unref();
    throw new Error(`the suite leaves the store dirty:\n${found.join('\n')}`);
  },
};

/** Runs even if no test ran. */
export const mochaGlobalTeardown = endStore;

/** An unhandled rejection fails the current test, or the run. */
process.on('unhandledRejection', (error) => {
  throw error;
});
