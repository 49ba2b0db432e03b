// A worker pool counts the words of five texts at a time. A text that fails at first is tried again; a hopeless one is
// given up.
import { createMuster, GiveUp, RetryLater, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

interface Text {
  readonly name: string;
  readonly text: string;
}

interface Counted {
  readonly words: number;
}

const worker = new Worker<Text, Counted>(
  muster,
  { mailbox: 'texts', concurrency: 5 },
  ({ payload, attempt }, { log }) => {
    if (payload.text === '') throw new GiveUp('there is no text');
    if (payload.name === 'text 7' && attempt === 1) throw new RetryLater(0, 'the dictionary was away');
    if (attempt > 1) log(`${payload.name} comes back`);
    return { words: payload.text.split(' ').length };
  },
);
worker.on('log', ({ text }) => console.log(text));
worker.on('failed', ({ message, state }) => console.log(`${message.payload.name} is ${state}: it has failed`));

// The producer, in one request. A workKey makes it safe to repeat: each text is queued once.
const mailboxId = await worker.mailboxId;
const scopeId = crypto.randomUUID();
const texts = Array.from({ length: 20 }, (_, n) => ({ name: `text ${n}`, text: 'word '.repeat(n).trim() }));
const sends = texts.map((payload) =>
  muster.call.message.send<Text>({ mailboxId, scopeId, payload, workKey: `${scopeId} ${payload.name}` }),
);
for (const result of await muster.batch(sends)) if (!result.ok) throw result.error;

await worker.drained();
await worker.close();

let words = 0;
for await (const message of muster.message.all<Text, Counted>({ mailboxId, scopeId, state: 'ACKED' }))
  words += message.result?.words ?? 0;
console.log(`${worker.counts.completed} texts have ${words} words`);
