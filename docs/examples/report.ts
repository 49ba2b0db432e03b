// A planner sends twelve searches, and a report that follows once all have succeeded. No process waits meanwhile.
import { createMuster, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

interface Topic {
  readonly topic: string;
}
interface Search extends Topic {
  readonly year: number;
}

const searcher = new Worker<Search, string>(muster, { mailbox: 'searches', concurrency: 4 }, ({ payload }) => {
  return `${payload.topic} in ${payload.year}`;
});

const writer = new Worker<Topic, string>(muster, { mailbox: 'reports' }, async ({ payload: { topic } }, task) => {
  const found = await task.results<string>();
  return `${topic}: ${found.length} finds, from ${found[0]?.result} to ${found.at(-1)?.result}`;
});

const planner = new Worker<Topic, string>(muster, { mailbox: 'plans' }, async ({ payload: { topic }, scopeId }) => {
  const mailboxId = await searcher.mailboxId;
  const years = Array.from({ length: 12 }, (_, i) => 2014 + i);
  // Each workKey names the work: an attempt after a crash sends nothing twice.
  const searches = await Promise.all(
    years.map((year) =>
      muster.message.send<Search>({ mailboxId, scopeId, payload: { topic, year }, workKey: `${scopeId} ${year}` }),
    ),
  );
  const report = await muster.message.send<Topic>({
    mailboxId: await writer.mailboxId,
    scopeId,
    payload: { topic },
    workKey: scopeId,
    after: searches,
  });
  return report.id;
});

const plan = await muster.message.send<Topic>({
  mailboxId: await planner.mailboxId,
  scopeId: crypto.randomUUID(),
  payload: { topic: 'queues' },
});
const ended = async (messageId: string): Promise<string> => {
  for (;;) {
    const { finishedAt, result } = await muster.message.view<string>({ messageId, waitSeconds: 30 });
    if (finishedAt !== null) return String(result);
  }
};
console.log(await ended(await ended(plan.id)));
await Promise.all([planner, searcher, writer].map((worker) => worker.close()));
