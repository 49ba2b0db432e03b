// A research desk: twelve searches within one budget, a draft that two of three reviewers must approve, a person who
// releases it by a link, and the report. No claim is held while others work, or while the person thinks.
import { createMuster, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

const scopeId = crypto.randomUUID();
const budget = `desk ${scopeId}`;
const { id: budgetId } = await muster.budget.create({ name: budget, currency: 'USD', scale: 2, limitMinor: '300' });

/** A stand-in for a search: returns a result and its cost in cents. */
async function search(year: number): Promise<{ text: string; cents: number }> {
  return { text: `the queues of ${year}`, cents: 20 };
}

const searcher = new Worker<number, string>(
  muster,
  { mailbox: 'desk-searches', concurrency: 4 },
  async (message, task) => {
    const reserved = await task.reserve(budget, 25);
    const { text, cents } = await search(message.payload);
    await reserved.settle(cents);
    return text;
  },
);

interface Review {
  readonly approves: boolean;
}
const reviewer = new Worker<{ draft: string }, Review>(
  muster,
  { mailbox: 'desk-reviews', concurrency: 3 },
  ({ payload: { draft }, taskKey }) => ({
    approves: draft.includes('12 finds') && taskKey !== 'the one who never likes it',
  }),
);

const publisher = new Worker<string, string>(muster, { mailbox: 'desk-reports' }, async ({ payload: draft }, task) => {
  // Asking ends this attempt. The next one begins with the answer.
  const { value, answeredBy } = task.answer ?? (await task.ask(`Publish "${draft}"?`, { options: ['yes', 'no'] }));
  return value === 'yes' ? `${draft}; published by ${answeredBy}` : 'not published';
});

const writer = new Worker<null, string>(muster, { mailbox: 'desk-drafts' }, async (_, task) => {
  const found = await task.results<string>();
  const draft = `${found.length} finds, from ${found[0]?.result} to ${found.at(-1)?.result}`;
  // An attempt after a crash creates nothing twice: each workKey and taskKey names something that this run has only once.
  const { groupId } = await muster.group.create({
    mailboxId: await reviewer.mailboxId,
    parentScopeId: scopeId,
    condition: 'N_ACCEPTED',
    threshold: 2,
    workKey: `reviews ${scopeId}`,
  });
  for (const taskKey of ['ada', 'ben', 'the one who never likes it'])
    await muster.task.submit({ groupId, taskKey, input: { draft }, unique: true });
  await muster.group.seal({ groupId });
  const mailboxId = await publisher.mailboxId;
  await muster.message.send({ mailboxId, scopeId, payload: draft, workKey: `report ${scopeId}`, after: [{ groupId }] });
  return draft;
});

const searches = await Promise.all(
  Array.from({ length: 12 }, async (_, i) =>
    muster.message.send<number>({ mailboxId: await searcher.mailboxId, scopeId, payload: 2015 + i }),
  ),
);
await muster.message.send<null>({ mailboxId: await writer.mailboxId, scopeId, payload: null, after: searches });

// The desk's own program follows the events, judges the reviews, and sends the link to the person (here it prints it).
const reports = await publisher.mailboxId;
const types = ['group.created', 'question.asked', 'message.acked'] as const;
for await (const event of muster.events({ types, scopeId })) {
  if (event.type === 'group.created') void muster.judge<Review>(event.aggregateId, ({ outcome }) => outcome.approves);
  else if (event.type === 'question.asked') {
    const { answerUrl } = await muster.question.link({ questionId: event.payload.questionId });
    console.log(`please answer: ${answerUrl}`);
  } else if (event.payload.mailboxId === reports) {
    console.log((await muster.message.view({ messageId: event.payload.messageId })).result);
    break;
  }
}
await Promise.all([searcher, reviewer, publisher, writer].map((worker) => worker.close()));
console.log(`${(await muster.budget.view({ budgetId })).balances.settled} cents were spent`);
