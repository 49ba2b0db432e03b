// A fan-out: one question becomes ten tasks. The program that asked continues when all of them have ended, failed or not.
import { createMuster, GiveUp, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

interface Range {
  readonly from: number;
  readonly to: number;
}

const isPrime = (n: number): boolean => {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false;
  return n > 1;
};

const worker = new Worker<Range, number>(muster, { mailbox: 'ranges', concurrency: 3 }, ({ payload: { from, to } }) => {
  if (from >= to) throw new GiveUp('an empty range');
  return Array.from({ length: to - from }, (_, i) => from + i).filter(isPrime).length;
});

const mailboxId = await worker.mailboxId;
const { groupId } = await muster.group.create({ mailboxId, condition: 'ALL_TERMINAL' });
for (let from = 0; from < 1000; from += 100)
  await muster.task.submit<Range>({ groupId, taskKey: `from ${from}`, input: { from, to: from + 100 } });
await muster.task.submit<Range>({ groupId, taskKey: 'none', input: { from: 1, to: 1 } });
// The seal says that no more tasks will come: the group is decided as soon as the last one has ended.
await muster.group.seal({ groupId });

const group = await muster.group.waitDecided<number>({ groupId });
await worker.close();

const primes = group.members.reduce((sum, { outcome }) => sum + (outcome ?? 0), 0);
console.log(`${group.counts.succeeded} tasks found ${primes} primes below 1000; ${group.counts.failed} failed`);
