import { delivering } from './webhooks.ts';

/** A worker process on the test clock, for tests that kill it. */
const service = await delivering({ role: 'worker', redisUrl: process.argv[2] ?? '' });
process.send?.('ready');
process.on('disconnect', () => {
  void service.stop().then(() => process.exit(0));
});
