import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { browser, useBrowser } from '../support/browser.ts';
import { violationsOf } from '../support/chromium.ts';
import { World } from '../support/world.ts';
import { asked } from './answers.ts';

/** A phone. */
const viewport = { width: 390, height: 844 };

describe('the page of a question, on a phone', () => {
  useBrowser();
  let world: World;
  let context: BrowserContext;
  const problems: string[] = [];
  beforeEach(async () => {
    world = await World.create();
  });
  afterEach(async () => {
    await context.close();
    expect(problems.splice(0)).to.deep.equal([]);
  });

  async function open(url: string, more: object = {}): Promise<Page> {
    context = await (await browser()).newContext({ viewport, ...more });
    const page = await context.newPage();
    page.on('console', (message) => {
      // The browser names the status of a page that is gone.
      const isStatus = / status of 4\d\d /.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !isStatus) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(url);
    return page;
  }

  const fits = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

  it('fits, and has no finding of axe, light and dark, whatever it says', async () => {
    const long = { text: `Is this right? ${'W'.repeat(300)}`, n: 1 };
    const choice = await asked(world, {
      question: `Publish the report to ${'x'.repeat(120)}?`,
      options: ['Yes, publish', 'No', 'y'.repeat(200)],
    });
    const free = await asked(world, { question: long });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(choice.answerUrl, { colorScheme, bypassCSP: true });
      const pages: [string, () => Promise<unknown>][] = [
        ['options', async () => undefined],
        ['text', () => page.goto(free.answerUrl)],
        ['nowhere', () => page.goto(`${world.url}/answer/none`)],
      ];
      for (const [name, go] of pages) {
        await go();
        expect(await fits(page), `${name} in ${colorScheme}`).to.be.at.most(viewport.width);
        expect(await violationsOf(page, 'html'), `${name} in ${colorScheme}`).to.equal('[]');
      }
      await context.close();
    }
    const page = await open(choice.answerUrl, { bypassCSP: true });
    await page.getByLabel('Your name').fill('Ann');
    await page.getByRole('button', { name: 'Yes, publish' }).click();
    await page.getByText('Thank you!').waitFor();
    expect(await violationsOf(page, 'html'), 'answered').to.equal('[]');
    expect(await fits(page)).to.be.at.most(viewport.width);
    await page.goto(choice.answerUrl);
    expect(await violationsOf(page, 'html'), 'used').to.equal('[]');
  });

  it('is answered without script: a button is the answer, and Enter is none', async () => {
    const { answerUrl, id } = await asked(world, { options: ['yes', 'no'] });
    const page = await open(answerUrl, { javaScriptEnabled: false });
    await page.getByRole('button', { name: 'no' }).click();
    // The browser itself asks for the name.
    expect((await world.get(`/questions/${id}`)).body.state).to.equal('OPEN');
    await page.getByLabel('Your name').fill('Ann');
    await page.getByLabel('Your name').press('Enter');
    expect((await world.get(`/questions/${id}`)).body.state).to.equal('OPEN');
    await page.getByRole('button', { name: 'no' }).click();
    await page.getByText('Thank you!').waitFor();
    expect(page.url()).to.equal(answerUrl);
    expect((await world.get(`/questions/${id}`)).body).to.include({
      answer: 'no',
      answeredBy: 'Ann',
      answeredVia: 'PAGE',
    });
    await page.goto(answerUrl);
    expect(await page.textContent('h1')).to.equal('This question is answered');
  });

  it('takes a text of several lines, within its own policy', async () => {
    const { answerUrl, id } = await asked(world);
    const page = await open(answerUrl);
    await page.getByLabel('Your answer').fill('First line\nsecond line');
    await page.getByLabel('Your name').fill('Ann');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.getByText('Thank you!').waitFor();
    expect((await world.get(`/questions/${id}`)).body.answer).to.equal('First line\nsecond line');
    // The style is allowed by its digest.
    expect(await page.evaluate<string>('getComputedStyle(document.querySelector("main")).borderRadius')).to.equal(
      '14px',
    );
  });
});
