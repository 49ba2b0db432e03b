import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import {
  ClaimLost,
  GiveUp,
  type Handler,
  HoldLost,
  JoinFailed,
  type Muster,
  MusterError,
  RetryLater,
  Worker,
} from '../../src/clients/typescript/index.ts';
import {
  TestClock,
  TestHold,
  type TestServer,
  TestTask,
  testServer,
} from '../../src/clients/typescript/testing/index.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { until } from '../support/processes.ts';

const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));

/** What becomes of a message after one attempt, by the server or by a test task. */
interface Fate {
  readonly state: string;
  readonly error: string | null;
  readonly result: unknown;
  readonly progress: unknown;
  readonly attempts: number;
}

const handlers: Record<string, Handler<unknown, unknown>> = {
  'returns a value': ({ payload }) => ({ of: payload, list: [1, null] }),
  'returns nothing': () => undefined,
  throws: () => {
    throw new TypeError('no\nidea');
  },
  'comes back later': () => {
    throw new RetryLater(20, 'the disk is busy');
  },
  'comes back without an attempt': () => {
    throw new RetryLater(0, 'no quota', { countsAttempt: false });
  },
  'gives up': () => {
    throw new GiveUp('unreadable');
  },
  'reports progress and fails': (_, { progress }) => {
    progress({ read: 100 });
    throw new Error('cut');
  },
  asks: async (_, { ask }) => ask('Publish?', { options: ['yes', 'no'] }),
  'keeps a step and a note': async (_, { once: step, run }) => {
    await run.note('plan').put([1]);
    return [await step('fetch', () => ({ page: 1 })), await run.note('plan').update((plan) => [plan, 2])];
  },
  'returns what is no JSON': () => 1n,
};

describe('muster-client/testing', () => {
  let server: TestServer;
  const { MUSTER_SERVER } = process.env;
  before(async () => {
    process.env['MUSTER_SERVER'] = program;
    server = await testServer();
  });
  after(async () => {
    if (MUSTER_SERVER === undefined) delete process.env['MUSTER_SERVER'];
    else process.env['MUSTER_SERVER'] = MUSTER_SERVER;
    await server.stop();
  });

  /** One attempt by a worker of the server. */
  async function served(muster: Muster, handler: Handler<unknown, unknown>): Promise<Fate> {
    const { id: mailboxId } = await muster.mailbox.create({ name: 'fates' });
    const { id: messageId } = await muster.message.send({ mailboxId, scopeId: crypto.randomUUID(), payload: { n: 1 } });
    const worker = new Worker(muster, { mailbox: { mailboxId }, closeOnSignals: false }, async (message, task) => {
      // One attempt, whatever becomes of it.
      await muster.mailbox.pause({ mailboxId });
      return handler(message, task);
    });
    await new Promise<void>((resolve) => {
      for (const event of ['completed', 'failed', 'asked'] as const) worker.on(event, () => resolve());
    });
    await worker.close(0);
    const { state, lastError, result, progress, attempts } = await muster.message.view({ messageId });
    return { state, error: lastError, result, progress, attempts };
  }

  for (const [name, handler] of Object.entries(handlers))
    it(`has a test task end as a message does whose handler ${name}`, async () => {
      const task = new TestTask<unknown, unknown>({ n: 1 });
      const { state, result, error } = await task.run(handler);
      const { progress, attempts, lastError } = task.message;
      expect(error).to.equal(lastError);
      const fate = await served((await server.space()).muster, handler);
      expect({ state, error, result, progress, attempts }).to.deep.equal(fate);
    });

  it('runs the next attempts of a task, with what the earlier ones have left, until it has ended', async () => {
    const clock = new TestClock('2026-03-01T00:00:00Z');
    let steps = 0;
    const task = new TestTask<{ file: string }, string>({ file: 'a.txt' }, { clock, maxAttempts: 3, progress: 'none' });
    const handler: Handler<{ file: string }, string> = async ({ attempt, payload, lastError, progress }, context) => {
      await context.once('count', () => ++steps);
      context.log(`attempt ${attempt}`, { lastError, progress });
      if (attempt === 1) context.progress('half');
      if (attempt === 1) throw new RetryLater(30, 'busy');
      if (!context.answer) return context.ask('Sure?');
      return `${payload.file} ${context.answer.value} by ${context.answer.answeredBy}`;
    };
    expect(await task.run(handler)).to.deep.include({ state: 'DELAYED', delaySeconds: 30, error: 'busy' });
    expect(await task.run(handler)).to.deep.include({ state: 'BLOCKED', question: 'Sure?' });
    expect(clock.now.toISOString()).to.equal('2026-03-01T00:00:30.000Z');
    expect(await task.run(handler).catch(({ message }) => message)).to.match(/waits for an answer/);
    task.answer('yes', 'ann');
    expect(await task.run(handler)).to.deep.include({ state: 'ACKED', result: 'a.txt yes by ann' });
    expect(steps).to.equal(1);
    expect(task.notes).to.deep.equal({});
    expect(task.logs.map(({ text }) => text)).to.deep.equal(['attempt 1', 'attempt 2', 'attempt 2']);
    expect(task.logs[1]?.data).to.deep.equal({ lastError: 'busy', progress: 'half' });
    expect(await task.run(handler).catch(({ message }) => message)).to.match(/ACKED/);
  });

  it('lets a handler sleep, join and suspend, and go on with what became of it', async () => {
    const clock = new TestClock('2026-03-01T00:00:00Z');
    const task = new TestTask<unknown, unknown>({ chapters: ['a', 'b'] }, { clock });
    const handler: Handler<unknown, unknown> = async ({ suspension }, context) => {
      await context.sleep('night', 3_600);
      const parts = await context.join(
        'parts',
        ['a', 'b'].map((payload) => ({ mailbox: 'parts', payload, priority: 5 })),
      );
      if (suspension?.note === null)
        await context.suspend({ note: { key: 'go', sinceVersion: 0 }, timeoutSeconds: 60 });
      return { parts, wokenBy: suspension?.wokenBy };
    };
    expect(await task.run(handler)).to.deep.include({ state: 'BLOCKED', suspension: { delaySeconds: 3_600 } });
    const joins = await task.run(handler);
    expect(clock.now.toISOString()).to.equal('2026-03-01T01:00:00.000Z');
    expect(task.sent.map(({ payload, priority, workKey }) => [payload, priority, workKey])).to.deep.equal([
      ['a', 5, `${task.message.id}/parts/0`],
      ['b', 5, `${task.message.id}/parts/1`],
    ]);
    expect(joins.suspension?.['after']).to.have.length(2);
    expect(await task.run(handler).catch(({ message }) => message)).to.match(/call wake/);
    task.wake({ results: [1, { n: 2 }] });
    expect((await task.run(handler)).suspension).to.deep.include({ note: { key: 'go', sinceVersion: 0 } });
    clock.advance(60);
    expect((await task.run(handler)).result).to.deep.equal({ parts: [1, { n: 2 }], wokenBy: 'TIMEOUT' });
    expect(() => task.wake()).to.throw('has not suspended');
  });

  it('tells a handler which of the messages that it joins have failed', async () => {
    const task = new TestTask<unknown, unknown>(null);
    const handler: Handler<unknown, unknown> = async (_message, { join }) => {
      const sends = [1, 2].map((payload) => ({ mailbox: 'parts', payload }));
      return join('parts', sends).catch((error) => {
        if (!(error instanceof JoinFailed)) throw error;
        return error.failed.map(({ state }) => state);
      });
    };
    await task.run(handler);
    task.wake({ states: ['ACKED', 'EXPIRED'] });
    expect((await task.run(handler)).result).to.deep.equal(['EXPIRED']);
  });

  it('records the calls of a handler, and counts the money and the units', async () => {
    const task = new TestTask<unknown, unknown>(null);
    const quota = { budget: 'llm', quota: 'tokens', estimate: { amountMinor: 100, units: 50 } } as const;
    const pay: Handler<unknown, unknown> = async ({ attempt }, { reserve, units, spend, run }) => {
      await units('search', 3);
      const reservation = await reserve('llm', 400);
      if (attempt === 1) throw new Error('the model is away');
      await reservation.settle(120);
      await spend(quota, async (call) => call.used({ units: 20, amountMinor: 30 }));
      await run.note('paid').put(true);
      return reserve('rent', 7);
    };
    expect((await task.run(pay)).state).to.equal('READY');
    expect(task.spent).to.deep.equal({});
    expect((await task.run(pay)).state).to.equal('ACKED');
    expect(task.spent).to.deep.equal({ llm: '150', rent: '7' });
    expect(task.units).to.deep.equal({ search: 6, tokens: 20 });
    const { scopeId, id: messageId, token } = task.message;
    const [put] = task.calls.filter(({ call }) => call === 'note.put');
    expect(put?.fields).to.deep.equal({
      scopeId,
      key: 'paid',
      value: true,
      messageId,
      token,
    });
    expect(task.calls.map(({ call }) => call)).to.include.members(['allowance.wait', 'budget.reserve', 'budget.void']);
    expect(task.calls.filter(({ call }) => call.startsWith('message.'))).to.deep.equal([]);
  });

  it('lets a handler send and hold through its context, and shows what it has sent and finished', async () => {
    const task = new TestTask({ text: 'one two' });
    const handler: Handler<{ text: string }, number> = async ({ payload, id }, { send, hold, muster, finish }) => {
      const words = payload.text.split(' ');
      await send('words', words, { workKey: id });
      const fence = await hold('deploys', (held) => held.fence, { units: 2 });
      const [sent] = await muster.batch([
        muster.call.message.send({ mailboxId: 'log', scopeId: 'other', payload: 'batched' }),
      ]);
      if (!sent.ok) throw sent.error;
      return finish(words.length + fence, (t) => {
        const group = t.group.create({ mailboxId: 'reviews', condition: 'ALL_TERMINAL' });
        t.task.submit({ groupId: group.id, taskKey: 'a', input: words });
        t.message.send({ mailboxId: 'log', scopeId: 'other', payload: 'finished' });
      });
    };
    const end = await task.run(handler);
    const { id, scopeId } = task.message;
    expect([end.state, end.result]).to.deep.equal(['ACKED', 3]);
    expect(task.sent).to.deep.equal([
      { mailboxId: 'words', scopeId, payload: ['one', 'two'], workKey: id },
      { mailboxId: 'log', scopeId: 'other', payload: 'batched' },
      { mailboxId: 'log', scopeId: 'other', payload: 'finished' },
    ]);
    expect(end.plan.map(({ call }) => call)).to.deep.equal(['group.create', 'task.submit', 'message.send']);
    expect(end.plan[1]?.fields['groupId']).to.deep.equal({ $from: 1 });
    const [acquired] = task.calls.filter(({ call }) => call === 'pool.acquire');
    expect(acquired?.fields).to.include({ poolId: 'deploys', scopeId, units: 2, holderSession: id });
    expect(task.calls.map(({ call }) => call)).to.include('hold.release');
  });

  it('gives a message back whose plan is refused, and shows no plan then', async () => {
    const task = new TestTask(null, {
      answers: {
        'message.send': () => {
          throw new MusterError('BACKLOG_FULL', 'it is full');
        },
      },
    });
    const end = await task.run((_, { finish }) =>
      finish(1, (t) => t.message.send({ mailboxId: 'a', scopeId: 'b', payload: 1 })),
    );
    expect(end).to.deep.include({ state: 'READY', result: null, plan: [], error: 'MusterError: it is full' });
    const batched = await new TestTask(null, {
      answers: {
        'message.send': ({ payload }) => {
          if (payload === 1) throw new MusterError('BACKLOG_FULL', 'it is full');
          return { id: 'sent' };
        },
      },
    }).run(async (_, { muster }) => {
      const send = (payload: number) => muster.call.message.send({ mailboxId: 'a', scopeId: 'b', payload });
      return (await muster.batch([send(1), send(2)])).map((one) => (one.ok ? one.answer.id : one.error.code));
    });
    expect(batched.result).to.deep.equal(['BACKLOG_FULL', 'sent']);
  });

  it('runs a handler without a wait of its own, as the close of an idle worker has none', async () => {
    const { setTimeout: real } = globalThis;
    // Longer timers never fire.
    const short = (work: () => void, ms = 0) => real(ms < 20 ? work : () => undefined, ms);
    globalThis.setTimeout = short as unknown as typeof setTimeout;
    try {
      expect((await new TestTask(null).run(() => 1)).result).to.equal(1);
      const worker = new Worker(server.muster, { mailbox: 'idle', closeOnSignals: false }, () => 1);
      const mailboxId = await worker.mailboxId;
      while ((await server.muster.receivers.get({ mailboxId })).receivers.length === 0) await setImmediate();
      await worker.close();
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it('gives the answers of the test, and refuses what they refuse', async () => {
    let left = 1;
    const task = new TestTask<unknown, unknown>(null, {
      answers: {
        'budget.reserve': ({ amountMinor }) => {
          if (left-- === 0) throw new MusterError('INSUFFICIENT_BUDGET', 'too little', { retryAfterSeconds: 9 });
          return {
            id: 'r',
            state: 'ACTIVE',
            amountMinor,
            remainingMinor: amountMinor,
            settledMinor: '0',
            createdAt: '',
          };
        },
        'message.send': () => ({ id: 'sent' }),
      },
    });
    const { scopeId, mailboxId } = task.message;
    const handler: Handler<unknown, unknown> = async (_, { reserve, finish }) => {
      await reserve('llm', 1);
      return finish('done', (t) => t.message.send({ mailboxId, scopeId, payload: 1 }));
    };
    expect((await task.run(handler)).state).to.equal('ACKED');
    expect(task.calls.at(-1)).to.deep.equal({ call: 'message.send', fields: { mailboxId, scopeId, payload: 1 } });
    const short = new TestTask(null, {
      answers: {
        'budget.reserve': () => {
          throw new MusterError('INSUFFICIENT_BUDGET', 'too little', { retryAfterSeconds: 9 });
        },
      },
    });
    const end = await short.run((_, { reserve }) => reserve('llm', 1));
    expect(end).to.include({ state: 'DELAYED', delaySeconds: 9, error: 'MusterError: too little' });
    expect(short.message.attempts, 'no attempt is used up').to.equal(0);
  });

  it('loses its claim when it is taken, and past its deadline', async () => {
    const reasons: unknown[] = [];
    const waits: Handler<unknown, unknown> = (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          resolve('too late');
        });
      });
    const taken = new TestTask(null);
    const run = taken.run(waits);
    await until(async () => taken.message.attempts === 1);
    await taken.lose();
    expect(await run).to.deep.include({ state: 'LOST', result: null });

    const clock = new TestClock();
    const late = new TestTask(null, { clock, deadline: clock.in(60) });
    const end = late.run(async (message, task) => {
      clock.advance(61);
      return waits(message, task);
    });
    expect((await end).state).to.equal('LOST');
    expect(reasons.every((reason) => reason instanceof ClaimLost)).to.equal(true);
    expect(reasons).to.have.length(2);
  });

  it('has results of what a task is after, notes of its run, and answers that came too late', async () => {
    const task = new TestTask(null, { results: [{ found: 3 }, null], notes: { plan: 'a' } });
    const end = await task.run(async (_, { results, run, answer, ask }) => {
      if (!answer) return ask('Go?', { expiresInSeconds: 60 });
      const found = (await results()).map(({ result }) => result);
      return { found, plan: await run.note('plan').get(), isExpired: answer.isExpired };
    });
    expect(end.state).to.equal('BLOCKED');
    task.clock.advance(60);
    const next = await task.run(async (_, { results, run, answer }) => {
      const found = (await results()).map(({ result }) => result);
      return { found, plan: await run.note('plan').get(), isExpired: answer?.isExpired };
    });
    expect(next.result).to.deep.equal({ found: [{ found: 3 }, null], plan: 'a', isExpired: true });
  });

  it('names a call that it does not answer, and throws the error of an answer', async () => {
    const task = new TestTask<unknown, unknown>(null);
    const { scopeId } = task.message;
    const end = await task.run((_, { finish }) => finish('done', (t) => t.note.put({ scopeId, key: 'a', value: 1 })));
    expect(end).to.include({ state: 'ACKED', result: 'done' });
    expect(task.notes).to.deep.equal({ a: 1 });
    const unanswered: Record<string, Handler<unknown, unknown>> = {
      'message.requeue': (_, { finish }) => finish('done', (t) => t.message.requeue({ messageId: 'a' })),
      // An answer to a held view would be a rule of the service.
      'note.view': (_, { run }) => run.note('go').changed(0),
    };
    for (const [name, handler] of Object.entries(unanswered)) {
      const said = await new TestTask<unknown, unknown>(null).run(handler).catch(({ message }) => message);
      expect(said).to.equal(`a test task does not answer ${name}: put it into answers, or use testServer`);
    }
    const fails = () => {
      throw new TypeError('a mistake of the test');
    };
    const wrong = new TestTask(null, { answers: { 'note.list': fails } }).run(async (_, { run }) => {
      for await (const note of run.notes()) expect(note);
    });
    expect(await wrong.catch(({ message }) => message)).to.equal('a mistake of the test');
  });

  it('is in no bundle of a program that does not import it', async () => {
    const { metafile } = await build({
      stdin: {
        contents: "export * from './index.ts'",
        resolveDir: fileURLToPath(new URL('../../src/clients/typescript', import.meta.url)),
      },
      ...{ bundle: true, platform: 'browser', format: 'esm', write: false, metafile: true },
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.some((path) => path.endsWith('typescript/worker/worker.ts'))).to.equal(true);
    expect(inputs.filter((path) => path.includes('/testing/'))).to.deep.equal([]);
  });

  it('has a hold that can be lost', () => {
    const hold = new TestHold({ fence: 7 });
    expect([hold.fence, hold.record.fence, hold.signal.aborted]).to.deep.equal([7, 7, false]);
    hold.lose();
    expect(hold.signal.reason).to.be.instanceOf(HoldLost);
  });

  describe('its server', () => {
    it('has spaces that see nothing of each other, at their limits’ maxima', async () => {
      const other = await server.space();
      await server.muster.mailbox.create({ name: 'here' });
      expect((await other.muster.mailbox.list()).mailboxes).to.deep.equal([]);
      expect((await other.muster.limits.get()).requestsPerMinute).to.be.above(10_000);
      const two = await Promise.all([server.space(), server.space()]);
      expect(new Set([...two, other, server].map(({ spaceId }) => spaceId)).size).to.equal(4);
    });

    it('leaves nothing behind, whether it is stopped or its tests are killed', async () => {
      // A folder of its own for temporary files: other tests that run now have such servers, too.
      const [usual, own] = [process.env['TMPDIR'], mkdtempSync(join(tmpdir(), 'muster-folders-'))];
      const left = () => readdirSync(own);
      // tsx keeps a folder there as well.
      const isServers = (name: string) => name.startsWith('muster-test-');
      process.env['TMPDIR'] = own;
      const one = await testServer().finally(() => {
        if (usual === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = usual;
      });
      expect(left()).to.have.length(1);
      await one.stop();
      expect(await one.muster.mailbox.list({}, { attempts: 1 }).catch(({ code }) => code)).to.equal('UNREACHABLE');
      expect(left()).to.deep.equal([]);
      const tests = `import('${new URL('../../src/clients/typescript/testing/index.ts', import.meta.url)}').then(async ({ testServer }) => {
        console.log((await testServer()).url);
        setInterval(() => {}, 1000);
      })`;
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', tests], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, TMPDIR: own },
      });
      const [url] = await once(child.stdout, 'data');
      expect(left().some(isServers)).to.equal(true);
      child.kill('SIGKILL');
      await until(async () => !left().some(isServers));
      rmSync(own, { recursive: true });
      expect(await fetch(String(url).trim()).catch(() => 'gone')).to.equal('gone');
    });

    it('ends at SIGTERM, also while it starts, and leaves nothing behind', async () => {
      const own = mkdtempSync(join(tmpdir(), 'muster-folders-'));
      const env = { ...process.env, TMPDIR: own };
      const start = () => {
        const server = spawn(process.execPath, [program, 'test-server'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
        endAtExit(server, 'SIGKILL');
        return server;
      };
      const [early, late] = [start(), start()];
      const ends = Promise.all([once(early, 'exit'), once(late, 'exit')]);
      await until(async () => readdirSync(own).length === 2);
      early.kill();
      await once(late.stdout, 'data');
      late.kill();
      expect((await ends).flat()).to.deep.equal([0, null, 0, null]);
      expect(readdirSync(own)).to.deep.equal([]);
      rmSync(own, { recursive: true });
    });

    it('lets a program end that has forgotten to stop it', async () => {
      const tests = `import('${new URL('../../src/clients/typescript/testing/index.ts', import.meta.url)}').then(async ({ testServer }) => {
        const { muster } = await testServer();
        await muster.mailbox.create({ name: 'a' });
      })`;
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', tests], {
        stdio: 'inherit',
      });
      expect(await once(child, 'exit')).to.deep.equal([0, null]);
    });

    it('says what to install where there is none', async () => {
      delete process.env['MUSTER_SERVER'];
      const error = await testServer().catch((refusal: Error) => refusal);
      process.env['MUSTER_SERVER'] = program;
      expect((error as Error).message).to.include('npm install --save-dev muster-server');
      expect(existsSync(program)).to.equal(true);
    });
  });
});
