import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';
import { givenBack } from '../../src/clients/typescript/giving-back.ts';
import {
  createMuster,
  type ModelCall,
  type Muster,
  type SpendOptions,
  Worker,
} from '../../src/clients/typescript/index.ts';
import type { MusterService } from '../../src/service.ts';
import { until } from '../support/processes.ts';
import { Provider } from '../support/provider.ts';
import { type SpendCase, type Step, spendCases } from '../support/spend-cases.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

/** The outcome of a case, as it is declared. */
interface Outcome {
  readonly ends: string;
  readonly booked: string;
  readonly reserved: string;
  readonly units: readonly number[];
  readonly reservations: readonly string[];
  readonly requests: number;
}

describe('the cost of a model call', () => {
  let service: MusterService;
  let muster: Muster;
  let provider: Provider;
  let runs: Map<SpendCase, Promise<Outcome>>;
  const cases = spendCases.filter(({ languages }) => languages?.includes('typescript') ?? true);
  before(async () => {
    service = await delivering();
    const world = await World.create({ on: service });
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    provider = await Provider.start({ tokensPerWindow: 1_000_000, windowMs: 3_600_000 });
    // Some wait for time to pass: all at once.
    runs = new Map(cases.map((one) => [one, run(one)]));
    for (const one of runs.values()) one.catch(() => undefined);
  });
  after(async () => {
    await Promise.allSettled(runs.values());
    await provider.close();
    await service.stop();
  });

  async function run(one: SpendCase): Promise<Outcome> {
    const [name, account] = [randomUUID(), randomUUID()];
    const limitMinor = String(one.limitMinor ?? 1000);
    const { id: budgetId } = await muster.budget.create({ name, currency: 'TOK', scale: 0, limitMinor });
    const quotas = await Promise.all((one.quotas ?? [{ counts: 'tokens' as const }]).map(quota));
    const controller = new AbortController();
    const { maxSeconds, onUnknown, attempts } = one;
    const options: SpendOptions & { signal: AbortSignal } = {
      budget: name,
      quotas: quotas.map(({ allowanceId, counts }) => ({ quota: { allowanceId }, counts })),
      estimate: { amountMinor: 100, units: 100 },
      price: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
      ...{ ...(maxSeconds && { maxSeconds }), ...(onUnknown && { onUnknown }), ...(attempts && { attempts }) },
      signal: controller.signal,
    };
    const isOverdue = async () => (await muster.budget.view({ budgetId })).balances.settled === '100';
    const work = async (call: ModelCall, lose?: () => Promise<void>) => {
      for (const step of one.steps) await make(step, call, { account, isOverdue, lose });
    };
    if (one.abort === 'in line') void until(() => isInLine(quotas)).then(() => controller.abort());
    const spending = one.claim ? inTask(options, work) : muster.spend(options, work);
    const ends = await spending.then(
      () => 'returned',
      (error) => endOf(error, one.ends),
    );
    await givenBack();
    const { balances, reservations } = await muster.budget.view({ budgetId });
    const views = await Promise.all(quotas.map(({ allowanceId }) => muster.allowance.view({ allowanceId })));
    return {
      ...{ ends, booked: balances.settled, reserved: balances.reserved, requests: provider.account(account).requests },
      units: views.map(({ usedUnits }) => usedUnits),
      reservations: reservations.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ settledMinor }) => settledMinor),
    };
  }

  async function quota({ counts, isFull }: NonNullable<SpendCase['quotas']>[number]) {
    const [unitsLimit, windowSeconds] = [isFull ? 100 : 1000, 3600];
    const { id: allowanceId } = await muster.allowance.create({ name: randomUUID(), unitsLimit, windowSeconds });
    const asked = { allowanceId, scopeId: randomUUID(), holder: 'another', units: 100 };
    if (isFull) await muster.allowance.consume(asked);
    return { allowanceId, counts };
  }

  async function isInLine(quotas: readonly { readonly allowanceId: string }[]): Promise<boolean> {
    const views = await Promise.all(quotas.map(({ allowanceId }) => muster.allowance.view({ allowanceId })));
    return views.some(({ waiting }) => waiting > 0);
  }

  /** Spends in a task, whose claim ends as soon as the function asks for that. */
  async function inTask(
    options: SpendOptions,
    work: (call: ModelCall, lose: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const { id: messageId } = await muster.message.send({ mailboxId, scopeId: randomUUID(), payload: null });
    await new Promise<void>((resolve, reject) => {
      const worker = new Worker(
        muster,
        { mailbox: { mailboxId }, closeOnSignals: false },
        async (_, { spend, signal }) => {
          const lose = async (): Promise<void> => {
            const lost = once(signal, 'abort');
            await muster.message.cancel({ messageId });
            await lost;
          };
          await spend(options, (call) => work(call, lose)).then(resolve, reject);
        },
      );
      void worker.drained().then(() => worker.close());
    });
  }

  interface Place {
    readonly account: string;
    readonly isOverdue: () => Promise<boolean>;
    readonly lose: (() => Promise<void>) | undefined;
  }

  async function make(step: Step, call: ModelCall, { account, isOverdue, lose }: Place): Promise<void> {
    if (step.take) expect(call.fetch).to.be.a('function');
    if (step.used) call.used(step.used);
    if (step.wait === 'limit' && !call.signal.aborted) await once(call.signal, 'abort');
    if (step.wait === 'overdue') await until(isOverdue);
    if (step.wait === 'lost') await lose?.();
    if (step.throw !== undefined) throw new Error(step.throw);
    if (!step.fetch) return;
    const asking = ask(step, call, account);
    if (step.awaits === false) {
      asking.catch(() => undefined);
      return provider.account(account).received();
    }
    await asking.catch((error) => {
      if (!step.catches) throw error;
    });
  }

  async function ask(step: Step, call: ModelCall, account: string): Promise<void> {
    const aborted = new AbortController();
    if (step.abort === 'before') aborted.abort();
    if (step.abort === 'received')
      void provider
        .account(account)
        .received()
        .then(() => aborted.abort());
    const timeout = step.timeoutSeconds === undefined ? [] : [AbortSignal.timeout(step.timeoutSeconds * 1000)];
    const response = await call.fetch(`${provider.url}/${account}`, {
      method: 'POST',
      body: JSON.stringify(step.fetch),
      signal: AbortSignal.any([aborted.signal, ...timeout]),
    });
    if (!response.ok) throw new Error(`the provider says ${response.status}`);
    if (step.reads !== false) await response.text();
  }

  function endOf(error: Error & { readonly code?: unknown }, expected: string): string {
    if (expected === 'thrown') return 'thrown';
    if (error.name === 'AbortError') return 'aborted';
    return typeof error.code === 'string' ? error.code : error.message;
  }

  for (const one of cases)
    it(one.name, async () => {
      const { ends, booked, units = booked, reservations, requests } = one;
      const outcome = await runs.get(one);
      const wanted = { ends, booked: String(booked), reserved: '0', units: [units].flat() };
      expect(outcome).to.deep.include({
        ...wanted,
        ...(reservations && { reservations }),
        ...(requests !== undefined && { requests }),
      });
    });
});
