import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { Sink } from '../support/sink.ts';
import { delivering, untilRows } from '../support/webhooks.ts';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console acts', () => {
  useTabs();
  let service: MusterService;
  let world: World;
  before(async () => {
    service = await delivering();
    world = await World.create({ on: service });
  });
  after(() => service.stop());

  const dialog = (tab: Tab) => tab.page.getByRole('dialog');
  const press = (tab: Tab, name: string) => tab.page.getByRole('button', { name, exact: true }).click();
  const said = (tab: Tab, text: string | RegExp) => dialog(tab).getByRole('status').filter({ hasText: text }).waitFor();
  const problem = (tab: Tab, text: string) => dialog(tab).getByRole('alert').filter({ hasText: text }).waitFor();

  it('on a budget: its limit, exactly, and never below what is used', async () => {
    const budget = { name: 'llm', currency: 'EUR', scale: 2, limitMinor: '100000' };
    const { id } = await world.mustPost('/budgets', budget);
    await world.mustPost(`/budgets/${id}/reserve`, { scopeId: randomUUID(), holder: 'ann', amountMinor: '5000' });
    const tab = await Tab.live(world, { expected: /status of 409/ }, '/money', world.apiKey);
    await press(tab, 'Change the limit… llm');
    await dialog(tab).getByText('It is 1,000.00 EUR: 0.00 EUR settled, 50.00 EUR reserved').waitFor();
    const field = tab.page.getByLabel('New limit in EUR');
    await field.fill('1.234');
    await press(tab, 'Change the limit');
    await problem(tab, 'at most 2 decimals');
    for (const wrong of ['1,50', ',', '1234,567', '1,234,5.00']) {
      await field.fill(wrong);
      await press(tab, 'Change the limit');
      await problem(tab, 'Enter an amount such as 1,234.56, with');
    }
    await field.fill('9,999,999,999,999,999.5');
    await press(tab, 'Change the limit');
    await said(tab, 'The limit is 9,999,999,999,999,999.50 EUR');
    expect((await world.get(`/budgets/${id}`)).body.limitMinor).to.equal('999999999999999950');
    await press(tab, 'Close');
    await tab.page.locator('#budgets').getByText('of 9,999,999,999,999,999.50 EUR').waitFor();
    await press(tab, 'Change the limit… llm');
    await field.fill('1');
    await press(tab, 'Change the limit');
    await problem(tab, '1.00 EUR is too little: 50.00 EUR of it is settled or reserved.');
    // It goes on, with what was typed.
    expect(await field.inputValue()).to.equal('1');
    expect(await tab.evaluate('document.activeElement.id')).to.equal('ask-limit');
    await field.fill('51');
    await tab.page.keyboard.press('Enter');
    await said(tab, 'The limit is 51.00 EUR, 1.00 EUR available: one operation.');
    expect(await dialog(tab).locator('.problem').textContent()).to.equal('');
  });

  it('on a budget that is used up: the front page leads to it, and it says who has spent it', async () => {
    const { id } = await world.mustPost('/budgets', { name: 'tokens', currency: 'EUR', scale: 0, limitMinor: '70' });
    const scopeId = randomUUID();
    await world.mustPost(`/budgets/${id}/reserve`, { scopeId, holder: 'ann', amountMinor: '70' });
    const tab = await Tab.live(world, {}, '', world.apiKey);
    await tab.page.locator('#now').getByText('tokens').waitFor();
    await tab.page.locator('.concerns li').filter({ hasText: 'Budgets used up' }).getByRole('link').click();
    await tab.page.locator('#budgets').getByText('USED UP').waitFor();
    await tab.page.getByRole('link', { name: 'tokens' }).click();
    await tab.page.getByRole('heading', { name: 'Budget tokens' }).waitFor();
    const row = tab.page.locator('#budget').getByRole('row').nth(1);
    expect(await row.innerText()).to.match(/ACTIVE\s+ann\s+70 EUR/);
    await press(tab, 'Change the limit… tokens');
    await tab.page.getByLabel('New limit in EUR').fill('100');
    await press(tab, 'Change the limit');
    await said(tab, 'The limit is 100 EUR, 30 EUR available: one operation.');
    await press(tab, 'Close');
    await tab.page.locator('#budget').getByText('30 EUR available of 100 EUR').first().waitFor();
  });

  it('on a budget that is overdrawn: by how much, for which attempt of which message, and which limit covers it', async () => {
    const { id } = await world.mustPost('/budgets', { name: 'calls', currency: 'EUR', scale: 2, limitMinor: '1200' });
    const messageId = randomUUID();
    const reserve = { scopeId: randomUUID(), holder: 'bob', amountMinor: '1199', workKey: `${messageId}/1/3` };
    const { id: reservationId } = await world.mustPost(`/budgets/${id}/reserve`, reserve);
    const ofCall = { ...reserve, amountMinor: '1', workKey: `${messageId}/2026-11-28T11:09:48.691Z/2` };
    const { id: called } = await world.mustPost(`/budgets/${id}/reserve`, ofCall);
    await world.mustPost(`/budgets/${id}/void`, { reservationId: called, workKey: 'void' });
    const cost = { reservationId, amountMinor: '1600', workKey: 'w', overrun: true };
    await world.mustPost(`/budgets/${id}/settle`, cost);
    const tab = await Tab.live(world, {}, '/money', world.apiKey);
    await tab.page.locator('#budgets').getByText('OVERDRAWN', { exact: true }).waitFor();
    await tab.page.getByRole('link', { name: 'calls' }).click();
    await tab.page.locator('#budget').getByText('of 12.00 EUR; overdrawn by 4.00 EUR').first().waitFor();
    const rows = tab.page.locator('#budget').getByRole('row');
    expect(await rows.nth(1).innerText()).to.match(/VOIDED\s.*\s+\S+ call 2 of the attempt of .* ago/);
    const row = rows.nth(2);
    expect(await row.innerText()).to.match(/SETTLED\s+bob\s+11\.99 EUR\s+16\.00 EUR\s+–\s+\S+ attempt 3/);
    expect(await row.getByRole('link').first().getAttribute('href')).to.contain(`message/${messageId}`);
    await press(tab, 'Change the limit… calls');
    await dialog(tab).getByText('It is overdrawn by 4.00 EUR: 16.00 EUR covers that').waitFor();
    await tab.page.getByLabel('New limit in EUR').fill('16');
    await press(tab, 'Change the limit');
    await said(tab, 'The limit is 16.00 EUR, 0.00 EUR available: one operation.');
  });

  it('shows budgets below the one that pays for them, with windows, alerts and what was spent by label', async () => {
    const money = { currency: 'USD', scale: 2 };
    const fleet = { ...money, name: 'fleet', limitMinor: '10000', windowSeconds: 86_400, alertPercents: [50, 80] };
    const { id: parentBudgetId } = await world.mustPost('/budgets', fleet);
    const { id } = await world.mustPost('/budgets', { ...money, name: 'writers', limitMinor: '7000', parentBudgetId });
    const asked = { scopeId: randomUUID(), holder: 'ann', amountMinor: '6000' };
    const { id: reservationId } = await world.mustPost(`/budgets/${id}/reserve`, asked);
    for (const [label, amountMinor] of [
      ['draft', '100'],
      ['review', '2500'],
    ])
      await world.mustPost(`/budgets/${id}/settle`, { reservationId, amountMinor, label, workKey: label });
    const tab = await Tab.live(world, {}, '/money', world.apiKey);
    const parent = tab.page.locator('#budgets > ul > li').filter({ hasText: 'fleet' });
    await parent
      .locator('li')
      .getByText('26.00 USD settled, 34.00 USD reserved, 10.00 USD available')
      .first()
      .waitFor();
    const text = await parent.innerText();
    expect(text).to.contain('26.00 USD settled in all windows of 1 d').and.to.contain('alerts at 50 % (reached), 80 %');
    await parent.getByRole('link', { name: 'writers' }).click();
    await tab.page.getByRole('heading', { name: 'Budget writers' }).waitFor();
    const page = tab.page.locator('#budget');
    await page.getByText('Spent by label').waitFor();
    expect(await page.locator('dl').innerText()).to.match(/review\s+25\.00 USD\s+draft\s+1\.00 USD/);
    await page.getByRole('link', { name: 'fleet' }).click();
    await tab.page.getByRole('heading', { name: 'Budget fleet' }).waitFor();
  });

  it('on an allowance: its units and a cooldown', async () => {
    const { id } = await world.mustPost('/allowances', { name: 'calls', unitsLimit: 10, windowSeconds: 3600 });
    const tab = await Tab.live(world, {}, '/money', world.apiKey);
    await press(tab, 'Change the units… calls');
    await tab.page.getByLabel('Units in each window').fill('25');
    await press(tab, 'Change the units');
    await said(tab, '25 units in each window, 25 available, 0 waiting.');
    await press(tab, 'Close');
    await press(tab, 'Cool down… calls');
    await tab.page.getByLabel('Seconds').fill('4000');
    await press(tab, 'Cool down');
    await problem(tab, 'from 1 to 3,600');
    await tab.page.getByLabel('Seconds').fill('600');
    await tab.page.getByLabel('Reason, shown to all').fill('the provider is down');
    await press(tab, 'Cool down');
    await said(tab, 'It is cooling down until');
    const { body } = await world.get(`/allowances/${id}`);
    expect([body.unitsLimit, body.cooldownReason]).to.deep.equal([25, 'the provider is down']);
    await press(tab, 'Close');
    await tab.page.locator('#allowances').getByText('the provider is down').waitFor();
    const writing = await world.key(['coordination_read', 'coordination_write']);
    const other = await Tab.live(world, {}, '/money', writing);
    await other.page.locator('#allowances li').first().waitFor();
    expect(await other.page.locator('main button[data-act]').count()).to.equal(0);
  });

  it('shows who has used what of an allowance, as estimated and as settled, and what the provider said', async () => {
    const { id } = await world.mustPost('/allowances', {
      name: 'tokens a minute',
      unitsLimit: 10_000,
      windowSeconds: 3600,
    });
    const [one, other] = [randomUUID(), randomUUID()];
    const consume = async (scopeId: string, units: number): Promise<string> =>
      (await world.mustPost(`/allowances/${id}/consume`, { scopeId, holder: 'ann', units })).id;
    const settle = (consumptionId: string, units: number) =>
      world.mustPost(`/allowances/${id}/consumptions/${consumptionId}/settle`, { units });
    await settle(await consume(one, 3000), 1200);
    await consume(one, 500);
    await settle(await consume(other, 1000), 1500);
    const waiter = { scopeId: other, holder: 'eve', units: 4000 };
    await settle((await world.mustPost(`/allowances/${id}/wait`, waiter)).id, 2000);
    const another = await world.mustPost('/allowances', { name: 'another', unitsLimit: 9, windowSeconds: 60 });
    await world.mustPost(`/allowances/${another.id}/wait`, { ...waiter, units: 9 });
    await world.mustPost(`/allowances/${id}/observe`, { remainingUnits: 300 });
    const tab = await Tab.live(world, {}, '/money');
    await tab.page.locator('#allowances').getByRole('link', { name: 'tokens a minute' }).click();
    await tab.page.getByRole('heading', { name: 'Allowance tokens a minute' }).waitFor();
    const usage = tab.page.locator('#usage');
    await usage.getByText('The newest first').waitFor();
    const facts = await usage.locator('dl').first().innerText();
    expect(facts).to.match(/This window\s+4 times, 8,500 units: 4,700 of 8,000 estimated \(59 %\), 1 not settled/);
    expect(facts)
      .to.match(/Last 7 d\s+4 times, 8,500 units/)
      .and.match(/Provider\s+300 units left, \d+ s/);
    const [byRun, newest] = await usage.getByRole('table').allInnerTexts();
    expect(byRun).to.match(/2\s+5,000\s+3,500 of 5,000 estimated \(70 %\)/);
    expect(byRun).to.match(/2\s+3,500\s+1,200 of 3,000 estimated \(40 %\), 1 not settled/);
    expect(newest).to.match(/granted after a wait to eve\s+4,000\s+2,000/);
    expect(newest).to.match(/consumed\s+1,000\s+1,500.*consumed\s+500\s+not settled.*consumed\s+3,000\s+1,200/s);
    expect(await usage.locator('tbody a').first().getAttribute('href')).to.contain(`run/${other}`);
    await settle(await consume(one, 100), 100);
    await usage.getByText(/This window/).waitFor();
    await usage.locator('dl').getByText('5 times, 8,600 units: 4,800 of 8,100').first().waitFor();
  });

  it('counts what was used over a shorter time where more happens, and says so where even that is too much', async () => {
    const crowded = await World.create();
    const begun = Date.now();
    await crowded.at(begun);
    const { id } = await crowded.mustPost('/allowances', {
      name: 'busy',
      unitsLimit: 1_000_000,
      windowSeconds: 31_536_000,
    });
    const consume = { call: 'allowance.consume', allowanceId: id, scopeId: randomUUID(), holder: 'ann', units: 1 };
    const consumeMany = async (): Promise<void> => {
      for (let n = 0; n < 31; n++) {
        const calls = Array.from({ length: 100 }, () => ({ ...consume, idempotencyKey: randomUUID() }));
        const { results } = await crowded.mustPost('/batch', { calls });
        expect(results.every(({ status }: { status: number }) => status === 201)).to.equal(true);
      }
    };
    await consumeMany();
    await crowded.at(begun + 2 * 3_600_000);
    await crowded.mustPost(`/allowances/${id}/consume`, { scopeId: randomUUID(), holder: 'ann', units: 7 });
    const tab = await Tab.live(crowded, {}, `/allowance/${id}`);
    await tab.page.locator('#usage dl').getByText('1 time, 7 units').waitFor();
    const facts = await tab.page.locator('#usage dl').innerText();
    expect(facts).to.contain('Last 1 h').and.not.contain('This window');
    await consumeMany();
    const other = await Tab.live(crowded, {}, `/allowance/${id}`);
    await other.page.locator('#usage').getByText('not even the last hour can be read').waitFor();
  });

  it('shows who waits for an allowance, in order, cancels a wait, and says why nobody gets units', async () => {
    const { id } = await world.mustPost('/allowances', { name: 'slow', unitsLimit: 5, windowSeconds: 86_400 });
    const use = { scopeId: randomUUID(), ttlSeconds: 3600 };
    const { ttlSeconds: _, ...now } = use;
    await world.mustPost(`/allowances/${id}/consume`, { ...now, holder: 'ann', units: 5 });
    const waits = [];
    for (const holder of ['bob', 'eve', 'kim'])
      waits.push(await world.mustPost(`/allowances/${id}/wait`, { ...use, holder, units: 2 }));
    const tab = await Tab.live(world, {}, `/allowance/${id}`, world.apiKey);
    const rows = tab.page.locator('#waiters tbody tr');
    await rows.nth(2).waitFor();
    const texts = await rows.allInnerTexts();
    expect(texts[0])
      .to.match(/^1\s+bob\s+2\s/)
      .and.contain('the window is used up');
    expect(texts[1])
      .to.match(/^2\s+eve\s+2\s/)
      .and.contain('others are before it');
    await press(tab, 'Cancel… bob, position 1');
    await dialog(tab).getByText('It waits for 2 units of allowance slow, at position 1.').waitFor();
    await press(tab, 'Cancel the wait');
    await said(tab, 'It is cancelled: one operation.');
    expect((await world.get(`/allowance-waiters/${waits[0].id}`)).body.state).to.equal('CANCELLED');
    await press(tab, 'Close');
    await rows.nth(2).waitFor({ state: 'detached' });
    expect((await rows.allInnerTexts())[0]).to.match(/^1\s+eve/);
    const resetAt = new Date(Date.now() + 600_000).toISOString();
    await world.mustPost(`/allowances/${id}/observe`, { remainingUnits: 0, resetAt });
    await tab.page.locator('#allowance').getByText('the provider said that nothing is left').waitFor();
    await press(tab, 'Cool down… slow');
    await dialog(tab).getByText('2 waiters wait on').waitFor();
  });

  it('shows what was spent of a budget and of those below it over the last days, and when alerts were reached', async () => {
    const money = { currency: 'USD', scale: 2 };
    const root = { ...money, name: 'all agents', limitMinor: '10000', alertPercents: [50] };
    const { id: parentBudgetId } = await world.mustPost('/budgets', root);
    const { id } = await world.mustPost('/budgets', { ...money, name: 'agent 7', limitMinor: '9000', parentBudgetId });
    const asked = { scopeId: randomUUID(), holder: 'ann', amountMinor: '6000' };
    const { id: reservationId } = await world.mustPost(`/budgets/${id}/reserve`, asked);
    await world.mustPost(`/budgets/${id}/settle`, { reservationId, amountMinor: '1234', workKey: 'w1' });
    const tab = await Tab.live(world, {}, `/budget/${parentBudgetId}`);
    const spent = tab.page.locator('#spent');
    await spent.getByText('Settled 12.34 USD in 7 d').waitFor();
    const today = new Date().toISOString().slice(0, 10);
    expect(await spent.innerText()).to.match(new RegExp(`${today} UTC\\s+12\\.34 USD`));
    expect(await spent.innerText()).to.match(/Alerts\s+50 %\s+reached \d+ s/);
    await world.mustPost(`/budgets/${id}/settle`, { reservationId, amountMinor: '66', workKey: 'w2' });
    await spent.getByText('Settled 13.00 USD in 7 d').waitFor();
    await tab.go(`/budget/${id}`);
    await spent.getByText('Settled 13.00 USD in 7 d').waitFor();
    expect(await spent.innerText())
      .to.not.contain('below it')
      .and.not.contain('Alerts');
  });

  it('on a schedule: pauses it, sends now, and resumes it', async () => {
    const mailbox = await world.mustPost('/mailboxes', { name: 'reports' });
    const target = { mailboxId: mailbox.id, scopeId: randomUUID(), payload: 1 };
    const { id } = await world.mustPost('/schedules', { ...target, name: 'daily', everySeconds: 86_400 });
    const stateOf = async () => (await world.get(`/schedules/${id}`)).body.state;
    const tab = await Tab.live(world, {}, '/schedules', world.apiKey);
    await press(tab, 'Pause… daily');
    await press(tab, 'Pause the schedule');
    await said(tab, 'It is paused: one operation.');
    expect(await stateOf()).to.equal('PAUSED');
    await press(tab, 'Close');
    await press(tab, 'Send now… daily');
    await press(tab, 'Send it now');
    await said(tab, /^Sent message [0-9a-f-]{36}: one operation\.$/);
    expect((await world.get(`/mailboxes/${mailbox.id}`)).body.counts.ready).to.equal(1);
    await press(tab, 'Close');
    await press(tab, 'Resume… daily');
    await press(tab, 'Resume the schedule');
    await said(tab, 'It is active, next at');
    expect(await stateOf()).to.equal('ACTIVE');
  });

  it('on a delivery: shows every attempt, and delivers again, once', async () => {
    const sink = await Sink.start();
    const { id } = await world.mustPost('/destinations', { url: `${sink.url}/hook`, eventTypes: ['mailbox.created'] });
    await world.mustPost('/mailboxes', { name: 'watched' });
    await untilRows(world, 1);
    const tab = await Tab.live(world, {}, '/webhooks', world.apiKey);
    await tab.page.locator('#deliveries').getByText('SUCCEEDED').waitFor();
    await press(tab, 'Deliver again… mailbox.created');
    await press(tab, 'Deliver again');
    await said(tab, 'Delivered: 200. One operation.');
    expect(sink.received).to.have.lengthOf(2);
    await press(tab, 'Close');
    // Both attempts of one event.
    await tab.page.locator('#deliveries').getByText('attempt 2 manual: 200 in').waitFor();
    expect(await tab.page.locator('#deliveries tbody tr').count()).to.equal(1);
    await tab.page.locator('#deliveries').getByText('1 more').click();
    await tab.page.locator('#deliveries').getByText('attempt 1: 200 in').waitFor();
    await tab.page.getByRole('link', { name: 'Only these' }).click();
    await tab.page.getByText('Those of one destination.').waitFor();
    expect(tab.page.url()).to.include(id);
    await tab.go('/webhooks');
    await press(tab, `Disable… ${sink.url}/hook`);
    await press(tab, 'Disable it');
    await said(tab, 'It is disabled: one operation.');
    await press(tab, 'Close');
    await tab.go('');
    await tab.page.locator('#now').getByText('1 destination disabled', { exact: true }).waitFor();
    // The address decides here: a busy machine may move the tile while the link is pressed.
    const href = await tab.page.getByRole('link', { name: 'Webhooks pending' }).getAttribute('href');
    expect(href).to.equal(`#/space/${world.spaceId}/webhooks`);
    await tab.go('/webhooks');
    await press(tab, `Enable again… ${sink.url}/hook`);
    await dialog(tab).getByText('It was disabled:').waitFor();
    await press(tab, 'Enable it');
    await said(tab, 'It is active: one operation.');
    expect((await world.get(`/destinations/${id}`)).body.state).to.equal('ACTIVE');
    await press(tab, 'Close');
    sink.answer = (response) => {
      response.statusCode = 503;
      response.setHeader('Retry-After', '3600');
      response.end();
    };
    await world.mustPost('/mailboxes', { name: 'watched' });
    await untilRows(world, 3);
    await tab.page.locator('#destinations').getByText('1, oldest').waitFor();
    sink.answer = (response) => response.end();
    await press(tab, `Deliver now… ${sink.url}/hook`);
    await press(tab, 'Deliver now');
    await said(tab, '1 event on the way: one operation.');
    await untilRows(world, 4);
    expect((await world.get(`/destinations/${id}`)).body).to.include({ waiting: 0, consecutiveFailures: 0 });
    await sink.stop();
  });
});
