import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  createMuster,
  knownProviders,
  type ModelCall,
  type Muster,
  type SpendOptions,
  Worker,
} from '../../src/clients/typescript/index.ts';
import { remainingIn, retryAfterSeconds } from '../../src/clients/typescript/spend/rate-limits.ts';
import { callMs } from '../../src/clients/typescript/spend/spend.ts';
import { usageIn } from '../../src/clients/typescript/spend/usage.ts';
import type { MusterService } from '../../src/service.ts';
import { isLong } from '../support/long.ts';
import { until } from '../support/processes.ts';
import { Provider } from '../support/provider.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

describe('spend', () => {
  let service: MusterService;
  let world: World;
  let muster: Muster;
  const providers: Provider[] = [];
  before(async () => {
    service = await delivering();
    world = await World.create({ on: service });
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });
  afterEach(() => Promise.all(providers.splice(0).map((provider) => provider.close())));
  after(() => service.stop());

  async function provider(plan: Parameters<typeof Provider.start>[0]): Promise<Provider> {
    const started = await Provider.start(plan);
    providers.push(started);
    return started;
  }

  /** A budget of token-sized money and a quota, by their names. */
  async function funds(unitsLimit: number, windowSeconds = 3600, limitMinor = '1000000') {
    const [budget, quota] = [randomUUID(), randomUUID()];
    const { id: budgetId } = await muster.budget.create({ name: budget, currency: 'TOK', scale: 0, limitMinor });
    const { id: allowanceId } = await muster.allowance.create({ name: quota, unitsLimit, windowSeconds });
    return {
      budget,
      quota,
      balances: async () => {
        const { reserved, settled, available, overdrawn } = (await muster.budget.view({ budgetId })).balances;
        return [reserved, settled, available, overdrawn].join(' ');
      },
      view: () => muster.budget.view({ budgetId }),
      allowance: () => muster.allowance.view({ allowanceId }),
    };
  }

  const price: SpendOptions['price'] = ({ inputTokens, outputTokens }) => inputTokens + outputTokens;

  /** Asks the provider; throws what it refuses. */
  const ask = async (call: ModelCall, url: string, body: object): Promise<{ content: string }> => {
    const response = await call.fetch(url, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`the provider says ${response.status}`);
    return response.json() as Promise<{ content: string }>;
  };

  for (const style of ['openai', 'anthropic'] as const)
    it(`takes and reserves the estimate, and settles what the answer of ${style} says was used`, async () => {
      const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000, style });
      const { budget, quota, balances, view, allowance } = await funds(5000);
      const seen: unknown[] = [];
      const estimate = { amountMinor: 400, units: 400 };
      const { content } = await muster.spend({ budget, quota, estimate, price, label: 'drafts' }, async (call) => {
        seen.push(await balances(), (await allowance()).usedUnits);
        return ask(call, url, { tokens: 150 });
      });
      expect(content).to.equal('an answer');
      expect(seen).to.deep.equal(['400 0 999600 0', 400]);
      expect([await balances(), (await allowance()).usedUnits]).to.deep.equal(['0 150 999850 0', 150]);
      expect((await view()).spentByLabel).to.deep.equal({ drafts: '150' });
    });

  it('records an overrun of money and of units', async () => {
    const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000 });
    const { budget, quota, balances, allowance } = await funds(1000, 3600, '500');
    const estimate = { amountMinor: 100, units: 100 };
    await muster.spend({ budget, quota, estimate, price }, (call) => ask(call, url, { tokens: 1200 }));
    expect(await balances()).to.equal('0 500 0 700');
    expect(await allowance()).to.include({ usedUnits: 1200, availableUnits: 0 });
  });

  it('rounds the cost of a call up to whole minor units', async () => {
    const { budget, balances } = await funds(1000);
    const options = { budget, price: () => 0.2, estimate: { amountMinor: 300 } };
    await muster.spend(options, async (call) => call.used({ inputTokens: 1 }));
    await muster.spend(options, async (call) => call.used({ amountMinor: 6.5 }));
    expect(await balances()).to.equal('0 8 999992 0');
  });

  it('settles on a throw what the provider says it billed, and the estimate if the provider says nothing', async () => {
    const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000 });
    const { budget, quota, balances, allowance } = await funds(1000);
    const options = { budget, quota, price, estimate: { amountMinor: 300, units: 300 } };
    for (const [fail, thrown, used] of [
      ['billed', 'the provider says 500', 80],
      ['cut', 'fetch failed', 380],
    ] as const) {
      const error = await muster.spend(options, (call) => ask(call, url, { tokens: 80, fail })).catch((error) => error);
      expect(error.message).to.equal(thrown);
      expect([await balances(), (await allowance()).usedUnits]).to.deep.equal([
        `0 ${used} ${1_000_000 - used} 0`,
        used,
      ]);
    }
  });

  it('cools the quota down by Retry-After when the provider refuses, waits in line and calls again', async () => {
    const windowMs = 2000;
    const limited = await provider({ tokensPerWindow: 100, windowMs });
    const { budget, quota, balances, allowance } = await funds(100, windowMs / 1000);
    // Somebody else has used it up.
    // Timers may fire a little too early.
    await sleep(windowMs - (Date.now() % windowMs) + 20);
    limited.at().tokens = 100;
    const options = { budget, quota, price, estimate: { amountMinor: 50, units: 50 } };
    let calls = 0;
    const spending = muster.spend(options, async (call) => {
      calls++;
      return ask(call, limited.url, { tokens: 40 });
    });
    await until(async () => (await allowance()).cooldownUntil !== null);
    const { cooldownReason, cooldownUntil } = await allowance();
    expect(cooldownReason).to.equal('429 from the provider');
    expect(Date.parse(cooldownUntil ?? '')).to.be.at.most(Date.now() + 2_000);
    await spending;
    expect(calls).to.equal(2);
    expect([await balances(), (await allowance()).usedUnits]).to.deep.equal(['0 40 999960 0', 40]);
    // Told once, it is thrown.
    limited.at().tokens = 100;
    const refused = await muster
      .spend({ ...options, attempts: 1 }, (call) => ask(call, limited.url, { tokens: 40 }))
      .catch((error) => error);
    expect(refused.message).to.equal('the provider says 429');
    expect(await balances()).to.equal('0 40 999960 0');
  });

  it('waits by itself after a 429 where the key may spend and no more', async () => {
    const { budget, quota, allowance } = await funds(100);
    const key = await world.key(['coordination_read', 'coordination_write', 'resource_spend']);
    const spender = createMuster({ url: world.url, key, spaceId: world.spaceId });
    const server = await provider({ tokensPerWindow: 100, windowMs: 1000 });
    let calls = 0;
    const options = { budget, quota, price, counts: 'requests', estimate: { amountMinor: 50 } } as const;
    const answer = await spender.spend(options, (call) => {
      if (++calls === 1) for (const ahead of [0, 1000]) server.at(Date.now() + ahead).tokens = 100;
      return ask(call, server.url, { tokens: 40 });
    });
    expect(answer.content).to.equal('an answer');
    expect(calls).to.be.within(2, 3);
    expect(await allowance()).to.include({ usedUnits: 1, cooldownUntil: null });
  });

  it("takes the provider's word for what is left where others use the same account", async () => {
    const shared = await provider({ tokensPerWindow: 1000, windowMs: 3_600_000, style: 'anthropic' });
    const { quota, allowance } = await funds(1000);
    shared.at().tokens = 700;
    await muster.spend({ quota, estimate: { units: 100 } }, (call) => ask(call, shared.url, { tokens: 50 }));
    expect(await allowance()).to.include({ usedUnits: 750, availableUnits: 250 });
  });

  it('takes what the function says of streams, counts requests, and spends the whole estimate of what nobody says', async () => {
    const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000 });
    const { budget, quota, balances, allowance } = await funds(1000);
    const options = { budget, quota, estimate: { amountMinor: 300, units: 300 } };
    await muster.spend({ ...options, price }, async (call) => {
      call.used({ inputTokens: 10 });
      call.used({ outputTokens: 5 });
    });
    await muster.spend(options, async (call) => call.used({ amountMinor: '7', units: 9 }));
    await muster.spend(options, async () => undefined);
    expect([await balances(), (await allowance()).usedUnits]).to.deep.equal(['0 322 999678 0', 324]);
    const requests = { quota, counts: 'requests', estimate: { units: 5 } } as const;
    await muster.spend(requests, async (call) => {
      for (let n = 0; n < 2; n++) await ask(call, url, { tokens: 9 });
    });
    expect((await allowance()).usedUnits).to.equal(326);
    await muster.spend(requests, async () => undefined);
    expect((await allowance()).usedUnits).to.equal(331);
    const missing = await muster.spend({ budget, estimate: {} }, async () => undefined).catch((error) => error);
    expect(missing.message).to.equal('estimate.amountMinor is missing');
  });

  it('calls nothing once its signal has aborted, and gives back what it has reserved and taken meanwhile', async () => {
    const { budget, quota, balances, allowance } = await funds(1000);
    const options = { budget, quota, estimate: { amountMinor: 300, units: 300 } };
    let calls = 0;
    const counts = async () => ++calls;
    await muster.spend({ ...options, signal: AbortSignal.abort() }, counts).catch(() => undefined);
    for (const path of ['/reserve', '/wait']) {
      const controller = new AbortController();
      const aborting: typeof fetch = async (url, init) => {
        const response = await fetch(url, init);
        if (String(url).endsWith(path)) controller.abort();
        return response;
      };
      const by = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, fetch: aborting });
      const { name } = await by.spend({ ...options, signal: controller.signal }, counts).catch((error) => error);
      expect(name).to.equal('AbortError');
    }
    expect([calls, await balances(), (await allowance()).usedUnits]).to.deep.equal([0, '0 0 1000000 0', 0]);
  });

  it('books the estimate of a call whose price cannot be computed, and rejects', async () => {
    const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000 });
    const { budget, balances } = await funds(1000);
    const priceless = () => {
      throw new Error('no such model');
    };
    const options = { budget, price: priceless, estimate: { amountMinor: 300 } };
    const error = await muster.spend(options, (call) => ask(call, url, { tokens: 60 })).catch((error) => error);
    expect(error.message).to.equal('no such model');
    expect(await balances()).to.equal('0 300 999700 0');
  });

  it('is settled by the service in time whatever the clock of its process shows', async () => {
    const { budget, view } = await funds(1000);
    const options = { budget, estimate: { amountMinor: 300 }, maxSeconds: 600 };
    for (const hours of [-10, 10]) {
      const skewed = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
      const now = Date.now;
      Date.now = () => now() + hours * 3_600_000;
      try {
        await skewed.spend(options, async (call) => expect(call.workKey).to.be.a('string'));
      } finally {
        Date.now = now;
      }
      const [{ settleBy, createdAt, onOverdue } = { settleBy: null, createdAt: '', onOverdue: '' }] = (await view())
        .reservations;
      expect(onOverdue).to.equal('SETTLE');
      expect((Date.parse(settleBy ?? '') - Date.parse(createdAt)) / 1000).to.be.within(300, 601);
    }
  });

  it('takes the units of several quotas in one order, so that no two calls wait for each other', async () => {
    const quotas = await Promise.all([funds(100), funds(100)]);
    const both = quotas.map(({ quota }) => ({ quota }));
    const options = { estimate: { units: 60 } };
    const one = (n: number) =>
      muster.spend({ ...options, quotas: n % 2 === 0 ? both : both.toReversed() }, async (call) =>
        call.used({ inputTokens: 1 }),
      );
    await Promise.all(Array.from({ length: 12 }, (_, n) => one(n)));
    for (const { allowance } of quotas) expect((await allowance()).usedUnits).to.equal(12);
  });

  it('reserves again if the first reserve has come later than its settleBy', async () => {
    const { budget, balances } = await funds(1000);
    let reserves = 0;
    // The first one is held up for longer than the call may take.
    const slow: typeof fetch = async (url, init) => {
      if (String(url).endsWith('/reserve') && ++reserves === 1) await sleep(2500);
      return fetch(url, init);
    };
    const by = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId, fetch: slow });
    await by.spend({ budget, estimate: { amountMinor: 300 }, maxSeconds: 1 }, async (call) =>
      call.used({ amountMinor: 1 }),
    );
    expect(reserves).to.be.at.least(2);
    expect((await balances()).split(' ')[0]).to.equal('0');
  });

  it('tells how long a call may take: 30 seconds less than the reservation, or half of 30 and less', () => {
    expect([900, 60, 31, 30, 2].map(callMs)).to.deep.equal([870_000, 30_000, 1000, 15_000, 1000]);
  });

  it('finds the reservations of earlier calls by the name of the work', async () => {
    const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000 });
    const { budget, quota } = await funds(1000);
    const workKey = randomUUID();
    const options = { budget, price, estimate: { amountMinor: 300 } };
    await muster.spend({ ...options, workKey: randomUUID() }, (call) => ask(call, url, { tokens: 10 }));
    const seen: string[][] = [];
    for (const tokens of [60, 70, 80])
      await muster.spend({ ...options, workKey }, async (call) => {
        const earlier = await call.earlier();
        seen.push(earlier.map(({ settledMinor, state }) => `${state} ${settledMinor}`));
        return ask(call, url, { tokens });
      });
    expect(seen).to.deep.equal([[], ['VOIDED 60'], ['VOIDED 60', 'VOIDED 70']]);
    await muster.spend(options, async (call) => expect(await call.earlier()).to.deep.equal([]));
    // Without a budget there are none.
    await muster.spend({ quota, workKey, estimate: { units: 1 } }, async (call) =>
      expect(await call.earlier()).to.deep.equal([]),
    );
  });

  it('reports that the provider has nothing left, also where the quota has nothing left either', async () => {
    const { url } = await provider({ tokensPerWindow: 60, windowMs: 3_600_000 });
    const { id: allowanceId } = await muster.allowance.create({
      ...{ name: randomUUID(), unitsLimit: 60, windowSeconds: 60 },
    });
    const options = { quota: { allowanceId }, estimate: { units: 60 } };
    await muster.spend(options, (call) => ask(call, url, { tokens: 60 }));
    const { events } = (await world.get(`/watch?types=allowance.observed&aggregate=allowance:${allowanceId}`)).body;
    expect(events).to.have.length(1);
  });

  it('sends nothing, and books nothing, where the signal of a request has aborted before', async () => {
    const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000 });
    const { budget, balances } = await funds(1000);
    const early = muster.spend({ budget, price, estimate: { amountMinor: 300 } }, (call) =>
      call.fetch(url, { signal: AbortSignal.abort() }),
    );
    await early.then(
      () => expect.fail('it was sent'),
      ({ name }: Error) => expect(name).to.equal('AbortError'),
    );
    expect(await balances()).to.match(/^0 0 /);
  });

  it('belongs to a task in a worker: its run, its holder, and the attempt', async () => {
    const { url } = await provider({ tokensPerWindow: 5000, windowMs: 3_600_000 });
    const { budget, quota, balances, view } = await funds(1000);
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const scopeId = randomUUID();
    const { id } = await muster.message.send({ mailboxId, scopeId, payload: 60 });
    const worker = new Worker<number>(
      muster,
      { mailbox: { mailboxId }, closeOnSignals: false },
      async ({ payload: tokens }, { spend }) =>
        spend({ budget, quota, price, estimate: { amountMinor: 100, units: 100 } }, (call) =>
          ask(call, url, { tokens }),
        ),
    );
    await worker.drained();
    await worker.close();
    const [reservation] = (await view()).reservations;
    const claimedAt = reservation?.workKey?.split('/')[1] ?? '';
    expect(reservation).to.include({ scopeId, workKey: `${id}/${claimedAt}/1`, settledMinor: '60', state: 'VOIDED' });
    // Counted from the claim, by the store's clock.
    const settleBy = Date.parse(reservation?.settleBy ?? '') - Date.parse(reservation?.createdAt ?? '');
    expect(settleBy / 1000).to.be.within(600, 900);
    expect(Date.parse(claimedAt)).to.be.at.most(Date.parse(reservation?.createdAt ?? ''));
    expect(await balances()).to.equal('0 60 999940 0');
  });

  it('reads the headers and usages of OpenAI and Anthropic, and those that it is told of', () => {
    const now = Date.UTC(2030, 0, 1);
    const left = (headers: Record<string, string>, limit: 'tokens' | 'requests' = 'tokens', more = knownProviders) => {
      const { units, resetAt } = remainingIn(new Headers(headers), limit, more, now) ?? {};
      return [units, resetAt && resetAt.getTime() - now];
    };
    const openai = (reset: string) =>
      left({ 'x-ratelimit-remaining-tokens': '149984', 'x-ratelimit-reset-tokens': reset })[1];
    expect(['6m0s', '1s', '20ms', '1h2m3.5s', '1d', '7', 'soon', ''].map(openai)).to.deep.equal([
      ...[360_000, 1000, 20, 3_723_500, 86_400_000, 7000, undefined, undefined],
    ]);
    expect(
      left(
        {
          'anthropic-ratelimit-requests-remaining': '49',
          'anthropic-ratelimit-requests-reset': '2030-01-01T00:00:30Z',
        },
        'requests',
      ),
    ).to.deep.equal([49, 30_000]);
    expect(left({})).to.deep.equal([undefined, undefined]);
    const own = { remaining: 'x-left', reset: 'x-until' };
    const others = [...knownProviders, { tokens: own, requests: own }];
    expect(left({ 'x-left': '3', 'x-until': '4' }, 'tokens', others)).to.deep.equal([3, 4000]);
    const asked = (headers: Record<string, string>) => retryAfterSeconds(new Headers(headers), now);
    expect(asked({ 'retry-after': '7' })).to.equal(7);
    expect(asked({ 'retry-after': 'Tue, 01 Jan 2030 00:00:20 GMT' })).to.equal(20);
    expect(asked({ 'retry-after-ms': '1500', 'retry-after': '2' })).to.equal(1.5);
    expect(asked({})).to.equal(undefined);
    const openaiUsage = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 60 } };
    expect(usageIn({ usage: openaiUsage })).to.deep.equal({ inputTokens: 100, outputTokens: 20, cachedTokens: 60 });
    const anthropicUsage = {
      input_tokens: 10,
      output_tokens: 20,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
    };
    expect(usageIn({ usage: anthropicUsage })).to.deep.equal({ inputTokens: 100, outputTokens: 20, cachedTokens: 60 });
    for (const body of [null, 7, {}, { usage: null }, { usage: { input_tokens: 'x' } }])
      expect(usageIn(body)).to.equal(undefined);
  });

  it('a fleet of 50 agents gets no 429 beyond the first of a window, and spends the limit, but no more', async () => {
    const [tokensPerWindow, windowMs, windows] = [10_000, 6000, 2];
    const real = await provider({ tokensPerWindow, windowMs, latencyMs: 20 });
    const { budget, quota, balances } = await funds(tokensPerWindow, windowMs / 1000, '100000000');
    // From the beginning of a window on.
    await sleep(windowMs - (Date.now() % windowMs));
    const end = Date.now() + windows * windowMs - 100;
    const options = { budget, quota, price, estimate: { amountMinor: 120, units: 120 } };
    const controller = new AbortController();
    const agent = async (): Promise<void> => {
      while (Date.now() < end)
        await muster.spend({ ...options, signal: controller.signal }, (call) =>
          ask(call, real.url, { tokens: randomInt(60, 121) }),
        );
    };
    const agents = Promise.allSettled(Array.from({ length: 50 }, agent));
    await sleep(end - Date.now());
    controller.abort();
    const outcomes = await agents;
    const whole = [...real.windows].slice(0, windows);
    const table = whole.map(([, { tokens, calls, refused }]) => `${tokens} tokens, ${calls} calls, ${refused} refused`);
    console.log(`      ${table.join('; ')}`);
    for (const [, { tokens, refused }] of whole) {
      expect(tokens).to.be.at.most(tokensPerWindow);
      // A busy machine may be too slow for all of it, so only long runs, which have the machine for themselves, check that.
      expect(tokens).to.be.greaterThan(isLong ? 0.98 * tokensPerWindow : 0);
      // On a busy machine some calls begin in a window and arrive in the next one.
      expect(refused).to.be.at.most(isLong ? 1 : 10);
    }
    const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    // A call that is refused just before the fleet is stopped is not repeated: its agent gets the refusal.
    const others = failed.filter(({ name, message }) => name !== 'AbortError' && message !== 'the provider says 429');
    expect(others).to.deep.equal([]);
    const spent = [...real.windows.values()].reduce((sum, { tokens }) => sum + tokens, 0);
    // What was reserved for calls that the end has kept from beginning is given back behind it.
    await until(async () => (await balances()).startsWith('0 '));
    expect((await balances()).split(' ').slice(0, 2)).to.deep.equal(['0', String(spent)]);
  });
});
