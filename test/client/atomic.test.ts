import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createMuster,
  type Muster,
  MusterError,
  type MusterOptions,
  Worker,
} from '../../src/clients/typescript/index.ts';
import { World } from '../support/world.ts';

describe('muster.atomic', () => {
  let muster: Muster;
  let mailboxId: string;
  let options: MusterOptions;
  before(async () => {
    const world = await World.create();
    options = { url: world.url, key: world.apiKey, spaceId: world.spaceId };
    muster = createMuster(options);
    ({ id: mailboxId } = await muster.mailbox.create({ name: 'jobs' }));
  });

  it('makes the calls of its plan in one step, with ids that do not exist yet, and answers what it returns', async () => {
    const { run, view, note } = await muster.atomic((t) => {
      const run = t.scope.create({ name: 'night' });
      const first = t.message.send({ mailboxId, scopeId: run.id, payload: 1 });
      const second = t.message.send({ mailboxId, scopeId: run.id, payload: 2, after: [{ messageId: first.id }] });
      t.mailbox.view({ mailboxId }, { expect: { counts: { blocked: 1 } } });
      return { run, view: t.message.view({ messageId: second.id }, { expect: { scopeId: run.id } }), note: 'kept' };
    });
    expect([run.name, view.scopeId, view.state, view.payload, note]).to.deep.equal([
      ...['night', run.id, 'BLOCKED', 2, 'kept'],
    ]);
    const [one] = await muster.atomic((t) => [t.mailbox.view({ mailboxId })]);
    expect(one?.counts).to.deep.include({ ready: 1, blocked: 1 });
    expect((await muster.atomic((t) => t.mailbox.view({ mailboxId }))).id).to.equal(mailboxId);
  });

  it('throws the refusal of the call that was refused, and nothing has happened', async () => {
    const error = await muster
      .atomic((t) => {
        t.message.send({ mailboxId, scopeId: randomUUID(), payload: 1 });
        t.mailbox.view({ mailboxId }, { expect: { counts: { ready: 7 } } });
      })
      .catch((thrown) => thrown);
    expect(error).to.be.instanceOf(MusterError).with.property('code', 'EXPECTATION_FAILED');
    expect((await muster.mailbox.view({ mailboxId })).counts.ready).to.equal(1);
  });

  it('does nothing twice under its key, and gives nothing for what a retry would have read', async () => {
    const plan = () =>
      muster.atomic(
        (t) => {
          const sent = t.message.send({ mailboxId, scopeId: '0190a1b2-0000-7000-8000-000000000000', payload: 1 });
          return { sent, view: t.message.view({ messageId: sent.id }) };
        },
        { idempotencyKey: 'once' },
      );
    const [first, again] = [await plan(), await plan()];
    expect(again.sent.id).to.equal(first.sent.id);
    expect([first.view?.id, again.view]).to.deep.equal([first.sent.id, undefined]);
  });

  it('completes a message and makes what belongs to it in one step: task.finish', async () => {
    const { id: queueId } = await muster.mailbox.create({ name: 'work' });
    const { id: budgetId } = await muster.budget.create({ name: 'b', currency: 'EUR', scale: 2, limitMinor: '10' });
    const scopeId = randomUUID();
    const send = (amount: string) => muster.message.send({ mailboxId: queueId, scopeId, payload: amount });
    const [fine, dear] = [await send('7'), await send('8')];
    const failed: string[] = [];
    let attempts = 0;
    const flaky: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      // The first answer is lost: the batch has happened.
      if (String(url).endsWith('/batch') && attempts++ === 0) throw new TypeError('fetch failed');
      return response;
    };
    const worker = new Worker<string, string>(
      createMuster({ ...options, fetch: flaky }),
      { mailbox: { mailboxId: queueId }, scopeId, batch: false, concurrency: 1, closeOnSignals: false },
      ({ id, payload }, task) =>
        task.finish('done', (t) => {
          const reserve = { budgetId, scopeId, holder: 'h', amountMinor: payload };
          const { id: reservationId } = t.budget.reserve({ ...reserve, workKey: `${id} ${randomUUID()}` });
          t.budget.void({ budgetId, reservationId, workKey: id });
          t.message.send({ mailboxId, scopeId, payload: 'next', workKey: `after ${id}` });
          t.budget.view({ budgetId }, { expect: { balances: { available: '10' } } });
          if (payload === '8') t.budget.reserve({ ...reserve, amountMinor: '11' });
        }),
    );
    worker.on('failed', ({ error }) => failed.push((error as MusterError).code));
    try {
      expect((await muster.message.view({ messageId: fine.id, waitSeconds: 20 })).state).to.equal('ACKED');
      while (failed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(failed[0]).to.equal('INSUFFICIENT_BUDGET');
      expect((await muster.message.view({ messageId: dear.id })).state).to.not.equal('ACKED');
      const { messages } = await muster.message.list({ mailboxId, scopeId });
      expect(messages.map(({ workKey }) => workKey)).to.deep.equal([`after ${fine.id}`]);
    } finally {
      await worker.close(0);
    }
  });

  it('gives a message back, and makes no call, when the plan of task.finish throws or is refused', async () => {
    const { id: queueId } = await muster.mailbox.create({ name: 'plans', maxAttempts: 1 });
    const { id: budgetId } = await muster.budget.create({ name: 'c', currency: 'EUR', scale: 2, limitMinor: '10' });
    const scopeId = randomUUID();
    const payloads: Record<string, () => unknown> = {
      throws: () => {
        throw new Error('no plan');
      },
      'is no JSON': () => 1n,
      'is too large': () => 'x'.repeat(70_000),
    };
    const kinds = Object.keys(payloads);
    const ids: string[] = [];
    for (const payload of kinds) ids.push((await muster.message.send({ mailboxId: queueId, scopeId, payload })).id);
    const worker = new Worker<string, string>(
      createMuster(options),
      { mailbox: { mailboxId: queueId }, concurrency: 3, closeOnSignals: false },
      async ({ payload }, task) => {
        if (payload === 'throws') await task.reserve('c', 5);
        return task.finish('done', (t) => {
          t.message.send({ mailboxId, scopeId, payload: 'first' });
          t.message.send({ mailboxId, scopeId, payload: payloads[payload]?.() });
        });
      },
    );
    try {
      const ended = await Promise.all(ids.map((messageId) => muster.message.view({ messageId, waitSeconds: 20 })));
      expect(ended.map(({ state }) => state)).to.deep.equal(['FAILED', 'FAILED', 'FAILED']);
      expect(ended[0]?.lastError).to.equal('Error: no plan');
      expect(ended[1]?.lastError).to.match(/BigInt/);
      expect(ended[2]?.lastError).to.match(/larger than/);
      expect((await muster.message.list({ mailboxId, scopeId })).messages).to.deep.equal([]);
      expect((await muster.budget.view({ budgetId })).balances).to.include({ settled: '0', reserved: '0' });
    } finally {
      await worker.close(0);
    }
  });

  it('lets a message be after earlier calls: a message, a group, or a task of one', async () => {
    const scopeId = randomUUID();
    const { group, task, sent, last } = await muster.atomic((t) => {
      const group = t.group.create({ mailboxId, condition: 'ALL_TERMINAL' });
      const task = t.task.submit({ groupId: group.groupId, taskKey: 'm', input: 4 });
      const sent = t.message.send({ mailboxId, scopeId, payload: 1 });
      return {
        group,
        task,
        sent,
        last: t.message.send({ mailboxId, scopeId, payload: 2, after: [group, task, sent] }),
      };
    });
    const { after } = await muster.message.view({ messageId: last.id });
    expect(after.map(({ messageId, groupId }) => [messageId, groupId])).to.deep.equal([
      [null, group.groupId],
      [task.messageId, null],
      [sent.id, null],
    ]);
  });
});
