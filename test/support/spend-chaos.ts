import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMuster, type ReservationRecord } from '../../src/clients/typescript/index.ts';
import type { Access } from './processes.ts';
import { Provider } from './provider.ts';
import { type SpendLanguage, SpendProcess } from './spend-process.ts';

/** The most that a call costs, which is also what each call reserves. */
const estimate = 100;
const [concurrency, leaseSeconds, maxSeconds] = [5, 5, 8];

interface Chance {
  below(limit: number): number;
  of<T>(list: readonly T[]): T;
}

interface Chaos {
  readonly access: Access & { readonly url: string };
  readonly chance: Chance;
  readonly calls: number;
  readonly fleet: readonly SpendLanguage[];
  /** The number of ends of a process, at least; 0: all of them live. */
  readonly ends: number;
  /** What befalls the service meanwhile, again and again. */
  readonly strike?: () => Promise<void>;
}

/** How one attempt's request to the provider goes. */
function askOf(chance: Chance): object {
  const tokens = 1 + chance.below(estimate);
  const kind = chance.below(20);
  if (kind < 10) return { tokens };
  if (kind < 12) return { status: chance.of([400, 429, 500, 503, 529]) };
  if (kind < 14) return { status: chance.of([408, 502, 504, 520]), bills: tokens };
  if (kind < 16) return { tokens, fail: 'cut' };
  if (kind < 17) return { tokens, fail: 'half' };
  return { tokens, fail: 'hang', ...(kind < 19 && { timeoutSeconds: 0.5 }) };
}

/**
 * Worker processes in both languages make model calls, while they are killed and told to end and the provider fails in
 * all ways. Every reservation must then have booked at least what the provider has billed for it; more than that, up to the
 * estimate, only where nobody could know.
 */
export async function expectSpendIsTrue({ access, chance, calls, fleet, ends, strike }: Chaos): Promise<string> {
  const muster = createMuster({ url: access.url, key: access.apiKey, spaceId: access.spaceId, attempts: 20 });
  const provider = await Provider.start({ tokensPerWindow: 1e9, windowMs: 86_400_000, latencyMs: 30 });
  const [currency, limitMinor] = ['TOK', '1000000000'];
  const { id: budgetId } = await muster.budget.create({ name: 'chaos', currency, scale: 0, limitMinor });
  const unitsLimit = 1_000_000_000;
  const { id: allowanceId } = await muster.allowance.create({ name: 'chaos', unitsLimit, windowSeconds: 31_536_000 });
  const { id: mailboxId } = await muster.mailbox.create({ name: 'chaos', backlogLimit: calls, maxAttempts: 100 });
  const scopeId = crypto.randomUUID();
  const options = { mailbox: { mailboxId }, provider: provider.url };
  const limits = { concurrency, leaseSeconds, closeSeconds: 0.3, maxSeconds };
  const processes: { readonly language: SpendLanguage; process: SpendProcess }[] = [];
  const start = (language: SpendLanguage) => SpendProcess.start(language, access, { ...options, ...limits });
  let [killed, told] = [0, 0];
  let [isOver, striking] = [false, Promise.resolve()];
  const strikes = async (): Promise<void> => {
    while (strike && !isOver) await strike();
  };
  try {
    for (let n = 0; n < calls; n++) {
      const asks = [...Array.from({ length: 6 }, () => askOf(chance)), { tokens: estimate }];
      // By name, as both languages take it.
      const payload = { account: `a-${n}`, asks, budget: 'chaos', quota: 'chaos' };
      await muster.message.send({ mailboxId, scopeId, payload });
    }
    for (const language of fleet) processes.push({ language, process: await start(language) });
    const isDone = async (): Promise<boolean> => {
      const { counts } = await muster.mailbox.view({ mailboxId });
      return counts.ready + counts.delayed + counts.claimed === 0;
    };
    striking = strikes();
    if (ends === 0) await until(isDone);
    while (!(await isDone())) {
      const one = chance.of(processes);
      // Some calls at least, however slow the machine is.
      await until(async () => one.process.said.includes('entered') || (await isDone()));
      await sleep(chance.below(400));
      const signal = chance.of(['SIGKILL', 'SIGTERM'] as const);
      await one.process.end(signal);
      if (signal === 'SIGKILL') killed++;
      else told++;
      one.process = await start(one.language);
    }
    expect(killed + told).to.be.at.least(ends);
    for (const { process } of processes) {
      await process.end('SIGTERM');
      expect(process.complaints).to.equal('');
    }
    const balances = async () => (await muster.budget.view({ budgetId, limit: 1 })).balances;
    await until(async () => (await balances()).reserved === '0');
    const { settled, overdrawn } = await balances();
    expect(overdrawn).to.equal('0');
    const figures = recounted(await reservationsOf(muster, budgetId), provider);
    expect(Number(settled)).to.equal(figures.booked);
    const { usedUnits, waiting } = await muster.allowance.view({ allowanceId });
    expect(waiting).to.equal(0);
    // A process that dies between its units and its reservation leaves units that nobody gives back in their window.
    expect(usedUnits).to.be.within(figures.billed, figures.booked + (killed + told) * concurrency * estimate);
    const { made, billed, booked, unknown, mostAbove, cut } = figures;
    // Only a handler that is told to end cuts an answer that is on its way.
    expect(cut).to.be.at.most(told * concurrency);
    expect(booked).to.be.within(billed, billed + mostAbove);
    return (
      `${calls} messages, ${made} calls, ${killed} kills, ${told} SIGTERM: billed ${billed}, booked ${booked} ` +
      `(${booked - billed} above it; ${unknown} unknown calls with estimates of ${unknown * estimate}), ${usedUnits} units used`
    );
  } finally {
    isOver = true;
    await striking;
    await Promise.all(processes.map(({ process }) => process.end('SIGKILL')));
    await provider.close();
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(100);
}

async function reservationsOf(muster: ReturnType<typeof createMuster>, budgetId: string): Promise<ReservationRecord[]> {
  const found: ReservationRecord[] = [];
  for (let from: { cursor?: string } = {}; ; ) {
    const { reservations, nextCursor } = await muster.budget.view({ budgetId, limit: 200, ...from });
    found.push(...reservations);
    if (nextCursor === null) return found;
    from = { cursor: nextCursor };
  }
}

/** Compares each reservation with what the provider has billed for it. */
function recounted(reservations: readonly ReservationRecord[], { bills }: Provider) {
  const byKey = new Map(bills.map((bill) => [bill.key, bill]));
  expect(byKey.size).to.equal(bills.length);
  const sums = { made: reservations.length, billed: 0, booked: 0, unknown: 0, cut: 0, mostAbove: 0 };
  for (const { workKey, settledMinor, overdue } of reservations) {
    const bill = byKey.get(workKey ?? '');
    byKey.delete(workKey ?? '');
    const [booked, billed] = [Number(settledMinor), bill?.billed ?? 0];
    sums.billed += billed;
    sums.booked += booked;
    if (booked === billed && !overdue) continue;
    // Nobody knows what it has cost: the process has died, or the answer was lost or cut.
    expect(booked, `${workKey}, billed ${billed}`).to.equal(estimate);
    sums.unknown++;
    if (bill?.isKnown && !overdue) sums.cut++;
    sums.mostAbove += estimate - billed;
  }
  // Nothing was billed without a reservation.
  expect([...byKey.keys()]).to.deep.equal([]);
  return sums;
}
