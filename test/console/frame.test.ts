import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('The frame of the console', () => {
  useTabs();
  let world: World;
  before(async () => {
    world = await World.create();
    const scopeId = randomUUID();
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'alone' });
    const { id: other } = await world.mustPost('/mailboxes', { name: 'other' });
    for (const id of [mailboxId, other]) await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
    await world.mustPost('/questions', { scopeId, holder: 'ann', question: 'Now?' });
  });

  const link = (tab: Tab, name: string | RegExp) =>
    tab.page.getByRole('navigation', { name: 'Pages of the space' }).getByRole('link', { name });

  it('counts on every page what needs somebody, and folds its navigation away on a phone', async () => {
    const tab = await Tab.live(world, {}, '/schedules');
    await link(tab, 'Mailboxes 2').waitFor();
    await link(tab, 'Questions 1').waitFor();
    expect(await link(tab, /\d/).count()).to.equal(2);
    const phone = await Tab.live(world, { width: 390 });
    expect(await link(phone, 'Mailboxes').isVisible()).to.equal(false);
    await phone.page.getByRole('button', { name: 'Pages' }).click();
    await link(phone, 'Mailboxes').click();
    await phone.page.getByRole('heading', { name: 'Mailboxes', level: 1 }).waitFor();
    expect(await link(phone, 'Mailboxes').isVisible()).to.equal(false);
  });

  it('searches, goes from row to row, back and refreshes by single keys, unless they are switched off', async () => {
    const tab = await Tab.live(world, {}, '/mailboxes');
    const { keyboard } = tab.page;
    const focused = () => tab.evaluate<string>('document.activeElement.textContent');
    await tab.page.locator('#mailbox-list a', { hasText: 'alone' }).waitFor();
    await keyboard.press('j');
    expect(await focused()).to.equal('alone');
    await keyboard.press('j');
    expect(await focused()).to.equal('other');
    await keyboard.press('k');
    await keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Mailbox alone' }).waitFor();
    const reads = () => tab.requests.filter((request) => request.url().endsWith('/ops/receivers?limit=200')).length;
    await keyboard.press('b');
    await tab.page.getByRole('heading', { name: 'Mailboxes', level: 1 }).waitFor();
    const before = reads();
    await keyboard.press('r');
    for (let n = 0; n < 50 && reads() === before; n++) await tab.page.waitForTimeout(100);
    expect(reads()).to.be.above(before);
    await keyboard.press('/');
    expect(await tab.evaluate('document.activeElement.id')).to.equal('find-text');
    await keyboard.type('b/r');
    expect(await tab.page.locator('#find-text').inputValue()).to.equal('b/r');
    await tab.page.locator('#settings summary').click();
    await tab.page.getByLabel('Single keys').uncheck();
    await tab.page.locator('#settings summary').focus();
    await keyboard.press('/');
    expect(await tab.evaluate('document.activeElement.id')).to.not.equal('find-text');
    await tab.evaluate('localStorage.clear()');
  });

  it('is light or dark by choice, which it remembers', async () => {
    const tab = await Tab.live(world);
    const ground = () => tab.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await tab.page.locator('#settings summary').click();
    await tab.page.getByLabel('Colours').selectOption('dark');
    const dark = await ground();
    expect(dark).to.not.equal(light);
    await tab.page.reload();
    await tab.status('Live.');
    expect(await ground()).to.equal(dark);
    await tab.evaluate('localStorage.clear()');
  });

  it('switches between organizations whose keys were used in the tab, and forgets all when signing out', async () => {
    const second = await World.create();
    const tab = await Tab.live(world, {}, '', world.apiKey);
    await tab.page.locator('#switch summary').click();
    await tab.page.getByRole('button', { name: 'Another organization…' }).click();
    await tab.signIn(second.apiKey);
    await tab.page.waitForURL(`**/console#/space/${second.spaceId}`);
    await tab.page.locator('#switch summary').click();
    await tab.page.getByRole('button', { name: world.org }).click();
    await tab.page.waitForURL(`**/console#/space/${world.spaceId}`);
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    expect(await tab.evaluate('sessionStorage.length')).to.equal(0);
  });
});
