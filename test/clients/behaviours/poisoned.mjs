// A worker process with a handler that kills it, for poison.test.ts. poisoned.py is the same in Python.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId, MAILBOX: mailboxId = '' } = process.env;
const muster = createMuster({ url, key, spaceId });
const concurrency = Number(process.env.CONCURRENCY);
new Worker(muster, { mailbox: { mailboxId }, concurrency }, async ({ payload }) => {
  console.log(JSON.stringify(payload));
  await sleep(payload === 'poison' ? 200 : 500);
  if (payload === 'poison') process.kill(process.pid, 'SIGKILL');
});
