// A workflow in plain code: plan, write 40 chapters elsewhere, ask a person, sleep, report. Between its attempts nobody
// holds the message; an attempt that crashes anywhere starts the handler anew, and nothing is done twice.
import { createMuster, JoinFailed, Worker } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

/** A stand-in for the model calls that plan and write. */
const plan = async (subject: string, chapters: number): Promise<string[]> =>
  Array.from({ length: chapters }, (_, n) => `${subject}, part ${n + 1}`);
const write = async (title: string): Promise<{ words: number }> => ({ words: 100 + title.length });

const writer = new Worker<string, { words: number }>(muster, { mailbox: 'chapters', concurrency: 8 }, (message) =>
  write(message.payload),
);

const author = new Worker<{ subject: string }, string>(muster, { mailbox: 'books' }, async ({ payload }, task) => {
  // Stored with the run, so that every attempt has the same plan.
  const titles = await task.once('plan', () => plan(payload.subject, 40));
  // Sends the chapters and gives up the claim, in one step. The handler starts anew when all of them have ended.
  const chapters = await task.join<{ words: number }>(
    'chapters',
    titles.map((title) => ({ mailbox: 'chapters', payload: title })),
  );
  const words = chapters.reduce((sum, chapter) => sum + chapter.words, 0);
  const { value } = task.answer ?? (await task.ask(`Print ${words} words?`, { options: ['yes', 'no'] }));
  if (value !== 'yes') return `${payload.subject} is not printed`;
  // A day, for a real printer.
  await task.sleep('printing', 1);
  return `${payload.subject}: ${chapters.length} chapters, ${words} words, printed`;
});
// A person would use the page of `question.answerUrl`, or the console.
author.on('asked', async ({ question }) => {
  await muster.question.answer({ questionId: question.id, answer: 'yes', answeredBy: 'ann' });
});
author.on('failed', ({ error }) => {
  if (error instanceof JoinFailed) console.error(error.failed);
});

const mailboxId = await author.mailboxId;
const scopeId = crypto.randomUUID();
const book = await muster.message.send({ mailboxId, scopeId, payload: { subject: 'Clocks' }, workKey: scopeId });
await muster.scope.waitIdle({ scopeId });
const { result, attempts } = await muster.message.view({ messageId: book.id });
console.log(`${result} (attempt ${attempts})`);
await Promise.all([author.close(), writer.close()]);
