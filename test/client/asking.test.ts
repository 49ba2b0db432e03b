import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  createMuster,
  type GivenAnswer,
  type Handler,
  type Muster,
  Worker,
  type WorkerOptions,
} from '../../src/clients/typescript/index.ts';
import { visit } from '../answer/answers.ts';
import { expectAgreement } from '../support/agree.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

describe('a handler of the typed client that asks', () => {
  let world: World;
  let muster: Muster;
  const workers: Pick<Worker, 'close'>[] = [];
  const scopeId = randomUUID();
  beforeEach(async () => {
    world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close(0)));
    await expectAgreement(world);
  });

  function start<R>(handler: Handler<unknown, R>, options: Partial<WorkerOptions> = {}): Worker<unknown, R> {
    const worker = new Worker<unknown, R>(muster, { closeOnSignals: false, mailbox: 'drafts', ...options }, handler);
    workers.push(worker);
    return worker;
  }

  async function send(worker: Worker<unknown, unknown>): Promise<string> {
    const mailboxId = await worker.mailboxId;
    return (await muster.message.send({ mailboxId, scopeId, payload: 1 })).id;
  }

  /** The question that a message waits for. */
  async function openOf(messageId: string) {
    for (;;) {
      const [question] = (await muster.question.list({ messageId, state: 'OPEN' })).questions;
      if (question) return question;
      await sleep(10);
    }
  }

  const endOf = <R>(messageId: string) => muster.message.view<unknown, R>({ messageId, waitSeconds: 20 });

  it('keeps the place of its key until it has its answer, or yields it', async () => {
    for (const yieldsKey of [true, undefined]) {
      const handled: unknown[] = [];
      const worker = start<void>(
        async ({ payload }, task) => {
          if (payload === 'asks' && !task.answer) await task.ask('?', yieldsKey === undefined ? {} : { yieldsKey });
          handled.push(payload);
        },
        { mailbox: { name: `keyed ${yieldsKey}`, perKey: 1 }, concurrency: 2 },
      );
      const mailboxId = await worker.mailboxId;
      const { id } = await muster.message.send({ mailboxId, scopeId, payload: 'asks', key: 'k' });
      const { id: questionId } = await openOf(id);
      const behind = await muster.message.send({ mailboxId, scopeId, payload: 'behind', key: 'k' });
      if (yieldsKey) await endOf(behind.id);
      await muster.question.answer({ questionId, answer: 1, answeredBy: 'ann' });
      for (const one of [id, behind.id]) await endOf(one);
      expect(handled).to.deep.equal(yieldsKey ? ['behind', 'asks'] : ['asks', 'behind']);
    }
  });

  for (const batch of [true, false])
    it(`ends its attempt, and goes on with the answer, as often as it asks${batch ? '' : '; each call by itself'}`, async () => {
      const attempts: [number, unknown][] = [];
      const worker = start(
        async (message, task) => {
          attempts.push([message.attempt, message.progress]);
          const first = task.answer ?? (await task.ask('Publish?', { options: ['yes', 'no'] }));
          if (first.question === 'Publish?') {
            task.progress({ publish: first.value });
            await task.ask({ text: 'Where?' });
          }
          return [message.progress, task.answer];
        },
        { batch },
      );
      const asked: unknown[] = [];
      worker.on('asked', ({ question }) => asked.push(question.answerUrl));
      const id = await send(worker);
      const first = await openOf(id);
      await until(() => asked.length === 1);
      expect(first.options).to.deep.equal(['yes', 'no']);
      expect((await visit(String(asked[0]), { answer: 'yes', answeredBy: 'ann' })).status).to.equal(200);
      const second = await openOf(id);
      await muster.question.answer({ questionId: second.id, answer: ['blog'], answeredBy: 'bob' });
      const { result } = await endOf<unknown>(id);
      const answer: GivenAnswer = {
        question: { text: 'Where?' },
        value: ['blog'],
        answeredBy: 'bob',
        isExpired: false,
      };
      expect(result).to.deep.equal([{ publish: 'yes' }, answer]);
      expect(attempts).to.deep.equal([
        [1, null],
        [1, null],
        [1, { publish: 'yes' }],
      ]);
      await until(() => worker.counts.completed === 1);
      expect(worker.counts).to.include({ received: 3, asked: 2, completed: 1, failed: 0, returned: 0, lost: 0 });
    });

  it('asks whatever else it does afterwards, gives its money back, and hears that nobody answered', async () => {
    await muster.budget.create({ name: 'llm', currency: 'EUR', scale: 2, limitMinor: '100' });
    let spent = 0;
    const worker = start(async (_message, task) => {
      const reservation = await task.reserve('llm', 60);
      if (task.answer) {
        await reservation.settle(10);
        spent++;
        return task.answer.isExpired;
      }
      await task.ask('Well?', { expiresInSeconds: 5 }).catch(() => undefined);
      return 'not this';
    });
    const id = await send(worker);
    const question = await openOf(id);
    const [budget] = (await muster.budget.list({ name: 'llm' })).budgets;
    expect(budget?.balances).to.include({ reserved: '0', available: '100' });
    await world.at(Date.parse(question.expiresAt));
    await world.service.due.drain(world.org);
    expect((await endOf(id)).result).to.equal(true);
    expect(spent).to.equal(1);
    expect((await muster.budget.list({ name: 'llm' })).budgets[0]?.balances).to.include({ settled: '10' });
  });

  it('asks though it does not wait for that, and the process goes on', async () => {
    const worker = start((_message, task) => {
      if (task.answer) return task.answer.value;
      void task.ask('Well?');
      return 'not this';
    });
    const id = await send(worker);
    const { id: questionId } = await openOf(id);
    await muster.question.answer({ questionId, answer: 'yes', answeredBy: 'ann' });
    expect((await endOf(id)).result).to.equal('yes');
  });

  it('keeps what it has done once, and gives the message back where its question is refused', async () => {
    let steps = 0;
    const worker = start(async (message, task) => {
      const page = await task.once('fetch', () => ++steps);
      if (message.attempt > 1) return [page, message.lastError];
      if (task.answer) await task.ask('x'.repeat(5000));
      return task.ask('Fine?');
    });
    const id = await send(worker);
    const { id: questionId } = await openOf(id);
    await muster.question.answer({ questionId, answer: 'yes', answeredBy: 'ann' });
    const { result } = await endOf<[number, string]>(id);
    expect(result?.[0]).to.equal(1);
    expect(result?.[1]).to.include('question is larger than 4096 bytes');
    await until(() => worker.counts.completed === 1);
    expect(worker.counts).to.include({ asked: 1, returned: 1, completed: 1 });
  });
});
