import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { type Seeded, seed } from './seed.ts';
import { Tab, useChromium } from './tab.ts';

/** What Tab must reach, in this order: everything visible that can be used. */
const usable = `[...document.querySelectorAll('a[href], button, input, select, summary, pre')]
  .filter((node) => node.checkVisibility()).map((node) => node.outerHTML)`;
/** The focused element, and whether it is visible as such. */
const focused = `(() => {
  const node = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  const { left, right, width } = node.getBoundingClientRect();
  const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && width > 0 && left >= 0 && right <= innerWidth;
  return { html: node.outerHTML, isSeen };
})()`;

describe('The console is usable', function () {
  this.timeout(60_000);
  useChromium();
  let world: World;
  let seeded: Seeded;
  before(async () => {
    world = await World.create();
    seeded = await seed(world);
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

  /** Each page, and what is on it once it is complete. */
  const places = (): string[][] => [
    ['', '#runs table', '#events li'],
    [`/run/${seeded.runId}`, '#run table', '#events li'],
    [`/mailbox/${seeded.mailboxId}?state=REJECTED`, '#mailbox dl', '#messages button', '#messages table'],
    [`/message/${seeded.messageId}`, '#message pre', '#message-events li'],
    ['/failed?state=REJECTED', '#failed table'],
    ['/runs', '#run-list table'],
    ['/mailboxes', '#mailbox-list table'],
    ['/schedules', '#schedules button'],
    ['/money', '#budgets button', '#allowances button'],
    ['/groups', '#groups table', '#barriers table'],
    ['/webhooks', '#deliveries p'],
  ];

  it('by Tab in the reading order of a page, with a visible focus and no trap', async () => {
    const tab = await Tab.live(world, {}, '', world.apiKey);
    for (const [place = '', ...parts] of places().filter((_, index) => index % 2 === 0)) {
      await tab.go(place);
      for (const part of parts) await tab.page.locator(part).first().waitFor({ state: 'attached' });
      await tab.page.getByRole('button', { name: 'Pause', exact: true }).press('Space');
      const wanted = await tab.evaluate<string[]>(usable);
      expect(wanted.length).to.be.above(10);
      await tab.page.locator('#skip').focus();
      for (const html of wanted) {
        expect(await tab.evaluate(focused)).to.deep.equal({ html, isSeen: true });
        await tab.page.keyboard.press('Tab');
      }
      // Tab leaves the last one.
      expect(await tab.evaluate('document.activeElement.outerHTML')).to.not.equal(wanted.at(-1));
      await tab.page.getByRole('button', { name: 'Pause', exact: true }).press('Space');
    }
  });

  it('with a screen reader: landmarks, one top heading, named tables, and a status that is announced once', async () => {
    const tab = await Tab.live(world);
    await tab.page.getByRole('table', { name: 'Mailboxes' }).waitFor();
    for (const role of ['banner', 'main', 'contentinfo', 'status', 'log'] as const)
      expect([role, await tab.page.getByRole(role).count()]).to.deep.equal([role, 1]);
    expect(await tab.page.getByRole('navigation', { name: 'Pages of the space' }).count()).to.equal(1);
    expect(await tab.page.getByRole('heading', { level: 1 }).count()).to.equal(1);
    expect(await tab.page.getByRole('rowheader', { name: /^jobs/ }).count()).to.be.above(0);
    expect(await tab.page.getByRole('log').getAttribute('aria-live')).to.equal('off');
  });

  it('without losing the focus while everything around it changes', async () => {
    const tab = await Tab.live(world);
    const link = tab.page.locator('#runs a').first();
    await link.focus();
    const href = await link.getAttribute('href');
    await world.made('/barriers', { scopeId: randomUUID(), target: 2 });
    await tab.page.locator('#runs tbody tr').nth(2).waitFor();
    expect(await tab.page.locator('#runs a').first().getAttribute('href')).to.not.equal(href);
    expect(await tab.evaluate('document.activeElement.getAttribute("href")')).to.equal(href);
  });

  it('on a phone: at 360 pixels nothing is cut off and nothing scrolls sideways', async () => {
    const tab = await Tab.open(world, { width: 360 });
    const wide = `[...document.querySelectorAll('body *')].filter((node) => node.checkVisibility() &&
      !node.closest('.unseen, thead, #skip') && node.getBoundingClientRect().right > 360.5).map((node) => node.outerHTML)`;
    const fits = async (): Promise<void> => {
      expect(await tab.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      expect(await tab.evaluate(wide)).to.deep.equal([]);
    };
    await fits();
    await tab.signIn(world.apiKey);
    await tab.status('Live.');
    for (const [place = '', ...parts] of places()) {
      await tab.go(place);
      for (const part of parts) await tab.page.locator(part).first().waitFor();
      await fits();
    }
  });

  for (const look of [{}, { colorScheme: 'dark', width: 360 }] as const) {
    const name = 'width' in look ? 'at 360 pixels in dark' : 'at 1,280 pixels in light';
    it(`without findings of an automatic accessibility audit, ${name}`, async () => {
      const tab = await Tab.open(world, look);
      const passes = async () => expect(await tab.violations()).to.equal('[]');
      await passes();
      await tab.signIn(world.apiKey);
      await tab.status('Live.');
      // Each page in one of the looks, and the overview in both: their parts are the same.
      const turn = 'width' in look ? 1 : 0;
      const seen = places().filter((_, index) => index === 0 || index % 2 === turn);
      for (const [place = '', ...parts] of seen) {
        await tab.go(place);
        for (const part of parts) await tab.page.locator(part).first().waitFor();
        await passes();
      }
      await tab.go(`/message/${seeded.messageId}`);
      await tab.page.getByRole('button', { name: 'Requeue…' }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name: 'Requeue the message' }).waitFor();
      await passes();
    });
  }

  it("in light and dark: it follows the system's colour scheme", async () => {
    const lightness = `(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g);
      return (Number(r) + Number(g) + Number(b)) / 3; })()`;
    expect(await (await Tab.open(world, { colorScheme: 'light' })).evaluate(lightness)).to.be.above(200);
    expect(await (await Tab.open(world, { colorScheme: 'dark' })).evaluate(lightness)).to.be.below(60);
  });
});
