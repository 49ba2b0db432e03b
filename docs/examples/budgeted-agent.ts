// A budgeted agent: before it asks a model it reserves the most that an answer may cost, and then settles the real cost. The
// budget cannot be overspent, however many agents there are, even if some of them die.
import { createMuster, GiveUp, MusterError, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

const mostCents = 40;
const scopeId = crypto.randomUUID();
const name = `answers ${scopeId}`;
const { id: budgetId } = await muster.budget.create({ name, currency: 'EUR', scale: 2, limitMinor: '100' });

/** A stand-in for a model. */
async function ask(question: string): Promise<{ text: string; cents: number }> {
  if (question.includes('impossible')) throw new GiveUp('the model does not know');
  return { text: `an answer to ${question}`, cents: 25 };
}

const worker = new Worker<string, string>(muster, { mailbox: 'questions' }, async ({ payload }, { reserve }) => {
  // If this process dies, the money counts as spent in 15 minutes, because the model may have been paid.
  const overdue = { settleBy: new Date(Date.now() + 900_000), onOverdue: 'SETTLE' as const };
  const money = await reserve(name, mostCents, overdue).catch((error) => {
    if (error instanceof MusterError && error.code === 'INSUFFICIENT_BUDGET') throw new GiveUp('the budget is used up');
    throw error;
  });
  // If this throws, the whole reservation is given back.
  const { text, cents } = await ask(payload);
  await money.settle(cents);
  return text;
});
worker.on('failed', ({ message, error }) => console.log(`${message.payload}: ${(error as Error).message}`));

const mailboxId = await worker.mailboxId;
for (const payload of ['question 1', 'an impossible one', 'question 2', 'question 3', 'question 4'])
  await muster.message.send<string>({ mailboxId, scopeId, payload });
await worker.drained();
await worker.close();

const { settled, reserved, limit } = (await muster.budget.view({ budgetId })).balances;
console.log(`${worker.counts.completed} answers cost ${settled} of ${limit} cents; ${reserved} are set aside`);
