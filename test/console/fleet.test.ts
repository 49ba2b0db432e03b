import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { Sink } from '../support/sink.ts';
import { delivering, untilRows } from '../support/webhooks.ts';
import { World } from '../support/world.ts';
import { type Fleet, fleet, grow } from './fleet.ts';
import { Tab, useTabs } from './tab.ts';

/** Texts of tables, tiles and concerns that take more than one line. */
const wrapped = `[...document.querySelectorAll(':is(td, tbody th, .tiles dt, .tiles dd, .concerns b, .concerns span)')]
  .filter((node) => node.checkVisibility())
  .flatMap((node) => {
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (tops.size > 1 && text.parentElement.checkVisibility()) found.push(text.nodeValue);
    }
    return found;
  })`;

describe('The console of a fleet at work', () => {
  useTabs();
  let service: MusterService;
  let sink: Sink;
  let world: World;
  let agents: Fleet;
  before(async () => {
    [service, sink] = await Promise.all([delivering(), Sink.start()]);
    sink.answer = (response) => response.writeHead(503).end();
    world = await World.create({ on: service });
    agents = await fleet(world, `${sink.url}/hooks/agents`);
    await untilRows(world, 3);
  });
  after(() => Promise.all([service.stop(), sink.stop()]));

  const dialog = (tab: Tab) => tab.page.getByRole('dialog');
  const press = (tab: Tab, name: string | RegExp) => tab.page.getByRole('button', { name, exact: true }).click();
  const said = (tab: Tab, text: string | RegExp) => dialog(tab).getByRole('status').filter({ hasText: text }).waitFor();
  const colourOf = (tab: Tab, selector: string) =>
    tab.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).color`);

  it('has its front page within three screens of a phone, with everything that is wrong in the first', async () => {
    const tab = await Tab.live(world, { width: 390 }, '', world.apiKey);
    for (const part of [
      '#overdue li',
      '.concerns li',
      '#graphs figure',
      '#waits tr',
      '#queues tr',
      '#runs tr',
      '#events li',
    ])
      await tab.page.locator(part).first().waitFor();
    const tall = await tab.evaluate<number>('document.documentElement.scrollHeight');
    expect(tall).to.be.below(3 * 844);
    const now = await tab.page.locator('#now').innerText();
    expect(now)
      .to.match(/Nobody receives\s+.*summarise chapters/)
      .and.match(/Failed work\s+11 failed, 1 rejected/)
      .and.match(/Webhooks fail\s+1 destination, \d+ failures in a row, since 30 m/)
      .and.match(/Budgets used up\s+embeddings/);
    for (const part of ['#overdue', '#now'])
      expect((await tab.page.locator(part).boundingBox())?.y, part).to.be.below(844);
  });

  it('has its sign-in in the middle of the page', async () => {
    for (const width of [390, 1280]) {
      const tab = await Tab.open(world, { width });
      const card = await tab.page.locator('#sign-in').boundingBox();
      const [wide = 0, tall = 0] = await tab.evaluate<number[]>('[innerWidth, innerHeight]');
      if (!card) throw new Error('there is no sign-in');
      expect(card.x + card.width / 2, `${width}`).to.be.closeTo(wide / 2, 2);
      expect(card.y + card.height / 2, `${width}`).to.be.closeTo(tall / 2, 24);
    }
  });

  it('shows a failing destination red at once, and the attempts of an event together', async () => {
    const tab = await Tab.live(world, {}, '/webhooks', world.apiKey);
    const row = tab.page.locator('#destinations tbody tr');
    await row.getByText('FAILING', { exact: true }).waitFor();
    expect(await row.innerText()).to.match(/\d+ failures in a row, since 30 m/);
    const red = await colourOf(tab, '#destinations .problem');
    expect(red).to.equal('rgb(166, 27, 27)');
    expect(await colourOf(tab, '#destinations .badge')).to.equal(red);
    const events = tab.page.locator('#deliveries tbody tr');
    await events.first().waitFor();
    // Eleven failed, one was rejected.
    expect(await events.count()).to.be.at.most(12);
    expect(await events.first().innerText()).to.match(/message\.\w+\s+FAILED.*attempt \d+: 503 in \d+ ms/s);
  });

  it('shows who works, what each holds and since when, and which mailboxes nobody works on', async () => {
    const tab = await Tab.live(world, {}, '/workers');
    const workers = tab.page.locator('#workers tbody > tr');
    await workers.nth(6).waitFor();
    const row = await workers.filter({ hasText: 'pool browsers' }).first().innerText();
    expect(row).to.match(/^\S+-worker-\d\s+start-\d\s+1 unit of pool\s+browsers\s*, fence \d{16}\s+4 m.*in \d m/s);
    const claims = workers.filter({ hasText: 'message' });
    expect(await claims.count()).to.equal(5);
    expect(await claims.first().innerText()).to.match(/of crawl pages\s*, attempt 1, run /);
    const mailboxes = tab.page.locator('#staffing tbody tr');
    await mailboxes.nth(5).waitFor();
    expect(await mailboxes.filter({ hasText: 'summarise' }).innerText()).to.match(/nobody\s+0\s+12/);
    expect(await mailboxes.filter({ hasText: 'publish' }).innerText()).to.match(/paused\s+0\s+4/);
    expect(await mailboxes.filter({ hasText: 'review' }).innerText()).to.match(/review by a second model\s+2\s+2\s+5/);
  });

  it('shows who waits for a message, on the page of workers and on that of the mailbox', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'translations' });
    const body = { scopeId: agents.runs[0], holder: 'idle-worker', holderSession: 'start-9', waitSeconds: 30 };
    const held = world.post(`/mailboxes/${id}/recv`, body);
    const tab = await Tab.live(world, {}, '/workers');
    const row = tab.page.locator('#receivers tbody tr');
    await row.filter({ hasText: 'translations' }).waitFor();
    expect(await row.innerText()).to.match(/^idle-worker\s+start-9\s+translations\s+\S.*\s+\d+ s/s);
    await tab.page.getByLabel('Search everything').fill('idle-worker');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Mailbox translations' }).waitFor();
    await tab.page.goBack();
    await row.getByRole('link', { name: 'translations' }).click();
    await tab.page.getByRole('heading', { name: 'Mailbox translations' }).waitFor();
    await row.getByText('idle-worker').waitFor();
    await world.mustPost(`/mailboxes/${id}/messages`, { scopeId: agents.runs[0], payload: 1 });
    const { id: messageId, token } = (await held).body;
    await world.mustPost(`/messages/${messageId}/complete`, { token });
    await tab.page.getByText('Nobody waits for a message.').waitFor();
  });

  it('on a pool: who holds and who waits, breaks a hold, cancels a wait, and changes its units', async () => {
    const tab = await Tab.live(world, {}, '/money', world.apiKey);
    await tab.page.locator('#pools').getByRole('link', { name: 'browsers' }).click();
    await tab.page.getByRole('heading', { name: 'Pool browsers' }).waitFor();
    await tab.page.locator('#pool').getByText('2 of 2 units held').waitFor();
    const [holding, waiting] = ['Holding, longest first', 'Waiting, in order'].map((name) =>
      tab.page.getByRole('table', { name }).getByRole('row'),
    );
    if (!holding || !waiting) throw new Error('there is no table');
    expect(await waiting.nth(1).innerText()).to.match(
      /^1\s+beta-worker-2 \(start-2\)\s+1\s+4 m.*first in line; held by/s,
    );
    await tab.page.getByRole('button', { name: /^Break… alpha-worker-1 \(start-0\), fence \d+$/ }).click();
    await dialog(tab).getByText('It holds 1 unit of pool browsers, fence').waitFor();
    await press(tab, 'Break the hold');
    await said(tab, 'It is released: one operation.');
    const states = async () =>
      Promise.all(agents.holds.map(async (id) => (await world.get(`/pool-holds/${id}`)).body.state));
    expect(await states()).to.deep.equal(['RELEASED', 'HELD', 'HELD']);
    await press(tab, 'Close');
    await tab.page.locator('#parties').getByText('Nobody waits for units of it.').waitFor();
    await holding.filter({ hasText: 'beta-worker-2' }).waitFor();
    const asked = { scopeId: agents.runs[0], holder: 'late', ttlSeconds: 3600 };
    const { id } = await world.mustPost(`/pools/${agents.poolId}/acquire`, asked);
    await press(tab, 'Cancel… late, position 1');
    await dialog(tab).getByText('It waits for 1 unit of pool browsers, at position 1.').waitFor();
    await press(tab, 'Cancel the wait');
    await said(tab, 'It is cancelled: one operation.');
    expect((await world.get(`/pool-holds/${id}`)).body.state).to.equal('CANCELLED');
    await press(tab, 'Close');
    await press(tab, 'Change the units… browsers');
    await tab.page.getByLabel('Units', { exact: true }).fill('5');
    await press(tab, 'Change the units');
    await said(tab, '5 units, 3 available, 0 waiting.');
  });

  it('voids an overdue reservation from the front page and from the page of its budget, with what a spender may', async () => {
    const may = await world.key(['coordination_read', 'resource_spend']);
    const tab = await Tab.live(world, {}, '', may);
    const note = tab.page.locator('#overdue');
    await note.getByText('1 overdue reservation', { exact: true }).waitFor();
    expect(await note.innerText()).to.match(/42\.00 EUR of summaries, by alpha-worker-1, since 5 m/);
    await note.getByRole('button').click();
    await dialog(tab)
      .getByText('42.00 EUR of 42.00 EUR are left of what alpha-worker-1 reserved, and overdue.')
      .waitFor();
    await press(tab, 'Leave it');
    await tab.go(`/budget/${agents.budgetId}`);
    const late = tab.page.locator('#budget tbody tr').filter({ hasText: 'overdue' });
    await late.getByRole('button').click();
    await press(tab, 'Void the reservation');
    await said(tab, 'Voided 42.00 EUR: 65.00 EUR available. One operation.');
    await press(tab, 'Close');
    await tab.page.locator('#budget').getByText('VOIDED', { exact: true }).waitFor();
    expect(await late.count()).to.equal(0);
    const { body } = await world.get(`/budgets/${agents.budgetId}?state=VOIDED`);
    expect(body.reservations.map(({ id }: { id: string }) => id)).to.deep.equal([agents.overdueId]);
    await tab.go('');
    await note.getByText('overdue').waitFor({ state: 'detached' });
  });

  it('shows each key the buttons of what it may do, and no others', async () => {
    const acts = async (permissions: string[]): Promise<Record<string, string[]>> => {
      const tab = await Tab.live(world, {}, '', await world.key(['coordination_read', ...permissions]));
      const found: Record<string, string[]> = {};
      for (const [place, part] of [
        ['money', '#pools li'],
        [`budget/${agents.budgetId}`, '#budget tbody tr'],
        [`allowance/${agents.allowanceId}`, '#waiters tbody tr'],
        [`pool/${agents.poolId}`, '#parties tbody tr'],
      ]) {
        await tab.go(`/${place}`);
        await tab.page
          .locator(part ?? '')
          .first()
          .waitFor();
        const names = await tab.evaluate<string[]>(
          `[...document.querySelectorAll('main [data-act]')].map((one) => one.dataset.act)`,
        );
        found[place?.split('/')[0] ?? ''] = [...new Set(names)].sort();
      }
      return found;
    };
    const none = { money: [], budget: [], allowance: [], pool: [] };
    expect(await acts(['resource_spend'])).to.deep.equal({ ...none, budget: ['void'] });
    expect(await acts(['coordination_write'])).to.deep.equal({ ...none, allowance: ['cancelWaiter'] });
    expect(await acts(['resource_config'])).to.deep.equal({
      money: ['cooldown', 'limit', 'poolUnits', 'units'],
      budget: ['limit', 'void'],
      allowance: ['cooldown', 'units'],
      pool: ['breakHold', 'poolUnits'],
    });
  });

  it('pauses and resumes a mailbox and a run', async () => {
    const tab = await Tab.live(world, {}, `/mailbox/${agents.boxes.crawl}`, world.apiKey);
    const isPaused = async (path: string) => (await world.get(path)).body.paused;
    const both = async (path: string): Promise<void> => {
      await press(tab, 'Pause…');
      await dialog(tab).getByRole('button', { name: 'Pause' }).click();
      await said(tab, 'Paused: one operation.');
      expect(await isPaused(path)).to.equal(true);
      await press(tab, 'Close');
      await press(tab, 'Resume…');
      await press(tab, 'Resume');
      await said(tab, 'Resumed: one operation.');
      expect(await isPaused(path)).to.equal(false);
      await press(tab, 'Close');
    };
    await both(`/mailboxes/${agents.boxes.crawl}`);
    await tab.go(`/run/${agents.runs[0]}`);
    await both(`/scopes/${agents.runs[0]}`);
    await tab.go('/mailboxes');
    await tab.page.locator('#mailbox-list').getByText('PAUSED', { exact: true }).waitFor();
  });

  it('takes under 1,600 pixels in height on every page, 1,280 wide, with 31 workers and 26 mailboxes', async () => {
    await grow(world, agents);
    const tab = await Tab.live(world, {}, '', world.apiKey);
    const { ofSpace } = await tab.evaluate<{ ofSpace: string[] }>(
      'import("./console/main.js").then(({ pageNames }) => pageNames)',
    );
    const { boxes, runs, budgetId, allowanceId, poolId } = agents;
    const objects = [
      ...Object.values(boxes).map((id) => `mailbox/${id}`),
      ...runs.map((id) => `run/${id}`),
      ...[`budget/${budgetId}`, `allowance/${allowanceId}`, `pool/${poolId}`],
    ];
    const tall: Record<string, number> = {};
    for (const place of [...ofSpace, ...objects]) {
      await tab.go(place === '' ? '' : `/${place}`);
      await tab.page.locator('main').getByText('Reading…').first().waitFor({ state: 'detached' });
      const height = await tab.evaluate<number>('document.documentElement.scrollHeight');
      if (height >= 1_600) tall[place] = height;
      // Nothing is wider than the page, or takes a second line in a table or a tile.
      expect(await tab.evaluate<number>('document.documentElement.scrollWidth'), place).to.equal(1_280);
      expect(await tab.evaluate<string[]>(wrapped), place).to.deep.equal([]);
    }
    expect(tall).to.deep.equal({});
  });
});
