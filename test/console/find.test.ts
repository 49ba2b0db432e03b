import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { shortId } from '../../src/pages/console/browser/format.ts';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

/** A moment as the console shows it. */
const exact = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC(?:[+-]\d\d:\d\d)?/;

describe('The console', () => {
  useTabs();
  let world: World;
  let mailboxId: string;
  let desk: string;
  before(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'pages', maxAttempts: 9 })).id;
    desk = (await world.mustPost('/scopes', { name: 'desk 2026-11-25' })).id;
  });

  const send = async (more: object = {}, scopeId = desk): Promise<string> =>
    (await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1, ...more })).id;
  const recv = (holder: string, scopeId = desk) =>
    world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId, holder, holderSession: 's' });
  const search = async (tab: Tab, text: string): Promise<void> => {
    await tab.page.getByLabel('Search everything').fill(text);
    await tab.page.getByRole('button', { name: 'Search', exact: true }).click();
  };
  const heading = (tab: Tab, text: string) => tab.page.getByRole('heading', { level: 1, name: text }).waitFor();

  describe('has one search box', () => {
    it('the search box opens the page of an id of any kind', async () => {
      const budget = await world.mustPost('/budgets', { name: 'llm', currency: 'EUR', scale: 2, limitMinor: '100' });
      const allowance = await world.mustPost('/allowances', { name: 'calls', unitsLimit: 1, windowSeconds: 3600 });
      const use = { scopeId: desk, holder: 'h', units: 1 };
      await world.mustPost(`/allowances/${allowance.id}/consume`, use);
      const { waiterId } = await world.mustPost(`/allowances/${allowance.id}/wait`, { ...use, ttlSeconds: 3600 });
      const pool = await world.mustPost('/pools', { name: 'browser', units: 1 });
      const { holdId } = await world.mustPost(`/pools/${pool.id}/acquire`, { ...use, holderSession: 's' });
      const { groupId } = await world.mustPost('/task-groups', { mailboxId, condition: 'ALL_TERMINAL' });
      const barrier = await world.mustPost('/barriers', { scopeId: desk, target: 2 });
      const question = await world.mustPost('/questions', { scopeId: desk, question: 'Now?' });
      const hourly = { mailboxId, scopeId: desk, payload: 1, everySeconds: 3600 };
      const schedule = await world.mustPost('/schedules', { ...hourly, name: 'hourly' });
      const destination = await world.mustPost('/destinations', { url: 'https://hooks.example.org/a' });
      const wanted: Record<string, string> = {
        [await send()]: 'Message',
        [desk]: 'Run desk 2026-11-25',
        [mailboxId]: 'Mailbox pages',
        [budget.id]: 'Budget llm',
        [allowance.id]: 'Allowance calls',
        [waiterId]: 'Waiter',
        [pool.id]: 'Pool browser',
        [holdId]: 'Hold',
        [groupId]: 'Task group',
        [barrier.id]: 'Barrier',
        [question.id]: 'Question',
        [schedule.id]: 'Schedule hourly',
        [destination.id]: 'Webhook destination https://hooks.example.org/a',
      };
      const tab = await Tab.live(world, { expected: /status of 404/ });
      for (const [id, title] of Object.entries(wanted)) {
        await search(tab, ` ${id.toUpperCase()} `);
        await heading(tab, `${title} ${id}`);
      }
    });

    it('the search box finds what only events name, and says so where there is nothing', async () => {
      const budget = await world.mustPost('/budgets', { name: 'b2', currency: 'EUR', scale: 2, limitMinor: '100' });
      const reserve = { scopeId: desk, holder: 'h', amountMinor: '5' };
      const reservation = await world.mustPost(`/budgets/${budget.id}/reserve`, reserve);
      const tab = await Tab.live(world, { expected: /status of 404/ });
      await search(tab, reservation.id);
      await tab.page.locator('#found').getByText('budget.reserved').waitFor();
      // The answer of an earlier search is not awaited.
      await tab.page.route('**/messages?workKey=slow*', () => undefined);
      await search(tab, 'slow');
      await tab.page.getByText('For slow').waitFor();
      await search(tab, 'no such thing');
      await tab.page.getByText('Nothing found.').waitFor();
    });

    it('the search box says where it has not searched everything, as the page of workers does', async () => {
      const crowded = await World.create();
      const { id: allowanceId } = await crowded.mustPost('/allowances', {
        name: 'a',
        unitsLimit: 1,
        windowSeconds: 60,
      });
      const { id: oldest } = await crowded.mustPost('/mailboxes', { name: 'oldest' });
      await crowded.mustPost(`/mailboxes/${oldest}/messages`, { scopeId: randomUUID(), payload: 1 });
      const scopeId = randomUUID();
      await crowded.mustPost(`/allowances/${allowanceId}/consume`, { scopeId, holder: 'h', units: 1 });
      const wait = { call: 'allowance.wait', allowanceId, scopeId, holder: 'h', units: 1 };
      const batch = (call: object) => crowded.mustPost('/batch', { calls: Array.from({ length: 67 }, () => call) });
      for (const call of [wait, { call: 'mailbox.create', name: 'jobs' }]) for (const _ of 'abc') await batch(call);
      const tab = await Tab.live(crowded, {}, '/workers');
      await tab.page.getByText('No mailbox has work.').waitFor();
      await tab.page.getByText('Only the newest 200 mailboxes are considered.').waitFor();
      await search(tab, 'someone');
      await tab.page.getByText('Only 200 holds and waits of each kind').waitFor();
    });

    it('the search box knows work keys, keys, names, beginnings of names of runs, and holders', async () => {
      const [one, other] = [await send({ workKey: 'order 1', key: 'acme' }), await send({ key: 'acme' })];
      const night = (await world.mustPost('/scopes', { name: 'night 1' })).id;
      await world.mustPost('/scopes', { name: 'night 2' });
      const claim = await send({}, night);
      await recv('crawler-7', night);
      const tab = await Tab.live(world, {}, '', world.apiKey);
      await search(tab, 'order 1');
      await heading(tab, `Message ${one}`);
      await search(tab, 'acme');
      const links = tab.page.locator('#found tbody th + td a');
      await links.nth(1).waitFor();
      expect(await links.allInnerTexts()).to.have.members([shortId(one), shortId(other)]);
      await search(tab, 'crawler-7');
      await heading(tab, `Message ${claim}`);
      await search(tab, 'night');
      await links.filter({ hasText: 'night 2' }).waitFor();
      expect(await links.count()).to.equal(2);
      await search(tab, 'night 1');
      await heading(tab, `Run night 1 ${night}`);
      await search(tab, 'pages');
      await heading(tab, `Mailbox pages ${mailboxId}`);
    });
  });

  it('shows names beside ids, also of what no list on the page has', async () => {
    const id = await send({ workKey: 'named' });
    const tab = await Tab.live(world, {}, `/message/${id}`);
    const run = tab.page.locator('#message').getByRole('link', { name: `desk 2026-11-25 ${shortId(desk)}` });
    await run.waitFor();
    await tab.page.locator('#message').getByRole('link', { name: 'pages', exact: true }).waitFor();
    await tab.page.locator('#message-events').getByRole('link', { name: 'desk 2026-11-25' }).first().waitFor();
    expect(await run.getAttribute('href')).to.contain(`/run/${desk}`);
    const money = { currency: 'EUR', scale: 2, limitMinor: '20000' };
    const budget = await world.mustPost('/budgets', { ...money, name: 'oldest' });
    const newer = Array.from({ length: 50 }, (_, n) => ({ call: 'budget.create', ...money, name: `newer ${n}` }));
    await world.mustPost('/batch', { calls: newer });
    await world.mustPost(`/budgets/${budget.id}/reserve`, { scopeId: desk, holder: 'h', amountMinor: '12345' });
    await tab.go(`/run/${desk}`);
    await tab.page.locator('#run').getByText('123.45 EUR').first().waitFor();
  });

  it('shows how far runs have come, and marks an idle one whose work has failed', async () => {
    const [good, bad] = [
      (await world.mustPost('/scopes', { name: 'good' })).id,
      (await world.mustPost('/scopes', { name: 'bad' })).id,
    ];
    for (const run of [good, bad])
      for (let n = 0; n < 3; n++) {
        await send({}, run);
        if (n === 2 && run === good) break;
        const { id, token } = await recv('h', run);
        if (run === bad && n > 0) await world.mustPost(`/messages/${id}/nack`, { token, retry: false });
        else await world.mustPost(`/messages/${id}/complete`, { token });
      }
    const tab = await Tab.live(world, {}, '/runs');
    const row = (id: string) => tab.page.locator(`#run-list tr[data-key="${id}"]`);
    await row(good).getByText('2 of 3 done').waitFor();
    await row(good).getByText('ACTIVE', { exact: true }).waitFor();
    await row(bad).getByText('1 of 3 done, 2 failed').waitFor();
    await row(bad).getByText('IDLE, WORK FAILED', { exact: true }).waitFor();
    await tab.go(`/run/${bad}`);
    await tab.page.locator('#run').getByText('1 of 3 done, 2 failed').waitFor();
    await tab.page.locator('#run').getByText('IDLE, WORK FAILED').waitFor();
  });

  it("shows a message's attempts one by one", async () => {
    const run = (await world.mustPost('/scopes', {})).id;
    const id = await send({}, run);
    const first = await recv('ann', run);
    await world.mustPost(`/messages/${id}/renew`, { token: first.token, progress: { page: 3 } });
    await world.mustPost(`/messages/${id}/nack`, {
      token: first.token,
      retry: true,
      error: 'no paper',
      delaySeconds: 0,
    });
    await recv('bob', run);
    const tab = await Tab.live(world, {}, `/message/${id}`);
    const rows = tab.page.locator('#attempts tbody tr');
    await rows.nth(1).waitFor();
    const [one, two] = await rows.allInnerTexts();
    expect(one)
      .to.match(/^1\s+returned\s+ann\s/)
      .and.match(exact)
      .and.match(/no paper\s+\{\s*"page": 3\s*\}$/);
    expect(two).to.match(/^2\s+CLAIMED\s+bob\s.*so far\s+–/s);
  });

  it('draws what a message waits for and what waits for it, at 1280 and 390 pixels', async () => {
    const run = (await world.mustPost('/scopes', {})).id;
    const [a, b] = [await send({ workKey: 'outline' }, run), await send({ workKey: 'sources' }, run)];
    const { id: done, token } = await recv('h', run);
    await world.mustPost(`/messages/${done}/complete`, { token });
    const c = await send({ workKey: 'draft', after: [{ messageId: a }, { messageId: b }] }, run);
    const d = await send({ workKey: 'review', after: [{ messageId: c }] }, run);
    const e = await send({ workKey: 'publish', after: [{ messageId: d }, { messageId: c }] }, run);
    for (const width of [1280, 390]) {
      const tab = await Tab.live(world, { width }, `/message/${c}`);
      const graph = tab.page.locator('#message-graph');
      await graph.locator('li').nth(4).waitFor();
      expect(
        await graph.locator('li').evaluateAll((items) => items.map((one) => one.getAttribute('data-key'))),
      ).to.deep.equal([...[a, b, c, d, e]]);
      expect(await graph.locator('circle').count()).to.equal(5);
      // a–c, b–c, c–d, c–e, d–e.
      expect(await graph.locator('path.arrow').count()).to.equal(5);
      await graph.getByRole('img', { name: 'It is after 2 others; 2 others behind it' }).waitFor();
      const { right = 0 } = { right: await graph.evaluate((node) => node.getBoundingClientRect().right) };
      expect(right).to.be.at.most(width);
      expect(await tab.violations('#page')).to.equal('[]');
      await graph.getByRole('link', { name: shortId(d) }).click();
      await heading(tab, `Message ${d}`);
    }
  });

  it('shows how long ago times are, and the moments under the pointer, at a touch, and with the focus, in any zone', async () => {
    await send();
    for (const width of [1280, 390]) {
      const tab = await Tab.live(world, { width });
      const since = tab.page.locator('#waits time').first();
      await since.waitFor();
      expect(await since.innerText()).to.match(/^(in )?\d+ [smhd]/);
      const tip = tab.page.getByRole('tooltip');
      expect(await tip.isVisible()).to.equal(false);
      await since.hover();
      expect(await tip.innerText()).to.match(new RegExp(`^${exact.source}$`));
      await tab.page.keyboard.press('Escape');
      expect(await tip.isVisible()).to.equal(false);
      await since.click();
      expect(await tip.isVisible()).to.equal(true);
      await tab.page.locator('#waits tbody a').first().focus();
      expect(await tip.innerText()).to.match(exact);
      expect(await tab.page.locator('#events time').first().innerText()).to.match(new RegExp(`^${exact.source}$`));
      await tab.page.locator('#settings summary').click();
      await tab.page.getByLabel('Times in').selectOption('Asia/Tokyo');
      await tab.page.keyboard.press('Escape');
      await since.hover();
      expect(await tip.innerText()).to.match(/ UTC\+09:00$/);
      await tab.page.reload();
      await since.hover();
      expect(await tip.innerText(), 'remembered').to.match(/ UTC\+09:00$/);
      await tab.evaluate('localStorage.clear()');
    }
  });

  it('shows characters that turn a text or hide in it as what they are, wherever somebody has given them', async () => {
    const trick = 'a\u202Eb\u200Bc';
    const shown = 'a<U+202E>b<U+200B>c';
    const run = (await world.mustPost('/scopes', { name: trick })).id;
    const box = (await world.mustPost('/mailboxes', { name: trick })).id;
    const message = { scopeId: run, payload: { text: trick }, workKey: trick };
    const { id } = await world.mustPost(`/mailboxes/${box}/messages`, message);
    await world.mustPost(`/mailboxes/${box}/recv`, { scopeId: run, holder: trick, holderSession: 's' });
    await world.mustPost('/questions', { scopeId: run, holder: trick, question: trick, options: [trick] });
    await world.call('PUT', `/scopes/${run}/notes/${encodeURIComponent(trick)}`, { value: trick });
    const tab = await Tab.live(world, {}, '', world.apiKey);
    const parts: Record<string, string> = {
      '/workers': '#workers',
      '/mailboxes': '#mailbox-list',
      [`/mailbox/${box}`]: 'h1',
      [`/message/${id}`]: '#message pre',
      [`/run/${run}`]: 'h1',
      '/questions': '#questions',
      [`/note/${run}?key=${encodeURIComponent(trick)}`]: '#note pre',
      [`/find?q=${encodeURIComponent(trick)}`]: '#found',
    };
    for (const [place, part] of Object.entries(parts)) {
      await tab.go(place);
      await tab.page
        .locator(part)
        .getByText(shown)
        .or(tab.page.locator(part).filter({ hasText: shown }))
        .first()
        .waitFor();
      const said = await tab.evaluate<string>(`document.title + document.body.innerText +
        [...document.querySelectorAll('[aria-label]')].map((node) => node.getAttribute('aria-label')).join()`);
      expect(said, place).to.not.match(/[\u202E\u200B]/);
    }
    await tab.go('/questions');
    const answer = tab.page.locator('#questions').getByRole('button').first();
    await answer.waitFor();
    expect(await answer.getAttribute('data-option'), 'what is sent is as it was given').to.equal(trick);
  });
});
