import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { givenBack, takeFor } from '../../src/clients/typescript/giving-back.ts';
import { createMuster, type Muster } from '../../src/clients/typescript/index.ts';
import { spenderOf } from '../../src/clients/typescript/spend/spender.ts';
import { takeUnits } from '../../src/clients/typescript/worker/spending.ts';
import behaviours from '../clients/behaviours/given-back.json' with { type: 'json' };
import { longMs, many } from '../support/long.ts';
import { slowProxy } from '../support/slow-proxy.ts';
import { World } from '../support/world.ts';

const { withinMs, proxyDelaysMs, cases } = behaviours;
const callers = many(behaviours.callersInShort, behaviours.callers);
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())));

/** Something that callers take and leave, and what is taken of it. */
interface Taken {
  readonly take: (signal: AbortSignal) => Promise<unknown>;
  readonly left: () => Promise<{ taken: number; waiting: number }>;
}

type Kind = (muster: Muster, isTaken: boolean) => Promise<Taken>;

const kinds: Record<string, Kind> = {
  hold: async (muster, isTaken) => {
    const { id: poolId } = await muster.pool.create({ name: 'lock', units: 1 });
    const about = { scopeId: randomUUID(), holder: 'first', leaseSeconds: 600 };
    if (isTaken) await muster.pool.acquire({ poolId, ...about });
    return {
      take: (signal) =>
        muster.pool('lock').hold((hold) => aborted(hold.signal), {
          ...{ signal, holderSession: randomUUID(), leaseSeconds: 600, ttlSeconds: Number.POSITIVE_INFINITY },
        }),
      left: async () => {
        const { heldUnits, waiting } = await muster.pool.view({ poolId });
        return { taken: heldUnits - Number(isTaken), waiting };
      },
    };
  },
  spend: async (muster) => {
    const { id: budgetId } = await muster.budget.create({
      ...{ name: 'money', currency: 'EUR', scale: 2, limitMinor: `${callers}` },
    });
    const create = { name: 'quota', unitsLimit: callers, windowSeconds: 31_536_000 };
    const { id: allowanceId } = await muster.allowance.create(create);
    return {
      take: (signal) =>
        muster.spend(
          { budget: 'money', quota: 'quota', estimate: { amountMinor: 1, units: 1 }, signal },
          async (call) => {
            // Taken and not used: the call costs nothing.
            expect(call.fetch).to.be.a('function');
            await aborted(signal);
            signal.throwIfAborted();
          },
        ),
      left: async () => {
        const { balances } = await muster.budget.view({ budgetId });
        const { usedUnits, waiting } = await muster.allowance.view({ allowanceId });
        return { taken: usedUnits + Number(balances.reserved) + Number(balances.settled), waiting };
      },
    };
  },
  units: async (muster, isTaken) => {
    const units = isTaken ? 1 : callers;
    const create = { name: 'quota', unitsLimit: units, windowSeconds: 31_536_000 };
    const { id: allowanceId } = await muster.allowance.create(create);
    if (isTaken) await muster.allowance.consume({ allowanceId, scopeId: randomUUID(), units, holder: 'first' });
    return {
      take: async (signal) => {
        const spender = spenderOf(muster, randomUUID(), { signal });
        const { waiterId: consumptionId } = await takeUnits(spender, 'quota', 1);
        await muster.allowance.settle({ allowanceId, consumptionId, units: 0 });
      },
      left: async () => {
        const { usedUnits, waiting } = await muster.allowance.view({ allowanceId });
        return { taken: usedUnits - Number(isTaken), waiting };
      },
    };
  },
};

describe('What was taken for a caller who has left', () => {
  for (const { name, takes, isTaken } of cases)
    for (const delayMs of proxyDelaysMs)
      it(`is given back: ${name}, in any of ${callers} moments, ${delayMs === 0 ? 'directly' : `behind ${delayMs} ms`}`, async function () {
        this.timeout(longMs);
        const world = await World.create();
        const proxy = await slowProxy(world.url, delayMs);
        try {
          const muster = createMuster({
            url: delayMs === 0 ? world.url : proxy.url,
            key: world.apiKey,
            spaceId: world.spaceId,
          });
          const { take, left } = await (kinds[takes] as Kind)(muster, isTaken);
          const outcomes: string[] = [];
          const caller = async (index: number): Promise<void> => {
            const controller = new AbortController();
            const ended = take(controller.signal).then(
              () => 'done',
              (error) => String(error),
            );
            await sleep((withinMs * index) / callers);
            controller.abort(new Error('enough'));
            outcomes.push(await ended);
          };
          // A few at a time, so that some are granted, too.
          for (let index = 0; index < callers; index += 20)
            await Promise.all(Array.from({ length: 20 }, (_, i) => caller(index + i)));
          for (const outcome of outcomes) expect(outcome).to.be.oneOf(['done', 'Error: enough']);
          await givenBack();
          expect(await left()).to.deep.equal({ taken: 0, waiting: 0 });
        } finally {
          proxy.close();
        }
      });

  it('is given back in the background: the caller leaves at once', async () => {
    const controller = new AbortController();
    const undone: number[] = [];
    let answer: (value: number) => void = () => undefined;
    const taking = takeFor(
      controller.signal,
      () => new Promise<number>((resolve) => (answer = resolve)),
      async (taken) => undone.push(taken),
    );
    controller.abort(new Error('enough'));
    expect(await taking.catch(String)).to.equal('Error: enough');
    expect(undone).to.deep.equal([]);
    answer(7);
    expect(await givenBack()).to.equal(true);
    expect(undone).to.deep.equal([7]);
    expect(await givenBack()).to.equal(false);
  });

  it('is not taken for a caller who has left before', async () => {
    const taken = takeFor(AbortSignal.abort(new Error('before')), () => Promise.reject(new Error('taken')), givenBack);
    expect(await taken.catch(String)).to.equal('Error: before');
  });
});
