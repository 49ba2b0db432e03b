import { dirt } from './dirt.ts';
import { knownClients, redisUrl, stopAll, stopService } from './world.ts';

/** Around the whole run: whatever a test started ends with it, and what it left behind fails the run. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    await stopService();
    const known = knownClients();
    const found = known ? await dirt(await redisUrl(), known) : [];
    await stopAll();
    if (found.length === 0) return;
    // What was left open must not keep the failed run from ending.
    setTimeout(() => process.exit(1), 1000).unref();
    throw new Error(`the suite leaves the store dirty:\n${found.join('\n')}`);
  },
};

/** A promise nobody looked at fails the test that runs, or the run. */
process.on('unhandledRejection', (error) => {
  throw error;
});
