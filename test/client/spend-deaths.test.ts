import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMuster, type Muster } from '../../src/clients/typescript/index.ts';
import type { MusterService } from '../../src/service.ts';
import { until } from '../support/processes.ts';
import { Provider } from '../support/provider.ts';
import { type SpendDeath, spendDeaths } from '../support/spend-cases.ts';
import { type SpendLanguage, SpendProcess, spendLanguages } from '../support/spend-process.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

/** Later than the settleBy of a call. */
const longMs = 901_000;

describe('a process that dies in a model call', () => {
  // Each case starts a process or two.
  let service: MusterService;
  let provider: Provider;
  before(async () => {
    service = await delivering();
    provider = await Provider.start({ tokensPerWindow: 1_000_000, windowMs: 3_600_000 });
  });
  after(async () => {
    await provider.close();
    await service.stop();
  });

  const budgetOf = async (muster: Muster) => {
    const made = await muster.budget.create({ name: randomUUID(), currency: 'TOK', scale: 0, limitMinor: '1000' });
    return { id: made.id, balances: async () => (await muster.budget.view({ budgetId: made.id })).balances };
  };

  async function run(language: SpendLanguage, { at, signal, then }: SpendDeath) {
    const world = await World.create({ on: service });
    const { url, spaceId, apiKey } = world;
    const muster = createMuster({ url, key: apiKey, spaceId });
    const budgets = [await budgetOf(muster), await budgetOf(muster)];
    const quota = await muster.allowance.create({ name: 'quota', unitsLimit: 1000, windowSeconds: 3600 });
    const allowanceId = quota.id;
    const taken = { allowanceId, scopeId: randomUUID(), holder: 'another', units: 1000 };
    if (at === 'in line') await muster.allowance.consume(taken);
    const { id: mailboxId } = await muster.mailbox.create({ name: 'calls' });
    const account = randomUUID();
    const [first, second] = budgets.map(({ id: budgetId }) => ({ budgetId }));
    const dying = at === 'entered' ? { waits: true } : { tokens: 60, fail: 'hang' };
    // A worker that is told to end gives its message back without counting the attempt.
    const asks = [dying, { tokens: then?.tokens, ...(then?.budget && { budget: idFor(language, second) }) }];
    const payload = { account, asks, quota: idFor(language, { allowanceId }), budget: idFor(language, first) };
    const { id: messageId } = await muster.message.send({ mailboxId, scopeId: randomUUID(), payload });
    const options = { mailbox: { mailboxId }, provider: provider.url, leaseSeconds: 30, closeSeconds: 0.2 };
    const process = await SpendProcess.start(language, { url, spaceId, apiKey }, options);
    if (at === 'received') await provider.account(account).received();
    if (at === 'entered') await until(() => process.said.includes('entered'));
    if (at === 'in line') await until(async () => (await muster.allowance.view({ allowanceId })).waiting === 1);
    await process.end(signal);
    const waiting = (await muster.allowance.view({ allowanceId })).waiting;
    if (then) {
      // The next attempt begins while the reservation of the first one is ACTIVE.
      await world.at(Date.now() + 31_000);
      const next = await SpendProcess.start(language, { url, spaceId, apiKey }, options);
      await until(async () => (await muster.message.view({ messageId })).state === 'ACKED');
      await next.end('SIGTERM');
    }
    await world.at(Date.now() + longMs);
    await until(async () =>
      (await Promise.all(budgets.map((one) => one.balances()))).every((one) => one.reserved === '0'),
    );
    const booked = await Promise.all(budgets.map(async (one) => Number((await one.balances()).settled)));
    return { billed: provider.account(account).billed, booked, waiting, complaints: process.complaints };
  }

  for (const language of spendLanguages)
    describe(`in ${language}`, () => {
      const runs = new Map<SpendDeath, ReturnType<typeof run>>();
      before(() => {
        // They wait more than they work: all at once.
        for (const death of spendDeaths) runs.set(death, run(language, death));
        for (const one of runs.values()) one.catch(() => undefined);
      });
      after(() => Promise.allSettled(runs.values()));
      for (const death of spendDeaths)
        it(death.name, async () => {
          const { billed, booked, waiting, complaints } = (await runs.get(death)) ?? {};
          expect(complaints).to.equal('');
          expect(billed).to.equal(death.billed);
          const inFirst = death.then?.budget ? death.booked - death.then.tokens : death.booked;
          expect(booked).to.deep.equal([inFirst, death.booked - inFirst]);
          if (death.signal === 'SIGTERM') expect(waiting).to.equal(0);
        });
    });
});

/** A reference to a budget or an allowance, as the language's client takes it. */
function idFor(language: SpendLanguage, ref: object | undefined): unknown {
  return language === 'python' ? Object.values(ref ?? {})[0] : ref;
}
