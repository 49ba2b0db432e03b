import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  type After,
  createMuster,
  GiveUp,
  type Handler,
  type Muster,
  type MusterError,
  type MusterOptions,
  type PrerequisiteResult,
  Worker,
  type WorkerEvents,
  type WorkerOptions,
} from '../../src/clients/typescript/index.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

describe('the worker of the typed client', () => {
  let world: World;
  let muster: Muster;
  const workers: Pick<Worker, 'close'>[] = [];
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create({ limits: { maxBacklog: 10_000 } });
    muster = client();
  });
  afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(0))));

  const client = (more: Partial<MusterOptions> = {}) =>
    createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, ...more });

  /** A client that counts its requests, and whose requests fail while `isAway`. */
  function counting(more: Partial<MusterOptions> = {}): {
    client: Muster;
    paths: string[];
    away: (path: RegExp | undefined) => void;
  } {
    const paths: string[] = [];
    let away: RegExp | undefined;
    const counts: typeof fetch = async (url, init) => {
      const { pathname } = new URL(String(url));
      paths.push(pathname);
      if (away?.test(pathname)) throw new TypeError('fetch failed', { cause: new Error('away') });
      return fetch(url, init);
    };
    return {
      client: client({ ...more, fetch: counts }),
      paths,
      away: (path) => {
        away = path;
      },
    };
  }

  function start<P = unknown, R = unknown>(
    options: Partial<WorkerOptions> & Pick<WorkerOptions, 'mailbox'>,
    handler: Handler<P, R>,
    by: Muster = muster,
  ): Worker<P, R> {
    const worker = new Worker<P, R>(by, { closeOnSignals: false, ...options }, handler);
    workers.push(worker);
    return worker;
  }

  function heard<P, R, Name extends keyof WorkerEvents>(worker: Worker<P, R>, name: Name): WorkerEvents<P, R>[Name][] {
    const all: WorkerEvents<P, R>[Name][] = [];
    worker.on(name, (event) => all.push(event));
    return all;
  }
  const mailbox = async (more: object = {}) => (await muster.mailbox.create({ name: randomUUID(), ...more })).id;
  const sent = async (mailboxId: string, payload: unknown = null, more: object = {}) =>
    (await muster.message.send({ mailboxId, scopeId, payload, ...more })).id;
  const view = (messageId: string) => muster.message.view<unknown, unknown>({ messageId });

  it('makes its mailbox, works on messages of all runs in turn, and completes them with what the handler returns', async () => {
    const name = randomUUID();
    const order: string[] = [];
    const worker = start<{ run: string }, { ran: string }>({ mailbox: { name, maxAttempts: 7 } }, ({ payload }) => {
      order.push(payload.run);
      return { ran: payload.run };
    });
    const completed = heard(worker, 'completed');
    const mailboxId = await worker.mailboxId;
    expect((await muster.mailbox.view({ mailboxId })).maxAttempts).to.equal(7);
    const runs = [randomUUID(), randomUUID()];
    const send = (run: string, n: number) =>
      muster.call.message.send({ mailboxId, scopeId: runs[n] ?? '', payload: { run } });
    await muster.batch([send('a1', 0), send('a2', 0), send('b1', 1)]);
    await worker.drained();
    expect(order.sort()).to.deep.equal(['a1', 'a2', 'b1']);
    expect(completed.map(({ result }) => result)).to.deep.include({ ran: 'b1' });
    expect(worker.counts).to.include({ received: 3, completed: 3, returned: 0, failed: 0, lost: 0, active: 0 });
    const results: unknown[] = [];
    for await (const { result } of muster.message.all({ mailboxId, state: 'ACKED' })) results.push(result);
    expect(results).to.have.deep.members([{ ran: 'a1' }, { ran: 'a2' }, { ran: 'b1' }]);
    // The same name is the same mailbox.
    expect(await start({ mailbox: name }, () => 1).mailboxId).to.equal(mailboxId);
  });

  it('leaves the signals of the process to others once it has closed', async () => {
    const listeners = () => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');
    const before = listeners();
    const worker = start({ mailbox: { mailboxId: await mailbox() }, closeOnSignals: true }, () => null);
    expect(listeners()).to.equal(before + 2);
    await worker.close(0);
    await until(() => listeners() === before);
  });

  it('sleeps while it has no room', async () => {
    const mailboxId = await mailbox();
    await sent(mailboxId);
    let begun = false;
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const worker = start({ mailbox: { mailboxId }, concurrency: 1 }, () => {
      begun = true;
      return done;
    });
    await until(() => begun);
    const { setTimeout: real } = globalThis;
    let looks = 0;
    const counts = (...args: Parameters<typeof real>) => {
      if (args[1] === 0) looks++;
      return real(...args);
    };
    globalThis.setTimeout = Object.assign(counts, real);
    try {
      // Each goes to the server and back, in which time one that does not sleep looks again and again.
      for (let n = 0; n < 50; n++) await muster.limits.get();
    } finally {
      globalThis.setTimeout = real;
    }
    expect(looks).to.be.below(10);
    finish();
    await worker.drained();
    expect(worker.counts.completed).to.equal(1);
  });

  it('loses a message whose handler throws once somebody else has its claim', async () => {
    const mailboxId = await mailbox();
    let fail: ((error: Error) => void) | undefined;
    const worker = start({ mailbox: { mailboxId }, concurrency: 1 }, () => new Promise((_, reject) => (fail = reject)));
    const lost = heard(worker, 'lost');
    const messageId = await sent(mailboxId);
    await until(() => fail !== undefined);
    await muster.message.release({ messageId });
    expect(await muster.message.recv({ mailboxId, scopeId, holder: 'other', holderSession: 's' })).to.include({
      id: messageId,
    });
    fail?.(new Error('too late'));
    await until(() => lost.length === 1);
    expect(worker.counts).to.include({ lost: 1, failed: 0, returned: 0 });
  });

  it('receives from one scope only, and publishes results into a mailbox in the same step', async () => {
    const [mailboxId, reports] = [await mailbox(), await mailbox()];
    const elsewhere = await muster.message.send({ mailboxId, scopeId: randomUUID(), payload: 0 });
    const here = await sent(mailboxId, 21);
    const options = { mailbox: { mailboxId }, scopeId, resultsTo: { mailboxId: reports } };
    const worker = start<number, number>(options, ({ payload }) => payload * 2);
    await until(async () => worker.counts.completed === 1);
    expect([(await view(here)).state, (await view(elsewhere.id)).state]).to.deep.equal(['ACKED', 'READY']);
    const { messages } = await muster.message.list({ mailboxId: reports });
    expect(messages.map(({ payload, scopeId }) => [payload, scopeId])).to.deep.equal([[42, scopeId]]);
  });

  it('writes a line when an outage begins and one when it ends, however often calls fail, where nobody listens', async () => {
    const { client: by, paths, away } = counting();
    const mailboxId = await mailbox();
    const said: unknown[][] = [];
    const { error } = console;
    console.error = (...words) => said.push(words);
    try {
      const worker = start({ mailbox: { mailboxId }, holder: 'agent-1', concurrency: 2 }, () => 1, by);
      await until(() => world.service.wake.size === 1);
      away(/./);
      await sent(mailboxId);
      // The receive that was held brought the message; it cannot be completed, nor others received.
      const before = paths.length;
      await until(() => paths.length > before + 6);
      away(undefined);
      await until(() => worker.counts.completed === 1 && said.length > 1);
      await sent(mailboxId);
      await until(() => worker.counts.completed === 2);
    } finally {
      console.error = error;
    }
    expect(said).to.have.length(2);
    // Whichever call met it first: the receive alone, or in a batch with the completion.
    expect(said[0]?.join()).to.match(
      /^agent-1: the service is unavailable, retrying: UNREACHABLE: POST \S+\/(recv|batch): no answer: away$/,
    );
    expect(said[1]?.join()).to.match(/^agent-1: the service is available again after \d+ s$/);
  });

  it('keeps progress for the next attempt, also what was not sent yet when the handler threw', async () => {
    const mailboxId = await mailbox();
    const found: unknown[] = [];
    const worker = start({ mailbox: { mailboxId } }, ({ attempt, progress: reached }, { progress, log }) => {
      found.push(reached);
      for (const page of [1, 2, 3]) progress({ page: page * attempt });
      expect(() => progress(1n)).to.throw(TypeError);
      log('reading', { attempt });
      if (attempt < 3) throw new Error('again');
    });
    const logs = heard(worker, 'log');
    const id = await sent(mailboxId);
    await worker.drained();
    expect(found).to.deep.equal([null, { page: 3 }, { page: 6 }]);
    expect(logs.map(({ text, data }) => [text, data])).to.deep.include(['reading', { attempt: 3 }]);
    expect((await view(id)).state).to.equal('ACKED');
  });

  it('keeps progress whose renewal was under way, and fails, when the handler threw', async () => {
    const mailboxId = await mailbox();
    const found: unknown[] = [];
    let isSending = false;
    let hasThrown = false;
    const fails: typeof fetch = async (url, init) => {
      if (!String(url).endsWith('/renew') || hasThrown) return fetch(url, init);
      isSending = true;
      await until(() => hasThrown);
      throw new TypeError('fetch failed');
    };
    const worker = start(
      { mailbox: { mailboxId }, batch: false },
      async ({ attempt, progress: reached }, { progress }) => {
        found.push(reached);
        if (attempt === 2) return;
        progress({ page: 7 });
        await until(() => isSending);
        hasThrown = true;
        throw new Error('again');
      },
      client({ fetch: fails }),
    );
    await sent(mailboxId);
    await worker.drained();
    expect(found).to.deep.equal([null, { page: 7 }]);
  });

  it('renews at a third of the lease, and not before', async () => {
    const { client: by, paths } = counting();
    const mailboxId = await mailbox();
    const worker = start(
      { mailbox: { mailboxId }, leaseSeconds: 5, batch: false },
      async (_, { signal }) => {
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        return signal.aborted;
      },
      by,
    );
    const id = await sent(mailboxId);
    await until(() => worker.counts.completed === 1);
    expect((await view(id)).result).to.equal(false);
    expect(paths.filter((path) => path.endsWith('/renew')).length).to.equal(1);
  });

  it('completes a message whose last renewal arrived after its end', async () => {
    const mailboxId = await mailbox();
    let [isRenewing, isAcknowledged, isRefused] = [false, false, false];
    const late: typeof fetch = async (url, init) => {
      const path = String(url);
      if (path.endsWith('/renew')) {
        isRenewing = true;
        await until(() => isAcknowledged);
      }
      const response = await fetch(url, init);
      if (path.endsWith('/renew')) isRefused = response.status === 409;
      if (path.endsWith('/complete')) {
        isAcknowledged = true;
        await until(() => isRefused);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return response;
    };
    const worker = start(
      { mailbox: { mailboxId }, batch: false },
      async (_, { progress }) => {
        progress('almost done');
        await until(() => isRenewing);
      },
      client({ fetch: late }),
    );
    await sent(mailboxId);
    await until(() => worker.counts.completed + worker.counts.lost > 0);
    expect(worker.counts).to.include({ completed: 1, lost: 0 });
  });

  it('never works on more than it can', async () => {
    const mailboxId = await mailbox();
    let [now, peak] = [0, 0];
    const worker = start({ mailbox: { mailboxId }, concurrency: 3 }, async () => {
      peak = Math.max(peak, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
    });
    await muster.batch(Array.from({ length: 30 }, () => muster.call.message.send({ mailboxId, scopeId, payload: 1 })));
    await worker.drained();
    expect([peak, worker.counts.completed]).to.deep.equal([3, 30]);
    expect(() => start({ mailbox: 'x', concurrency: 0 }, () => 1)).to.throw(RangeError);
  });

  /** Requests per message of sending, receiving and completing. */
  async function requestsOf(messages: number, batch: boolean): Promise<number> {
    const { client: by, paths } = counting();
    const { id: mailboxId } = await by.mailbox.create({ name: randomUUID(), backlogLimit: messages });
    const payloads = Array.from({ length: messages }, (_, n) => n);
    if (batch)
      for (let n = 0; n < messages; n += 100) {
        const some = payloads.slice(n, n + 100);
        const results = await by.batch(some.map((payload) => by.call.message.send({ mailboxId, scopeId, payload })));
        expect(results.filter((result) => !result.ok)).to.deep.equal([]);
      }
    else for (const payload of payloads) await by.message.send({ mailboxId, scopeId, payload });
    let sum = 0;
    const worker = start<number>(
      { mailbox: { mailboxId }, concurrency: 50, batch },
      async ({ payload }) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
        sum += payload;
      },
      by,
    );
    await until(() => worker.counts.completed === messages);
    expect(sum).to.equal((messages * (messages - 1)) / 2);
    await worker.close();
    return paths.length / messages;
  }

  it('takes at most 0.3 requests a message with batches, sending included, at a concurrency of 50', async () => {
    expect(await requestsOf(1_000, true)).to.be.at.most(0.3);
  });

  it('completes a message and receives the next one in one request, at a concurrency of 1, too', async () => {
    const mailboxId = await mailbox();
    for (let n = 0; n < 20; n++) await sent(mailboxId, n);
    const { client: by, paths } = counting();
    const done: unknown[] = [];
    const worker = start({ mailbox: { mailboxId } }, ({ payload }) => done.push(payload), by);
    await until(() => worker.counts.completed === 20);
    expect(done).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
    const made = paths.filter((path) => /\/(batch|recv)$/.test(path)).length;
    expect(made, paths.join(' ')).to.be.at.most(22);
  });

  it('fetches what the messages and groups left that a message is after, whichever way they are named', async () => {
    const mailboxId = await mailbox();
    const scopeId = randomUUID();
    const send = (payload: number, after?: After[]) =>
      muster.message.send({ mailboxId, scopeId, payload, ...(after && { after, onFailure: 'RUN' }) });
    const [one, two, three] = [await send(1), await send(2), await send(-3)];
    const group = await muster.group.create({ mailboxId, condition: 'ALL_TERMINAL' });
    const member = await muster.task.submit({ groupId: group.groupId, taskKey: 'm', input: 4 });
    await muster.group.seal({ groupId: group.groupId });
    const after = [one, two.id, { messageId: three.id }, { groupId: group.groupId }, member];
    const last = await send(0, after);
    expect(last.state).to.equal('BLOCKED');
    let results: PrerequisiteResult<number>[] = [];
    const worker = start<number, number | undefined>({ mailbox: { mailboxId } }, async ({ payload }, task) => {
      if (payload < 0) throw new GiveUp('no');
      if (payload > 0) return payload * 10;
      results = await task.results<number>();
      return undefined;
    });
    await until(() => worker.counts.completed === 4);
    expect(results.map(({ state, result }) => [state, result])).to.deep.equal([
      ['ACKED', 10],
      ['ACKED', 20],
      ['REJECTED', null],
      ['SATISFIED', [40]],
      ['ACKED', 40],
    ]);
  });

  it('receives by itself again as soon as nothing came with an end', async () => {
    const { client: by, paths } = counting();
    const mailboxId = await mailbox();
    const worker = start({ mailbox: { mailboxId } }, () => 1, by);
    for (const count of [1, 2, 3]) {
      await until(() => world.service.wake.size === 1);
      await sent(mailboxId);
      await until(() => worker.counts.completed === count);
    }
    await until(() => world.service.wake.size === 1);
    const last = paths.flatMap((path) => /batch|recv/.exec(path) ?? []);
    expect(last).to.deep.equal(['recv', 'batch', 'recv', 'batch', 'recv', 'batch', 'recv']);
  });

  it('holds its next receive where an end is slow to be sent', async () => {
    const encode = (bytes: Uint8Array) => new Promise<Uint8Array>((resolve) => setTimeout(resolve, 500, bytes));
    const { client: by, paths } = counting({ codecs: [{ name: 'slow', encode, decode: (bytes) => bytes }] });
    const mailboxId = await mailbox();
    await sent(mailboxId);
    const worker = start({ mailbox: { mailboxId } }, () => 1, by);
    await until(() => worker.counts.completed === 1);
    const made = paths.flatMap((path) => /batch|recv/.exec(path) ?? []);
    expect(made).to.deep.equal(['recv', 'batch', 'recv', 'batch']);
  });

  it('gives back, without an attempt, a message that came with the last end while it closed', async () => {
    const mailboxId = await mailbox();
    await sent(mailboxId, 1);
    const second = await sent(mailboxId, 2);
    let closed: Promise<void> | undefined;
    const closing: typeof fetch = (url, init) => {
      if (String(url).endsWith('/batch')) closed ??= worker.close();
      return fetch(url, init);
    };
    const worked: unknown[] = [];
    const by = client({ fetch: closing });
    const worker = start({ mailbox: { mailboxId } }, ({ payload }) => worked.push(payload), by);
    await until(() => closed !== undefined);
    await closed;
    expect(worked).to.deep.equal([1]);
    expect(worker.counts).to.include({ received: 2, completed: 1, returned: 1 });
    expect(await view(second)).to.include({ state: 'READY', attempts: 0 });
  });

  it('goes on when a batch, and the receive in it, gets no answer in time', async () => {
    const mailboxId = await mailbox();
    const ids = [await sent(mailboxId), await sent(mailboxId)];
    let isHung = false;
    const hangs: typeof fetch = (url, init) => {
      if (isHung || !String(url).endsWith('/batch')) return fetch(url, init);
      isHung = true;
      return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    };
    const worker = start({ mailbox: { mailboxId }, leaseSeconds: 5 }, () => 1, client({ fetch: hangs }));
    const errors = heard(worker, 'error');
    await until(() => worker.counts.completed === 2 || errors.some(({ isFatal }) => isFatal));
    for (const id of ids) expect(await view(id)).to.include({ state: 'ACKED', attempts: 1 });
    expect(errors.map(({ error, isFatal }) => [(error as MusterError).code, isFatal])).to.deep.equal([
      ['UNREACHABLE', false],
    ]);
  });

  it('does its work whatever its listeners throw, and says what they threw', async () => {
    const mailboxId = await mailbox();
    await sent(mailboxId);
    await sent(mailboxId);
    const said: unknown[][] = [];
    const { error } = console;
    console.error = (...words) => said.push(words);
    try {
      const worker = start({ mailbox: { mailboxId } }, () => 1);
      for (const name of ['received', 'completed', 'closed'] as const)
        worker.on(name, () => {
          throw new Error(name);
        });
      await until(() => worker.counts.completed === 2);
      await worker.close();
      await worker.closed;
    } finally {
      console.error = error;
    }
    const names = ['received', 'completed', 'received', 'completed', 'closed'];
    expect(said.map(([, thrown]) => String(thrown))).to.have.members(names.map((name) => `Error: ${name}`));
  });

  it('takes at most 3.2 requests a message one by one, sending included', async () => {
    expect(await requestsOf(process.env['LONG'] ? 1_000 : 150, false)).to.be.at.most(3.2);
  });

  it('goes on when the function that returns its key works again', async () => {
    const mailboxId = await mailbox();
    let isAway = true;
    const key = () => (isAway ? Promise.reject(new Error('no token today')) : world.apiKey);
    const worker = start({ mailbox: { mailboxId } }, () => 'done', client({ key }));
    const errors = heard(worker, 'error');
    const id = await sent(mailboxId);
    await until(() => errors.length > 0);
    isAway = false;
    await until(() => worker.counts.completed === 1);
    expect(await view(id)).to.include({ state: 'ACKED', attempts: 1 });
  });

  it('stops, and says why, when its key, its mailbox or its options are refused', async () => {
    for (const [by, options, code] of [
      [client({ key: 'mk_x_y' }), { mailbox: 'a' }, 'INVALID_API_KEY'],
      [muster, { mailbox: { mailboxId: randomUUID() } }, 'MAILBOX_NOT_FOUND'],
      [muster, { mailbox: 'a', leaseSeconds: 1 }, 'VALIDATION_FAILED'],
    ] as const) {
      const worker = start(options, () => 1, by);
      const errors = heard(worker, 'error');
      const error = await worker.closed.catch((thrown) => thrown);
      expect(error).to.include({ code });
      expect(errors).to.deep.include({ error, isFatal: true });
    }
  });

  describe('spends', () => {
    const budget = async () => {
      const name = randomUUID();
      const { id } = await muster.budget.create({ name, currency: 'EUR', scale: 2, limitMinor: '1000' });
      return { name, balances: async () => (await muster.budget.view({ budgetId: id })).balances, id };
    };

    it('finds what an attempt that died had reserved, and does not spend it twice', async () => {
      const { name, balances, id: budgetId } = await budget();
      const mailboxId = await mailbox();
      const id = await sent(mailboxId);
      // A worker that dies after it has reserved: the lease goes back by a nack here.
      const claim = await muster.message.recv({ mailboxId, scopeId, holder: 'dead', holderSession: 's' });
      await muster.budget.reserve({ budgetId, scopeId, holder: 'dead', amountMinor: '300', workKey: `${id}/1/1` });
      await muster.message.nack({ messageId: id, token: claim?.token ?? '', retry: true });
      const reserved: string[] = [];
      const worker = start({ mailbox: { mailboxId } }, async (_, { reserve }) => {
        await reserve(name, 300);
        await reserve(name, 1);
        reserved.push((await balances()).reserved);
      });
      await worker.drained();
      expect(reserved).to.deep.equal(['301']);
      expect(await balances()).to.include({ reserved: '0', settled: '301' });
    });

    it('reserves again after a failed attempt, and leaves to the next attempt what a lost one holds', async () => {
      const { name, balances } = await budget();
      const mailboxId = await mailbox();
      const worker = start({ mailbox: { mailboxId } }, async ({ attempt }, { reserve }) => {
        await reserve(name, 10);
        if (attempt < 3) throw new Error('again');
      });
      await sent(mailboxId);
      await worker.drained();
      expect(await balances()).to.include({ reserved: '0', settled: '10' });
      const held: string[] = [];
      const cancelled = start({ mailbox: { mailboxId: await mailbox() } }, async (_, { reserve, signal }) => {
        await reserve(name, 20);
        held.push((await balances()).reserved);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
      const id = await sent(await cancelled.mailboxId);
      await until(() => held.length === 1);
      await muster.message.cancel({ messageId: id });
      await until(async () => (await balances()).reserved === '0');
      expect(held).to.deep.equal(['20']);
    });

    it('nothing more where the service has settled a reservation that was overdue, and says what it has settled', async () => {
      const { name, balances } = await budget();
      const mailboxId = await mailbox();
      const settled: string[] = [];
      const worker = start({ mailbox: { mailboxId } }, async (_, { reserve }) => {
        const settleBy = Date.now() + 1_500;
        const reservation = await reserve(name, 20, { settleBy: new Date(settleBy), onOverdue: 'SETTLE' });
        await until(() => Date.now() > settleBy);
        settled.push((await reservation.settle(5)).amountMinor);
      });
      const id = await sent(mailboxId);
      await worker.drained();
      expect((await view(id)).state).to.equal('ACKED');
      expect(settled).to.deep.equal(['20']);
      expect(await balances()).to.include({ reserved: '0', settled: '20' });
    });

    it('gives back what a lost attempt holds whose message somebody else has ended, however', async () => {
      const { name, balances } = await budget();
      const mailboxId = await mailbox();
      let held = 0;
      start({ mailbox: { mailboxId }, concurrency: 2, leaseSeconds: 5 }, async (_, { reserve, signal }) => {
        await reserve(name, 20);
        held++;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
      const ids = [await sent(mailboxId), await sent(mailboxId)];
      await until(() => held === ids.length);
      for (const messageId of ids) await muster.message.release({ messageId });
      const { messages = [] } =
        (await muster.message.recv({ mailboxId, scopeId, holder: 'other', holderSession: 's', max: 2 })) ?? {};
      const [first, second] = messages.map(({ id, token }) => ({ messageId: id, token }));
      if (!first || !second) throw new Error('they were not received again');
      await muster.message.complete(first);
      await muster.message.nack({ ...second, retry: false });
      await until(async () => (await balances()).reserved === '0');
      expect((await Promise.all(ids.map(view))).map(({ state }) => state)).to.deep.equal(['ACKED', 'REJECTED']);
      expect(await balances()).to.include({ settled: '0' });
    });

    it('no attempt where a budget or a quota is short, unless something was spent before', async () => {
      const { name, balances } = await budget();
      const { id: allowanceId } = await muster.allowance.create({ name, unitsLimit: 1, windowSeconds: 31_536_000 });
      await muster.allowance.consume({ allowanceId, scopeId, units: 1, holder: 'other' });
      const mailboxId = await mailbox({ maxAttempts: 1, retryDelaySeconds: 3_000 });
      const begun = Date.now();
      const worker = start<string>(
        { mailbox: { mailboxId }, concurrency: 4 },
        async ({ payload }, { reserve, spend }) => {
          if (payload === 'called')
            await spend({ budget: name, estimate: { amountMinor: 10 } }, async (call) => call.used({ amountMinor: 5 }));
          if (payload === 'units') await muster.allowance.consume({ allowanceId, scopeId, units: 1, holder: 'h' });
          const first = await reserve(name, 10);
          if (payload === 'spent') await first.settle(5);
          await reserve(name, 2_000);
        },
      );
      const failed = heard(worker, 'failed');
      const payloads = ['money', 'units', 'spent', 'called'];
      const ids = await Promise.all(payloads.map((payload) => sent(mailboxId, payload)));
      await until(() => failed.length === payloads.length);
      const [money, units, spent, called] = await Promise.all(ids.map(view));
      for (const [short, seconds] of [
        [money, 30],
        [units, 60],
      ] as const) {
        expect(short).to.include({ state: 'DELAYED', attempts: 0 });
        expect(Date.parse(short?.readyAt ?? '')).to.be.within(begun, Date.now() + seconds * 1000);
      }
      expect(money?.lastError).to.match(/available/);
      for (const one of [spent, called]) expect(one).to.include({ state: 'FAILED', attempts: 1 });
      expect(await balances()).to.include({ reserved: '0', settled: '10' });
    });

    it('units, with a place in line that is renewed, so that it ends soon once nobody does', async () => {
      const name = randomUUID();
      const { id: allowanceId } = await muster.allowance.create({ name, unitsLimit: 1, windowSeconds: 31_536_000 });
      await muster.allowance.consume({ allowanceId, scopeId, units: 1, holder: 'other' });
      const held: string[] = [];
      // Its views are answered at once, so that the test does not wait for as long as they are held.
      const hasty: typeof fetch = (url, init) => {
        const text = String(url);
        if (text.includes('/allowance-waiters/')) held.push(text);
        return fetch(text.replace(/waitSeconds=\d+/, 'waitSeconds=0'), init);
      };
      const by = client({ fetch: hasty });
      const worker = start({ mailbox: { mailboxId: await mailbox() } }, (_, { units }) => units(name), by);
      await sent(await worker.mailboxId);
      const waiters = async () => (await muster.waits.get()).waiters.filter((one) => one.allowanceId === allowanceId);
      await until(async () => (await waiters()).length === 1);
      const renewals = () => held.filter((path) => path.endsWith('/renew')).length;
      await until(() => renewals() > 1);
      const seconds = (await waiters()).map(({ expiresAt }) => (Date.parse(expiresAt) - Date.now()) / 1000);
      expect(seconds[0]).to.be.within(0, 30);
      expect(held[0], 'a third of it').to.match(/waitSeconds=10$/);
      await muster.allowance.update({ allowanceId, unitsLimit: 2 });
      await until(() => worker.counts.completed === 1);
      expect(await waiters()).to.deep.equal([]);
    });

    it('units, in line with the others; its place is free again when it is cancelled', async () => {
      const name = randomUUID();
      const { id: allowanceId } = await muster.allowance.create({ name, unitsLimit: 2, windowSeconds: 31_536_000 });
      const mailboxId = await mailbox();
      const worker = start<number>({ mailbox: { mailboxId }, concurrency: 4 }, ({ payload }, { units }) =>
        units(name, payload),
      );
      const ids = [await sent(mailboxId, 2), await sent(mailboxId, 1)];
      await until(async () => (await muster.allowance.view({ allowanceId })).waiting === 1);
      await until(async () => (await view(ids[0] ?? '')).state === 'ACKED');
      await muster.message.cancel({ messageId: ids[1] ?? '' });
      await until(async () => (await muster.allowance.view({ allowanceId })).waiting === 0);
      expect(worker.counts).to.include({ completed: 1, lost: 1 });
      const unknown = start({ mailbox: { mailboxId: await mailbox() } }, (_, { units }) =>
        units('nothing of this name'),
      );
      const id = await sent(await unknown.mailboxId, 1, { maxAttempts: 1 });
      await until(() => unknown.counts.failed === 1);
      expect((await view(id)).lastError).to.equal('Error: there is no allowance named nothing of this name');
    });
  });

  it('leaves no claim behind when it closes while it receives: all is given back, and no attempt is used up', async () => {
    const mailboxId = await mailbox();
    const sends = Array.from({ length: 90 }, (_, payload) => muster.call.message.send({ mailboxId, scopeId, payload }));
    await muster.batch(sends);
    for (let round = 0; round < 12; round++) {
      // Its receive is under way, or has just been answered.
      const worker = start({ mailbox: { mailboxId }, concurrency: 20, leaseSeconds: 600 }, () => new Promise(() => {}));
      await worker.mailboxId;
      await new Promise((resolve) => setTimeout(resolve, round));
      await worker.close(0);
    }
    const { counts } = await muster.mailbox.view({ mailboxId });
    expect([counts.ready, counts.claimed]).to.deep.equal([90, 0]);
    for await (const { attempts } of muster.message.all({ mailboxId })) expect(attempts).to.equal(0);
  });
});
