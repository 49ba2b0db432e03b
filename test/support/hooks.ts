import { endStore, prepareStore } from './store.ts';

// While mocha loads the tests. What those import would be loaded once more for this file, and is not imported here.
prepareStore();

/** Around the whole run: whatever a test started ends with it, and what it left behind fails the run. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    const found = await endStore();
    if (found.length === 0) return;
    // What was left open must not keep the failed run from ending.
    setTimeout(() => process.exit(1), 1000).unref();
    throw new Error(`the suite leaves the store dirty:\n${found.join('\n')}`);
  },
};

/** Also where no test ran. */
export const mochaGlobalTeardown = endStore;

/** A promise nobody looked at fails the test that runs, or the run. */
process.on('unhandledRejection', (error) => {
  throw error;
});
