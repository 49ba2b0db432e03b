import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

const scopeId = randomUUID();

describe('The overview of the console', () => {
  useTabs();

  const concern = (tab: Tab, title: string) => tab.page.locator('.concerns li').filter({ hasText: title });
  const send = async (world: World, name: string, messages: number, more: object = {}): Promise<string> => {
    const { id } = await world.mustPost('/mailboxes', { name, ...more });
    const call = { call: 'message.send', mailboxId: id, scopeId, payload: 1 };
    if (messages > 0) await world.mustPost('/batch', { calls: Array.from({ length: messages }, () => call) });
    return id;
  };

  it('begins with what needs somebody, the most urgent first, and leads there', async () => {
    const world = await World.create({ limits: { maxBacklog: 70 } });
    const start = Date.now();
    await world.at(start - 4_000_000);
    const claimed = await send(world, 'claimed', 2, { maxAttempts: 1 });
    const claim = { scopeId, holder: 'ann', holderSession: 's', leaseSeconds: 600 };
    await world.at(start - 60_000);
    const failing = await world.mustPost(`/mailboxes/${claimed}/recv`, claim);
    await world.mustPost(`/messages/${failing.id}/nack`, { token: failing.token, retry: false, error: 'no' });
    await send(world, 'quiet', 0);
    for (let n = 0; n < 5; n++) await send(world, `alone ${n}`, 2);
    await send(world, 'full', 45, { backlogLimit: 50 });
    await world.at(start);
    const tab = await Tab.live(world, {}, '', world.apiKey);
    await concern(tab, 'Nobody receives').waitFor();
    await concern(tab, 'limit').waitFor();
    const titles = await tab.page.locator('.concerns li > b').allInnerTexts();
    expect(titles).to.deep.equal(['Nobody receives', 'Nearly full', 'Failed work', 'Near its limit']);
    expect(await concern(tab, 'Nobody receives').innerText()).to.match(/claimed 1 ready for 1 h.*, and 4 more$/s);
    expect(await concern(tab, 'Nearly full').innerText()).to.match(/full 45 of 50$/);
    expect(await concern(tab, 'Near its limit').innerText()).to.match(/Messages of the space: 56 of 70/);
    expect(await tab.violations('#now')).to.equal('[]');
    const held = world.post(`/mailboxes/${claimed}/recv`, { ...claim, holderSession: 't' });
    await held;
    await concern(tab, 'Nobody receives')
      .getByText(/and 3 more$/)
      .waitFor();
    await concern(tab, 'Nobody receives').getByRole('link', { name: '3 more' }).click();
    await tab.page.getByRole('heading', { name: 'Mailboxes', level: 1 }).waitFor();
  });

  it('opens at the rate of its space for whoever may raise the limit, shows its use, and raises it there', async () => {
    const world = await World.create({ limits: { requestsPerMinute: 30 } });
    await world.at(Math.ceil(Date.now() / 60_000) * 60_000);
    while ((await world.get('/budgets')).status === 200);
    const tab = await Tab.open(world, { expected: /status of 429/ });
    await tab.signIn(world.apiKey);
    const row = concern(tab, 'At its limit');
    await row.getByText('Requests of this minute: 30 of 30').waitFor();
    await tab.page.locator('#now .bad').getByText('100 %').waitFor();
    await row.getByRole('button', { name: 'Raise the limit… requestsPerMinute' }).click();
    await tab.page.getByLabel('New limit').fill('9000');
    await tab.page.getByRole('button', { name: 'Raise the limit', exact: true }).click();
    await tab.page.getByRole('status').filter({ hasText: 'It is 9,000: one operation.' }).waitFor();
    expect((await world.get('/limits')).body.requestsPerMinute).to.equal(9_000);
  });

  it('leads to a schedule with its next five moments, here and by its own clock', async () => {
    const world = await World.create();
    await world.at(Date.parse('2030-03-28T10:00:00Z'));
    const mailboxId = await send(world, 'reports', 0);
    const timing = { cron: '0 9 * * 1-5', timezone: 'Asia/Tokyo' };
    await world.mustPost('/schedules', { name: 'report', mailboxId, scopeId, payload: 1, ...timing });
    const tab = await Tab.live(world);
    await tab.page.getByRole('link', { name: 'Schedules' }).click();
    await tab.page.locator('#schedules').getByRole('link', { name: 'report', exact: true }).click();
    const rows = tab.page.getByRole('table', { name: 'Next moments' }).getByRole('row');
    await rows.nth(5).waitFor();
    expect(await rows.nth(0).innerText()).to.match(/In\s+Here\s+Asia\/Tokyo/);
    expect(await rows.nth(1).innerText()).to.match(/^in 13 h.*2030-03-29 00:00:00 UTC\s+Fri 2030-03-29 09:00:00$/s);
    expect(await rows.nth(2).innerText()).to.match(/Mon 2030-04-01 09:00:00$/);
  });

  it('has the line of the command that raises a limit, for a key that may not', async () => {
    const world = await World.create({ limits: { maxBacklog: 20 } });
    await send(world, 'jobs', 20);
    const tab = await Tab.live(world);
    const line = `muster space limits ${world.spaceId} --org ${world.org} --max-backlog 40`;
    await tab.page.locator('.concerns code').getByText(line).waitFor();
  });
});
