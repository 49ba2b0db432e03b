import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { redisUrl } from '../support/store.ts';
import { overrides, World } from '../support/world.ts';
import { seed } from './seed.ts';
import { Tab, useTabs } from './tab.ts';

const hide = (isHidden: boolean): string => `
  Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));`;

describe("The console's load on its server", () => {
  useTabs();

  it('is reads of its own space only, each at most every 2 s, however much happens', async () => {
    const world = await World.create();
    const { runId } = await seed(world);
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const tab = await Tab.live(world);
    const base = `${world.url}/v1/spaces/${world.spaceId}`;
    /** After the sign-in, which asks once what the key sees and may do. */
    const calls = () => {
      const asked = tab.requests.findLastIndex((request) => request.url().endsWith('/mcp'));
      return tab.requests.slice(asked + 1);
    };
    const paths = () => calls().map((request) => request.url().slice(base.length));
    while (paths().length < new Set(paths()).size + 6) {
      await world.mustPost(`/mailboxes/${id}/messages`, { scopeId: runId, payload: 1 });
      await tab.page.waitForTimeout(150);
    }
    for (const request of calls()) {
      expect(request.method()).to.equal('GET');
      expect(request.url().slice(0, base.length)).to.equal(base);
    }
    const mailboxes = new Set(paths().filter((path) => path.startsWith('/mailboxes')));
    expect([...mailboxes]).to.deep.equal(['/mailboxes?limit=200']);
    // By the clock of the page: news of its requests may come here late.
    const begun = await tab.evaluate<[string, number][]>(
      'performance.getEntriesByType("resource").map(({ name, startTime }) => [name, startTime])',
    );
    const [, from = 0] = begun.findLast(([url]) => url.endsWith('/mcp')) ?? [];
    for (const path of new Set(paths())) {
      const moments = begun.filter(([url, at]) => url === base + path && at > from).map(([, at]) => at);
      for (const [index, at] of moments.entries())
        if (index > 0) expect(at - (moments[index - 1] ?? 0), path).to.be.above(2_000);
    }
  });

  it('is zero while the tab is hidden or paused', async () => {
    const world = await World.create();
    const tab = await Tab.live(world);
    await tab.evaluate(hide(true));
    await tab.status('Paused while the tab is hidden.');
    const before = tab.requests.length;
    await world.mustPost('/mailboxes', { name: 'meanwhile' });
    await tab.page.waitForTimeout(1_500);
    expect(tab.requests.length).to.equal(before);
    await tab.evaluate(hide(false));
    await tab.page.getByRole('region', { name: 'Queues' }).getByText('meanwhile').waitFor();
    await tab.page.getByRole('button', { name: 'Pause', exact: true }).click();
    await tab.status('Paused.');
    expect(await tab.page.getByRole('button', { name: 'Pause', exact: true }).getAttribute('aria-pressed')).to.equal(
      'true',
    );
    await tab.evaluate(hide(true));
    await tab.evaluate(hide(false));
    await tab.status('Paused.');
    await tab.page.getByRole('button', { name: 'Pause', exact: true }).click();
    await tab.status('Live.');
  });

  it('is zero until the moment at which a rate limit lets it read again', async () => {
    const world = await World.create({ limits: { requestsPerMinute: 5 } });
    await world.at(Date.UTC(2026, 0, 1, 12, 0, 30));
    const tab = await Tab.open(world, { expected: /status of 429/ });
    await tab.signIn(world.apiKey);
    await tab.status(/^Rate limited: reading again at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\S*\.$/);
    await tab.page.waitForTimeout(500);
    const before = tab.requests.length;
    await tab.page.waitForTimeout(4_500);
    expect(tab.requests.length).to.equal(before);
  });

  it('resumes by itself after the server was away', async () => {
    const start = async (port: number): Promise<MusterService> =>
      startService({
        redisUrl: await redisUrl(),
        role: 'api',
        host: '127.0.0.1',
        port,
        log: pino({ level: 'silent' }),
        overrides,
      });
    let service = await start(0);
    const world = await World.create({ on: service });
    const tab = await Tab.live(world, { expected: /net::ERR_/ });
    await service.stop();
    await tab.status('Not live: the server cannot be reached. Retrying.');
    service = await start(Number(new URL(world.url).port));
    await tab.status('Live.');
    await service.stop();
  });
});
