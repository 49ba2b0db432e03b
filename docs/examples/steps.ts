// A researcher dies after its first step; the next attempt does not fetch again. All share one list of sources.
import { createMuster, Run, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

interface Question {
  readonly topic: string;
}

let fetches = 0;
const mailbox = { name: 'research', retryDelaySeconds: 0 };
const worker = new Worker<Question, string>(muster, { mailbox, concurrency: 4 }, async (message, { once, run }) => {
  const { topic } = message.payload;
  const page = await once('fetch', () => {
    fetches++;
    return { title: `All about ${topic}`, words: topic.length * 100 };
  });
  // As if the process had died here.
  if (message.attempt === 1) throw new Error('the machine is gone');
  await run.note<string[]>('sources').update((sources = []) => [...new Set([...sources, page.title])].sort());
  return once('summary', () => `${page.words} words on ${topic}`);
});

const scopeId = crypto.randomUUID();
const mailboxId = await worker.mailboxId;
const sent = await Promise.all(
  ['queues', 'leases', 'clocks'].map((topic) =>
    muster.message.send<Question>({ mailboxId, scopeId, payload: { topic }, workKey: `${scopeId} ${topic}` }),
  ),
);
for (const { id: messageId } of sent) {
  let message = await muster.message.view<string>({ messageId, waitSeconds: 30 });
  while (message.finishedAt === null) message = await muster.message.view<string>({ messageId, waitSeconds: 30 });
  console.log(`${message.result}, attempt ${message.attempts}`);
}
console.log(`${fetches} fetches; ${(await new Run(muster, scopeId).note<string[]>('sources').get())?.join(', ')}`);
await worker.close();
