import { stopAll } from './world.ts';

/** Around the whole run: whatever a test started ends with it, and a promise nobody looked at fails it. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    await stopAll();
  },
};

process.on('unhandledRejection', (error) => {
  console.error('unhandled rejection', error);
  process.exitCode = 1;
  throw error;
});
