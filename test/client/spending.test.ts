import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';
import { givenBack } from '../../src/clients/typescript/giving-back.ts';
import {
  ClaimLost,
  createMuster,
  type Handler,
  type Muster,
  type Reservation,
  type ReservationRecord,
  type Settlement,
  Worker,
  type WorkerOptions,
} from '../../src/clients/typescript/index.ts';
import { until } from '../support/processes.ts';
import { Provider } from '../support/provider.ts';
import { World } from '../support/world.ts';

describe('the money of a worker', () => {
  let world: World;
  let muster: Muster;
  const workers: Pick<Worker, 'close'>[] = [];
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create({ limits: { maxBacklog: 10_000 } });
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });
  afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(0))));

  const mailbox = async (): Promise<string> => (await muster.mailbox.create({ name: randomUUID() })).id;
  const send = async (mailboxId: string, payload: unknown = null, more: object = {}): Promise<string> =>
    (await muster.message.send({ mailboxId, scopeId, payload, ...more })).id;

  /** A new budget; `balances`: reserved, settled, available, overdrawn. */
  async function budget(limitMinor = '1000') {
    const name = randomUUID();
    const { id } = await muster.budget.create({ name, currency: 'EUR', scale: 2, limitMinor });
    const view = () => muster.budget.view({ budgetId: id });
    const balances = async (): Promise<string> => {
      const { reserved, settled, available, overdrawn } = (await view()).balances;
      return [reserved, settled, available, overdrawn].join(' ');
    };
    return { id, name, view, balances };
  }

  function start<P = unknown>(
    mailboxId: string,
    handler: Handler<P, unknown>,
    { by = muster, ...options }: Partial<WorkerOptions> & { by?: Muster } = {},
  ): Worker<P> {
    const worker = new Worker<P>(by, { closeOnSignals: false, mailbox: { mailboxId }, ...options }, handler);
    workers.push(worker);
    return worker;
  }

  /**
   * A client that tries each call once. The next `failures` calls to a path get no answer: they do not arrive, or, with
   * `isDone`, their answer is lost.
   */
  function unlucky() {
    let plan: { path: RegExp; failures: number; isDone: boolean } | undefined;
    let met = 0;
    const fetcher: typeof fetch = async (url, init) => {
      const isMeant = plan !== undefined && plan.failures > 0 && plan.path.test(new URL(String(url)).pathname);
      const answer = isMeant && !plan?.isDone ? undefined : await fetch(url, init);
      if (!isMeant || !plan) return answer as Response;
      plan.failures--;
      met++;
      await answer?.text();
      throw new TypeError('fetch failed', { cause: new Error('away') });
    };
    const access = { url: world.url, key: world.apiKey, spaceId: world.spaceId };
    return {
      by: createMuster({ ...access, fetch: fetcher, attempts: 1 }),
      met: () => met,
      fails: (path: RegExp, failures: number, { isDone = false } = {}) => {
        plan = { path, failures, isDone };
      },
    };
  }

  it('settles what the work has cost, be it more than was reserved, and does not repeat it', async () => {
    const { name, balances } = await budget('100');
    const mailboxId = await mailbox();
    const settlements: Settlement[] = [];
    for (let i = 0; i < 9; i++) await send(mailboxId);
    const refused: string[] = [];
    const worker = start(mailboxId, async (_, { reserve }) => {
      const reservation = await reserve(name, 12).catch((error) => void refused.push(error.code));
      if (reservation) settlements.push(await reservation.settle(16));
    });
    await worker.drained();
    // Six pay 96 of 100, and leave too little to reserve 12 once more.
    const whole = { amountMinor: '16', overdrawnMinor: '0' };
    expect(settlements).to.deep.equal(Array.from({ length: 6 }, () => whole));
    expect(refused).to.deep.equal(Array.from({ length: 3 }, () => 'INSUFFICIENT_BUDGET'));
    expect(await balances()).to.equal('0 96 4 0');
    expect(worker.counts).to.include({ received: 9, completed: 9 });
  });

  it('tells the handler by how much it has overdrawn the budget', async () => {
    const { name, balances } = await budget('20');
    const mailboxId = await mailbox();
    const settlements: Settlement[] = [];
    const worker = start<number>(mailboxId, async ({ payload }, { reserve }) => {
      const reservation = await reserve(name, 12);
      settlements.push(await reservation.settle(payload));
    });
    for (const cost of [0, 5, 144]) await send(mailboxId, cost);
    await worker.drained();
    expect(settlements).to.deep.equal([
      { amountMinor: '0', overdrawnMinor: '0' },
      { amountMinor: '5', overdrawnMinor: '0' },
      { amountMinor: '144', overdrawnMinor: '129' },
    ]);
    expect(await balances()).to.equal('0 20 0 129');
    expect(worker.counts).to.include({ received: 3, completed: 3 });
  });

  for (const isDone of [false, true])
    it('an outage at reserve, settle, void and units is waited out for as long as the claim lasts', async () => {
      const { name, id: budgetId, balances, view } = await budget();
      const quota = randomUUID();
      const { id: allowanceId } = await muster.allowance.create({
        name: quota,
        unitsLimit: 9,
        windowSeconds: 31_536_000,
      });
      const { by, fails, met } = unlucky();
      let paid = 0;
      const reservations: Reservation[] = [];
      const mailboxId = await mailbox();
      const worker = start(
        mailboxId,
        async (_, { reserve, units }) => {
          fails(/\/reserve$/, 2, { isDone });
          const reservation = await reserve({ budgetId }, 12);
          reservations.push(reservation);
          fails(/\/wait$/, 2, { isDone });
          await units({ allowanceId }, 2);
          paid++;
          fails(/\/batch$/, 2, { isDone });
          await reservation.settle(9);
          reservations.push(await reserve(name, 5));
          fails(/\/void$/, 2, { isDone });
          await reservations[1]?.void();
        },
        { by, batch: false },
      );
      await send(mailboxId);
      await worker.drained();
      expect([paid, met(), await balances()]).to.deep.equal([1, 8, '0 9 991 0']);
      expect(worker.counts).to.include({ received: 1, completed: 1 });
      expect(reservations.map(({ earlier }) => earlier)).to.deep.equal([[], []]);
      expect((await view()).reservations).to.have.lengthOf(2);
      expect((await muster.allowance.view({ allowanceId })).usedUnits).to.equal(2);
    });

  it('waits out an outage at its end, too, and then completes', async () => {
    const { name, balances } = await budget();
    const { by, fails, met } = unlucky();
    const mailboxId = await mailbox();
    const worker = start(
      mailboxId,
      async (_, { reserve }) => {
        await reserve(name, 12);
        fails(/\/settle$/, 3);
      },
      { by },
    );
    await send(mailboxId);
    await worker.drained();
    expect([met(), await balances()]).to.deep.equal([3, '0 12 988 0']);
    expect(worker.counts).to.include({ received: 1, completed: 1 });
  });

  it('completes the work whose money somebody has voided meanwhile, and says that it is not settled', async () => {
    const { name, id: budgetId, balances } = await budget();
    const mailboxId = await mailbox();
    const worker = start(mailboxId, async (_, { reserve }) => {
      const { record: reservation } = await reserve(name, 12);
      await muster.budget.void({ budgetId, reservationId: reservation.id, workKey: 'a person' });
    });
    const errors: unknown[] = [];
    worker.on('error', ({ error }) => errors.push(error));
    await send(mailboxId);
    await worker.drained();
    expect(worker.counts).to.include({ received: 1, completed: 1 });
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.include({ code: 'RESERVATION_CLOSED' });
    expect(await balances()).to.equal('0 0 1000 0');
  });

  it('records what a handler has spent that its worker no longer waited for, and leaves the rest to the next attempt', async () => {
    const { name, balances } = await budget();
    const mailboxId = await mailbox();
    const seen: string[] = [];
    const closing = start(mailboxId, async (_, { reserve, signal }) => {
      const reservation = await reserve(name, 100);
      seen.push(await balances());
      await until(() => signal.aborted);
      await reservation.settle(70);
      seen.push(await balances());
    });
    await send(mailboxId);
    await until(() => seen.length === 1);
    await closing.close(0);
    await until(() => seen.length === 2);
    expect(seen).to.deep.equal(['100 0 900 0', '30 70 900 0']);
    const next = start(mailboxId, async (_, { reserve }) => {
      await (await reserve(name, 100)).settle(10);
    });
    await next.drained();
    expect(await balances()).to.equal('0 80 920 0');
  });

  it('records what both have spent where a handler outlives its worker, and the next attempt has its reservation', async () => {
    const { name, balances } = await budget();
    const mailboxId = await mailbox();
    const reserved: string[] = [];
    const settled: string[] = [];
    const closing = start(mailboxId, async (_, { reserve }) => {
      const reservation = await reserve(name, 100);
      reserved.push(reservation.record.id);
      await until(() => reserved.length === 2);
      settled.push((await reservation.settle(70)).amountMinor);
    });
    await send(mailboxId);
    await until(() => reserved.length === 1);
    await closing.close(0);
    const next = start(mailboxId, async (_, { reserve }) => {
      const reservation = await reserve(name, 100);
      reserved.push(reservation.record.id);
      await until(() => settled.length === 1);
      settled.push((await reservation.settle(10)).amountMinor);
    });
    await next.drained();
    expect(reserved[0]).to.equal(reserved[1]);
    expect(settled).to.deep.equal(['70', '10']);
    expect(await balances()).to.equal('0 80 920 0');
  });

  /** A client whose reserves are made at once, and answered when told so. */
  function slowToReserve() {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let made = 0;
    const fetcher: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (!new URL(String(url)).pathname.endsWith('/reserve')) return response;
      made++;
      await answered;
      return response;
    };
    const access = { url: world.url, key: world.apiKey, spaceId: world.spaceId };
    return { by: createMuster({ ...access, fetch: fetcher }), answer, made: () => made };
  }

  it('a handler whose message is cancelled during its reserve leaves at once, and the money is given back', async () => {
    const { id: budgetId, balances } = await budget();
    const mailboxId = await mailbox();
    const { by, answer, made } = slowToReserve();
    let reason: unknown;
    const worker = start(
      mailboxId,
      async (_, { reserve }) => {
        await reserve({ budgetId }, 12).catch((error) => {
          reason = error;
        });
      },
      { by },
    );
    const messageId = await send(mailboxId);
    await until(() => made() === 1);
    await muster.message.cancel({ messageId });
    await until(() => reason !== undefined);
    expect(reason).to.be.instanceOf(ClaimLost);
    await worker.close(0);
    expect(await balances()).to.equal('12 0 988 0');
    answer();
    await givenBack();
    expect(await balances()).to.equal('0 0 1000 0');
  });

  it('a handler that ends without waiting for its reserve spends nothing', async () => {
    const { id: budgetId, balances } = await budget();
    const mailboxId = await mailbox();
    const { by, answer, made } = slowToReserve();
    const late: Promise<unknown>[] = [];
    const worker = start(
      mailboxId,
      async (_, { reserve }) => {
        late.push(reserve({ budgetId }, 12));
        await until(() => made() === 1);
      },
      { by },
    );
    await send(mailboxId);
    await worker.drained();
    answer();
    await Promise.all(late);
    await givenBack();
    expect(await balances()).to.equal('0 0 1000 0');
    expect(worker.counts).to.include({ received: 1, completed: 1 });
  });

  it('a reserve under way when its worker closes is left to the next attempt', async () => {
    const { id: budgetId, balances, view } = await budget();
    const mailboxId = await mailbox();
    const { by, answer, made } = slowToReserve();
    const closing = start(mailboxId, async (_, { reserve }) => void (await reserve({ budgetId }, 12)), { by });
    await send(mailboxId);
    await until(() => made() === 1);
    await closing.close(0);
    answer();
    await givenBack();
    expect(await balances()).to.equal('12 0 988 0');
    const next = start(mailboxId, async (_, { reserve }) => {
      await (await reserve({ budgetId }, 12)).settle(9);
    });
    await next.drained();
    expect(await balances()).to.equal('0 9 991 0');
    expect((await view()).reservations).to.have.lengthOf(1);
  });

  it('a worker whose receive is refused books the call in flight, and leaves a reservation to the next', async () => {
    const provider = await Provider.start({ tokensPerWindow: 1e6, windowMs: 3_600_000 });
    const [paid, kept] = [await budget(), await budget()];
    const create = { unitsLimit: 100, windowSeconds: 31_536_000 };
    const { id: quota } = await muster.allowance.create({ ...create, name: randomUUID() });
    let isRefused = false;
    const fetcher: typeof fetch = async (url, init) => {
      if (!isRefused || !String(url).endsWith('/recv')) return fetch(url, init);
      const headers = { 'X-Request-Id': new Headers(init?.headers).get('X-Request-Id') ?? '' };
      return Response.json({ error: { code: 'PERMISSION_DENIED', message: 'no more' } }, { status: 403, headers });
    };
    const by = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, fetch: fetcher });
    const mailboxId = await mailbox();
    const estimate = { amountMinor: 100, units: 100 };
    const [account, begun, ended] = [randomUUID(), [] as string[], [] as string[]];
    const works: Record<string, Handler<string, unknown>> = {
      spends: (_, { spend, signal }) =>
        spend({ budget: { budgetId: paid.id }, quota: { allowanceId: quota }, estimate }, async (call) => {
          const body = JSON.stringify({ tokens: 60, fail: 'hang' });
          const asked = call.fetch(`${provider.url}/${account}`, { method: 'POST', body, signal });
          begun.push('spends');
          await asked;
        }),
      waits: async (_, { units }) => {
        begun.push('waits');
        await units({ allowanceId: quota }, 1);
      },
      reserves: async (_, { reserve, signal }) => {
        await reserve({ budgetId: kept.id }, 12);
        begun.push('reserves');
        await once(signal, 'abort');
        throw signal.reason;
      },
    };
    const worker = start<string>(
      mailboxId,
      async (message, task) => {
        try {
          await works[message.payload]?.(message, task);
        } finally {
          ended.push(message.payload);
        }
      },
      { by, concurrency: 4, closeSeconds: 0, waitSeconds: 1 },
    );
    worker.on('error', () => undefined);
    await send(mailboxId, 'spends');
    await provider.account(account).received();
    const waiting = async () => (await muster.allowance.view({ allowanceId: quota })).waiting;
    await send(mailboxId, 'waits');
    await send(mailboxId, 'reserves');
    await until(async () => begun.length === 3 && (await waiting()) === 1);
    isRefused = true;
    expect(await worker.closed.catch(({ code }) => code)).to.equal('PERMISSION_DENIED');
    await until(() => ended.length === 3);
    await givenBack();
    await provider.close();
    expect([await paid.balances(), await kept.balances()]).to.deep.equal(['0 100 900 0', '12 0 988 0']);
    const { usedUnits, waiting: left } = await muster.allowance.view({ allowanceId: quota });
    expect([usedUnits, left]).to.deep.equal([100, 0]);
    const { messages } = await muster.message.list({ mailboxId });
    expect(messages.map(({ state, attempts }) => `${state} ${attempts}`)).to.deep.equal(Array(3).fill('READY 0'));
  });

  describe('tells an attempt what those before it had reserved:', () => {
    /** An attempt that reserves, does something, and dies: its lease ends by a nack here. */
    async function died(
      mailboxId: string,
      budgetId: string,
      amounts: readonly number[],
      then?: (reservation: ReservationRecord) => Promise<unknown>,
    ): Promise<string> {
      const claim = await muster.message.recv({ mailboxId, scopeId, holder: 'dead', holderSession: 's' });
      const { id = '', token = '', attempt = 0 } = claim ?? {};
      for (const [i, amount] of amounts.entries()) {
        const held = { budgetId, scopeId, holder: 'dead', amountMinor: String(amount) };
        const reservation = await muster.budget.reserve({ ...held, workKey: `${id}/${i + 1}/${attempt}` });
        await then?.(reservation);
      }
      await muster.message.nack({ messageId: id, token, retry: true });
      return id;
    }

    /** Works on the message, and resolves with what its reserves have told. */
    async function told(
      mailboxId: string,
      name: string,
      amount: number,
      settles: (reservation: Reservation) => Promise<unknown>,
    ) {
      const all: Reservation[] = [];
      const worker = start(mailboxId, async (_, { reserve }) => {
        const reservation = await reserve(name, amount);
        all.push(reservation);
        await settles(reservation);
      });
      await worker.drained();
      const seen = all.map(({ earlier }) =>
        earlier.map(
          (one) => `${one.holder} ${one.workKey?.slice(37)} ${one.state} ${one.settledMinor}/${one.amountMinor}`,
        ),
      );
      return { all, seen };
    }

    it('an attempt that never said what it cost goes on, and the cost of both can be settled', async () => {
      const { name, id, balances } = await budget();
      const mailboxId = await mailbox();
      await send(mailboxId);
      await died(mailboxId, id, [12]);
      const { all, seen } = await told(mailboxId, name, 12, (reservation) => reservation.settle(9 + 9));
      expect(seen).to.deep.equal([['dead 1/1 ACTIVE 0/12']]);
      expect(all[0]?.earlier[0]?.id).to.equal(all[0]?.record.id);
      expect(await balances()).to.equal('0 18 982 0');
    });

    it('a reservation that was settled, in part or with more, is followed by a new one', async () => {
      const { name, id, view, balances } = await budget();
      const mailboxId = await mailbox();
      await send(mailboxId);
      const settle = (amountMinor: string) => (reservation: ReservationRecord) =>
        muster.budget.settle({
          ...{
            budgetId: id,
            reservationId: reservation.id,
            workKey: `${reservation.id}/1`,
            amountMinor,
            overrun: true,
          },
        });
      await died(mailboxId, id, [12], settle('5'));
      await died(mailboxId, id, [], undefined);
      await died(mailboxId, id, [12], settle('16'));
      const { all, seen } = await told(mailboxId, name, 12, (reservation) => reservation.void());
      expect(seen).to.deep.equal([['dead 1/1 ACTIVE 5/12', 'dead 1/3 SETTLED 16/12']]);
      expect(all[0]?.record.workKey).to.match(/\/1\/4$/);
      expect(await balances()).to.equal('0 21 979 0');
      expect((await view()).reservations.map(({ state }) => state)).to.deep.equal(['VOIDED', 'SETTLED', 'VOIDED']);
    });

    it('a reservation of another amount is left to somebody who knows', async () => {
      const { name, id, balances } = await budget();
      const mailboxId = await mailbox();
      await send(mailboxId);
      await died(mailboxId, id, [30]);
      const { all, seen } = await told(mailboxId, name, 12, (reservation) => reservation.settle(9));
      expect(seen).to.deep.equal([['dead 1/1 ACTIVE 0/30']]);
      expect(all[0]?.record).to.include({ amountMinor: '12', replay: false });
      expect(await balances()).to.equal('30 9 961 0');
    });

    it("a voided reservation is of no account, nor are those of a requeued message's first life", async () => {
      const { name, balances, view } = await budget();
      const mailboxId = await mailbox();
      const reservations: Reservation[] = [];
      const worker = start<string>(mailboxId, async ({ attempt }, { reserve }) => {
        reservations.push(await reserve(name, 10));
        if (reservations.length < 4) throw new Error(`attempt ${attempt} fails`);
      });
      const messageId = await send(mailboxId, null, { maxAttempts: 3 });
      await worker.drained();
      await muster.message.requeue({ messageId });
      await worker.drained();
      expect(reservations.map(({ earlier }) => earlier)).to.deep.equal([[], [], [], []]);
      expect(await balances()).to.equal('0 10 990 0');
      const keys = (await view()).reservations.map(({ workKey }) => workKey?.slice(37));
      expect(keys).to.deep.equal(['1/4', '1/3', '1/2', '1/1']);
    });

    it('an attempt that lost its claim settles what it has cost, and leaves the rest to the next', async () => {
      const { name, balances } = await budget();
      const mailboxId = await mailbox();
      const seen: string[] = [];
      const settled: string[] = [];
      const worker = start(
        mailboxId,
        async ({ id: messageId, token, attempt }, { reserve, signal }) => {
          const reservation = await reserve(name, 12);
          seen.push(reservation.earlier.map(({ state, settledMinor }) => `${state} ${settledMinor}`).join());
          if (attempt === 1) {
            // As if its lease had ended without its noticing.
            await muster.message.nack({ messageId, token, retry: true });
            await until(() => signal.aborted && seen.length === 2);
          } else await until(() => settled.length === 1);
          await reservation.settle(9);
          settled.push(await balances());
        },
        { concurrency: 2, leaseSeconds: 5 },
      );
      await send(mailboxId);
      await worker.drained();
      expect(seen).to.deep.equal(['', 'ACTIVE 0']);
      expect(settled).to.deep.equal(['3 9 988 0', '0 18 982 0']);
    });
  });
});
