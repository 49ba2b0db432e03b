import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { seed } from './seed.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console is usable', () => {
  useTabs();
  let world: World;
  before(async () => {
    world = await World.create();
    await seed(world);
  });

  it('with the keyboard alone: signing in, a run, and back', async () => {
    const tab = await Tab.open(world);
    const { keyboard } = tab.page;
    await keyboard.press('Tab');
    expect(await tab.evaluate('document.activeElement.id')).to.equal('skip');
    await keyboard.press('Enter');
    expect(await tab.evaluate('document.activeElement.id')).to.equal('content');
    await keyboard.press('Tab');
    await keyboard.type(await world.key(['coordination_read']));
    await keyboard.press('Enter');
    await tab.status('Live.');
    expect(await tab.evaluate('document.activeElement.id')).to.equal('page-title');
    const link = tab.page.locator('#runs a').first();
    await link.waitFor();
    const isThere = () => tab.evaluate('document.querySelector("#runs a") === document.activeElement');
    for (let i = 0; i < 40 && !(await isThere()); i++) await keyboard.press('Tab');
    expect(await isThere()).to.equal(true);
    await keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Messages of this run' }).waitFor();
    expect(await tab.evaluate('document.activeElement.id')).to.equal('page-title');
    await tab.page.getByRole('link', { name: 'Overview' }).focus();
    await keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Queues' }).waitFor();
  });

  it('a screen reader finds landmarks, one top heading, named tables and a status announced once', async () => {
    const tab = await Tab.live(world);
    await tab.page.getByRole('table', { name: 'Mailboxes' }).waitFor();
    for (const role of ['banner', 'main', 'contentinfo', 'status', 'log'] as const)
      expect([role, await tab.page.getByRole(role).count()]).to.deep.equal([role, 1]);
    expect(await tab.page.getByRole('navigation', { name: 'Pages of the space' }).count()).to.equal(1);
    expect(await tab.page.getByRole('heading', { level: 1 }).count()).to.equal(1);
    expect(await tab.page.getByRole('rowheader', { name: /^jobs/ }).count()).to.be.above(0);
    expect(await tab.page.getByRole('log').getAttribute('aria-live')).to.equal('off');

    // While everything around it changes.
    const link = tab.page.locator('#runs a').first();
    await link.focus();
    const href = await link.getAttribute('href');
    await world.mustPost('/barriers', { scopeId: randomUUID(), target: 2 });
    await tab.page.locator('#runs tbody tr').nth(2).waitFor();
    expect(await tab.page.locator('#runs a').first().getAttribute('href')).to.not.equal(href);
    expect(await tab.evaluate('document.activeElement.getAttribute("href")')).to.equal(href);
  });
});
