import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Asking } from '../spec/question/questions.ts';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console, on questions', () => {
  useTabs();
  let world: World;
  let work: Asking;
  beforeEach(async () => {
    world = await World.create();
    work = await Asking.create(world, { name: 'weekly reports' });
  });

  const dialog = (tab: Tab) => tab.page.getByRole('dialog');

  it('counts the open ones on the overview, lists them oldest first, and answers with one click', async () => {
    const first = await work.asked({ question: 'Publish <b>it</b>?', options: ['yes', 'no'] });
    await world.mustPost('/questions', { scopeId: work.scopeId, question: { amount: 12 }, holder: 'planner' });
    const tab = await Tab.live(world, {}, '', world.apiKey);
    const tile = tab.page.locator('#now').locator('div', { hasText: 'Open questions' });
    await tile.getByText('2', { exact: true }).waitFor();
    await tab.page.getByRole('link', { name: 'Open questions' }).click();
    const items = tab.page.locator('#questions li');
    await items.nth(1).waitFor();
    expect(await items.first().innerText())
      .to.include('Publish <b>it</b>?')
      .and.to.include('worker-1');
    await items.first().getByRole('link', { name: 'weekly reports' }).waitFor();
    expect(await items.nth(1).innerText())
      .to.include('"amount": 12')
      .and.to.include('planner');

    await items.first().getByRole('button', { name: 'yes' }).click();
    await tab.status('Say who answers');
    expect(await tab.evaluate('document.activeElement.id')).to.equal('answered-by');
    await tab.page.keyboard.type('Ann');
    await items.first().getByRole('button', { name: 'yes' }).click();
    await tab.page.getByText('Publish <b>it</b>?').waitFor({ state: 'detached' });
    expect(await work.question(first.question.id)).to.include({ answer: 'yes', answeredBy: 'Ann', answeredVia: 'API' });

    await tab.page.getByRole('button', { name: /^Answer…/ }).click();
    await dialog(tab).getByLabel('Answer', { exact: true }).fill('thirteen');
    await dialog(tab).getByRole('button', { name: 'Answer', exact: true }).click();
    await dialog(tab).getByRole('status').filter({ hasText: 'Answered: thirteen. One operation.' }).waitFor();
    await dialog(tab).getByRole('button', { name: 'Close' }).click();
    await tab.page.getByText('Nobody waits for an answer.').waitFor();
    await tab.go(`/message/${first.id}`);
    await tab.page.locator('#message').getByText('ANSWERED', { exact: true }).waitFor();
  });

  it('shows all digits of numbers: in a question, in its answer, and on the page of the message', async () => {
    const [number, other] = ['9007199254740993', '1e400'];
    const post = (path: string, body: string) =>
      world.send('POST', `/v1/spaces/${world.spaceId}${path}`, body, {
        Authorization: `Bearer ${world.apiKey}`,
        'Idempotency-Key': randomUUID(),
        'Content-Type': 'application/json',
      });
    const { mailboxId, scopeId } = work;
    const { id } = await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
    const claim = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    const asked = `{"token":"${claim.token}","question":${number},"progress":[${other}]}`;
    const { question } = (await post(`/messages/${id}/ask`, asked)).body;
    const tab = await Tab.live(world, {}, '/questions', world.apiKey);
    await tab.page.locator('#questions li').getByText(number, { exact: true }).waitFor();
    await tab.go(`/question/${question.id}`);
    await tab.page.locator('#object').getByText(number, { exact: true }).waitFor();
    await post(`/questions/${question.id}/answer`, `{"answer":[${other}],"answeredBy":"ann"}`);
    await tab.go(`/message/${id}`);
    await tab.page.locator('#message').getByText(number, { exact: true }).waitFor();
    await tab.page.locator('#message').getByText(`[${other}]`, { exact: true }).waitFor();
    await tab.page.locator('#attempts').getByText(other).waitFor();
  });

  it('shows what a message waits for, says who was faster, and lets nobody answer who may not', async () => {
    const { id, question } = await work.asked({ question: 'Ship?', options: ['yes'] });
    const tab = await Tab.live(world, { expected: /status of 409/ }, `/message/${id}`, world.apiKey);
    await tab.page.locator('#message').getByText('an answer').waitFor();
    await tab.go('/questions');
    await tab.page.getByLabel('Your name').fill('Bob');
    const yes = tab.page.getByRole('button', { name: 'yes' });
    await yes.waitFor();
    // The page hears of the answer; the click may come before or after that.
    await Promise.all([yes.click({ noWaitAfter: true }), work.answer(question.id, 'yes', 'ann')]);
    await tab.page.getByText('Nobody waits for an answer.').waitFor();
    const reader = await Tab.live(world, {}, '/questions');
    await world.mustPost('/questions', { scopeId: randomUUID(), question: 'And this?', options: ['yes'] });
    await reader.page.getByText('And this?').waitFor();
    expect(await reader.page.locator('#questions button').count()).to.equal(0);
    expect(await reader.page.getByLabel('Your name').count()).to.equal(0);
  });

  it('fits on a phone, light and dark, and has no finding of axe', async () => {
    await work.asked({ question: `Publish ${'x'.repeat(200)}?`, options: ['yes', 'n'.repeat(200)] });
    await world.mustPost('/questions', { scopeId: work.scopeId, question: { text: 'y'.repeat(300) } });
    for (const colorScheme of ['light', 'dark'] as const) {
      const tab = await Tab.live(world, { width: 390, colorScheme }, '/questions', world.apiKey);
      await tab.page.locator('#questions li').nth(1).waitFor();
      expect(await tab.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390);
      expect(await tab.violations('html')).to.equal('[]');
    }
  });
});
