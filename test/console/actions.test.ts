import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console acts', () => {
  useTabs();
  let world: World;
  let mailboxId: string;
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
  });

  const send = async (more: object = {}): Promise<string> =>
    (await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: { n: 1 }, ...more })).id;
  const stateOf = async (id: string): Promise<string> => (await world.get(`/messages/${id}`)).body.state;
  const dialog = (tab: Tab) => tab.page.getByRole('dialog');
  const press = (tab: Tab, name: string) => tab.page.getByRole('button', { name, exact: true }).click();
  const said = (tab: Tab, text: string | RegExp) => dialog(tab).getByRole('status').filter({ hasText: text }).waitFor();

  it('on one message: it asks once, says what it did and what it costs, and does nothing when left', async () => {
    const id = await send({ payload: { big: 1 }, workKey: 'k1' });
    const { body } = await world.get('/usage');
    const operations = (): Promise<number> => world.get('/usage').then((reply) => reply.body.days.at(-1).operations);
    const before = body.days.at(-1).operations;
    const tab = await Tab.live(world, {}, `/message/${id}`, world.apiKey);
    await press(tab, 'Cancel…');
    await dialog(tab).getByText('It counts as one operation.').waitFor();
    expect(await tab.evaluate('document.activeElement.textContent')).to.equal('Leave it');
    await tab.page.keyboard.press('Escape');
    await dialog(tab).waitFor({ state: 'hidden' });
    expect([await stateOf(id), await operations()]).to.deep.equal(['READY', before]);
    await press(tab, 'Cancel…');
    await dialog(tab).waitFor();
    // A question is about what is shown.
    await tab.go('/runs');
    await dialog(tab).waitFor({ state: 'hidden' });
    await tab.page.goBack();
    await press(tab, 'Cancel…');
    await press(tab, 'Cancel the message');
    await said(tab, 'It is cancelled (cancelled by caller): one operation.');
    expect([await stateOf(id), await operations()]).to.deep.equal(['CANCELLED', before + 1]);
    await press(tab, 'Close');
    await tab.page.locator('#message').getByText('CANCELLED', { exact: true }).waitFor();
    await press(tab, 'Requeue…');
    await press(tab, 'Requeue the message');
    await said(tab, 'It is ready: one operation.');
    expect(await stateOf(id)).to.equal('READY');
    await press(tab, 'Close');
    await tab.page.locator('#message-events').getByText('message.requeued').waitFor();
  });

  it('takes a claim away, on the page of the message and in the list of workers', async () => {
    const queue = (await world.mustPost('/mailboxes', { name: 'held' })).id;
    const scopeId = randomUUID();
    for (const payload of [1, 2]) await world.mustPost(`/mailboxes/${queue}/messages`, { scopeId, payload });
    const receive = { scopeId, holder: 'stuck', holderSession: 's', leaseSeconds: 600 };
    const [first, second] = [
      await world.mustPost(`/mailboxes/${queue}/recv`, receive),
      await world.mustPost(`/mailboxes/${queue}/recv`, receive),
    ];
    const tab = await Tab.live(world, {}, `/message/${first.id}`, world.apiKey);
    await press(tab, 'Take the claim away…');
    await dialog(tab).getByText('stuck holds message').waitFor();
    await press(tab, 'Take the claim away');
    await said(tab, 'It is ready: one operation.');
    await press(tab, 'Close');
    await tab.page.locator('#message').getByText('the claim was released by an operator').waitFor();
    await tab.go('/workers');
    await press(tab, `Take the claim away… ${second.id}`);
    await press(tab, 'Take the claim away');
    await said(tab, 'It is ready: one operation.');
    expect([await stateOf(first.id), await stateOf(second.id)]).to.deep.equal(['READY', 'READY']);
    for (const id of [first.id, second.id]) await world.mustPost(`/messages/${id}/cancel`);
  });

  it('says who loses a claim, and why a call is refused', async () => {
    const tab = await Tab.live(world, { expected: /status of 409/ }, '', world.apiKey);
    const id = await send();
    const other = randomUUID();
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: other, payload: 2 });
    const claimed = await world.mustPost(`/mailboxes/${mailboxId}/recv`, {
      scopeId: other,
      holder: 'ann',
      holderSession: 's',
    });
    await tab.go(`/message/${claimed.id}`);
    await press(tab, 'Cancel…');
    await dialog(tab).getByText('ann holds it: the claim is lost').waitFor();
    await world.mustPost(`/messages/${claimed.id}/complete`, { token: claimed.token });
    await press(tab, 'Cancel the message');
    await dialog(tab).getByRole('alert').filter({ hasText: 'the message is ACKED: only one' }).waitFor();
    expect(await tab.page.getByRole('button', { name: 'Cancel the message' }).isEnabled()).to.equal(true);
    await press(tab, 'Leave it');
    await world.mustPost(`/messages/${id}/cancel`);
  });

  it('shows a payload, a result, progress and the last error as they are', async () => {
    const run = randomUUID();
    const id = (
      await world.send(
        'POST',
        `/v1/spaces/${world.spaceId}/mailboxes/${mailboxId}/messages`,
        `{"scopeId":"${run}","payload":{"n":12345678901234567890.10,"<b>":[]},"workKey":"exact"}`,
        { Authorization: `Bearer ${world.apiKey}`, 'Idempotency-Key': run, 'Content-Type': 'application/json' },
      )
    ).body.id;
    const claim = async () =>
      world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId: run, holder: 'ann', holderSession: 's' });
    const { token } = await claim();
    await world.mustPost(`/messages/${id}/renew`, { token, progress: { step: 3 } });
    await world.mustPost(`/messages/${id}/nack`, { token, retry: true, error: 'the model is busy' });
    const tab = await Tab.live(world, {}, `/mailbox/${mailboxId}`);
    await tab.page.getByLabel('Work key').fill('exact');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    await tab.page.locator('#messages').getByText('the model is busy').waitFor();
    await tab.page.locator('#messages tbody a').first().click();
    const part = (name: string) => tab.page.getByRole('group', { name, exact: true });
    await part('Payload').waitFor();
    expect(await part('Payload').innerText()).to.equal('{\n  "n": 12345678901234567890.10,\n  "<b>": []\n}');
    expect(await part('Progress').innerText()).to.equal('{\n  "step": 3\n}');
    await tab.page.locator('#message').getByText('the model is busy').waitFor();
    const again = await claim();
    await tab.page
      .locator('#message')
      .getByText(/^ann since .*, lease ends in/)
      .waitFor();
    await world.mustPost(`/messages/${id}/complete`, { token: again.token, result: { payload: { done: true } } });
    await part('Result').waitFor();
    expect(await part('Result').innerText()).to.equal('{\n  "done": true\n}');
    const types = async () => tab.page.locator('#message-events b').allInnerTexts();
    await tab.page.locator('#message-events').getByText('message.acked').waitFor();
    expect(await types()).to.deep.equal([
      'message.sent',
      'message.claimed',
      'message.retried',
      'message.claimed',
      'message.acked',
    ]);
  });

  it('on a mailbox: purges what waits, and requeues exactly what is on the page', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'full' });
    const fill = async (payload: number): Promise<string> =>
      (await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload })).id;
    const old = [];
    for (let n = 0; n < 3; n++) old.push(await fill(n));
    const tab = await Tab.live(world, {}, `/mailbox/${id}`, world.apiKey);
    await press(tab, 'Purge what waits…');
    await dialog(tab).getByText('3 ready, 0 delayed and 0 blocked').waitFor();
    await press(tab, 'Purge');
    await said(tab, 'Started: one operation.');
    const late = await fill(9);
    await world.service.due.drain(world.org, '*');
    expect(await stateOf(late)).to.equal('READY');
    await press(tab, 'Close');
    await tab.page.getByRole('link', { name: 'cancelled', exact: true }).click();
    await press(tab, 'Requeue these 3…');
    await world.mustPost(`/messages/${late}/cancel`);
    await press(tab, 'Requeue 3 messages');
    await said(tab, 'Requeued 3 messages: 3 operations.');
    expect(await Promise.all([...old, late].map(stateOf))).to.deep.equal(['READY', 'READY', 'READY', 'CANCELLED']);
    await press(tab, 'Close');
    await press(tab, 'Remove finished…');
    await tab.page.getByLabel('At most, the oldest first').fill('0');
    await press(tab, 'Remove');
    await dialog(tab).getByRole('alert').filter({ hasText: 'Enter a number' }).waitFor();
    await tab.page.getByLabel('At most, the oldest first').fill('5');
    await press(tab, 'Remove');
    await said(tab, 'Removed 1 message: 1 operation.');
    expect((await world.get(`/messages/${late}`)).status).to.equal(404);
  });

  it('on a mailbox: shows bulk work that goes on when the tab is closed, what it passed over, and cancels it', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'stopped' });
    const run = randomUUID();
    const calls = [run, run, scopeId].map((scope) => ({
      call: 'message.send',
      mailboxId: id,
      scopeId: scope,
      payload: 1,
    }));
    await world.mustPost('/batch', { calls });
    const group = await world.mustPost('/task-groups', { mailboxId: id, condition: 'ALL_TERMINAL' });
    await world.mustPost(`/task-groups/${group.groupId}/tasks`, { taskKey: 'a' });
    await world.mustPost(`/mailboxes/${id}/purge`, {});
    await world.mustPost(`/task-groups/${group.groupId}/seal`);
    await world.mustPost(`/scopes/${run}/cancel`);
    const first = await Tab.live(world, {}, `/mailbox/${id}?state=CANCELLED`, world.apiKey);
    await press(first, 'Requeue all cancelled…');
    await press(first, 'Requeue');
    await said(first, 'Started: one operation. Workers go on with it, whether this page is open or not');
    await first.page.close();
    const tab = await Tab.live(world, {}, `/mailbox/${id}`, world.apiKey);
    const row = tab.page.locator('#bulk tbody tr').filter({ hasText: 'Requeue of cancelled messages' });
    await row.getByText('RUNNING', { exact: true }).waitFor();
    await row.getByText('0 so far').waitFor();
    await world.service.due.drain(world.org, '*');
    await row.getByText('DONE', { exact: true }).waitFor();
    await row.getByText('1 message of a decided group, 2 messages of a cancelled run').waitFor();
    await press(tab, 'Purge what waits…');
    await press(tab, 'Purge');
    await said(tab, 'Started');
    await press(tab, 'Close');
    await press(tab, 'Cancel… Purge of waiting messages');
    await press(tab, 'Cancel the work');
    await said(tab, 'It is cancelled, with 0 messages done.');
    await world.service.due.drain(world.org, '*');
    expect((await world.get(`/mailboxes/${id}`)).body.counts.ready).to.equal(1);
  });

  it('on a run: requeues all that failed in it, and purges what waits, in all mailboxes', async () => {
    const run = randomUUID();
    for (const name of ['one', 'other']) {
      const { id } = await world.mustPost('/mailboxes', { name, maxAttempts: 1 });
      await world.mustPost(`/mailboxes/${id}/messages`, { scopeId: run, payload: 1 });
      const { id: failed, token } = await world.mustPost(`/mailboxes/${id}/recv`, {
        ...{ scopeId: run, holder: 'h', holderSession: 's' },
      });
      await world.mustPost(`/messages/${failed}/nack`, { token, retry: true });
    }
    const tab = await Tab.live(world, {}, `/run/${run}`, world.apiKey);
    const work = (action: string) => tab.page.locator('#run tbody tr').filter({ hasText: action });
    await press(tab, 'Requeue all failed…');
    await press(tab, 'Requeue');
    await said(tab, 'Started');
    await press(tab, 'Close');
    await world.service.due.drain(world.org, '*');
    await work('Requeue of failed messages').getByText('DONE', { exact: true }).waitFor();
    await press(tab, 'Purge what waits…');
    await dialog(tab).getByText('2 live messages').waitFor();
    await press(tab, 'Purge');
    await said(tab, 'Started');
    await press(tab, 'Close');
    await world.service.due.drain(world.org, '*');
    await work('Purge of waiting messages').getByText('DONE', { exact: true }).waitFor();
    expect((await world.get(`/scopes/${run}`)).body.ended.cancelled).to.equal(2);
  });

  it('on failed messages: requeues those that failed alike, and leaves the poisoned ones', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'poisoned', maxAttempts: 1 });
    // More mailboxes without failed work than one page has, which are newer.
    await Promise.all(Array.from({ length: 51 }, (_, n) => world.mustPost('/mailboxes', { name: `fine ${n}` })));
    const errors = [
      ...['timeout after 31 ms of 01a2fc43-3c71-7002-984a-e30e334b7ba9', 'timeout after 42.5 ms of 0x1f'],
      ...['no chapter in this book', 'timeout after 1,200 ms of 9c550c1f6b2d'],
    ];
    const ids: string[] = [];
    for (const error of errors) {
      ids.push((await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 })).id);
      const { token } = await world.mustPost(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });
      await world.mustPost(`/messages/${ids.at(-1)}/nack`, { token, retry: true, error });
    }
    const tab = await Tab.live(world, {}, '', world.apiKey);
    await tab.page.getByRole('link', { name: 'Failed work' }).last().click();
    const failed = tab.page.getByRole('region', { name: 'poisoned' });
    const alike = failed.locator('.errors > li');
    await alike.nth(1).waitFor();
    expect(await alike.first().innerText()).to.match(/^3 × timeout after … ms of …, newest \d+ s ago/);
    expect(await alike.nth(1).innerText()).to.match(/^1 × no chapter in this book/);
    await alike.first().getByText('One by one, the newest first').click();
    const one = alike.first().locator('li').first();
    expect(await one.innerText()).to.contain('timeout after 1,200 ms of 9c550c1f6b2d');
    await press(tab, `Requeue… ${ids[3]}`);
    await press(tab, 'Requeue the message');
    await said(tab, 'It is ready: one operation.');
    await press(tab, 'Close');
    await press(tab, 'Requeue 2… timeout after … ms of …');
    await dialog(tab).getByText('Those with the last error “timeout after … ms of …” that are on this page').waitFor();
    await press(tab, 'Requeue 2 messages');
    await said(tab, 'Requeued 2 messages: 2 operations.');
    expect(await Promise.all(ids.map(stateOf))).to.deep.equal(['READY', 'READY', 'FAILED', 'READY']);
    await press(tab, 'Close');
    await failed.getByRole('link', { name: 'All 1 failed of poisoned' }).click();
    await tab.page.locator('#messages').getByText('no chapter in this book').waitFor();
    // Those of all attempts, also of messages that have been requeued.
    const frequent = tab.page.locator('#errors tbody tr');
    expect(await frequent.first().innerText()).to.match(/timeout after … ms of …\s+3\s/);
    const reading = await Tab.live(world, {}, '/failed');
    await reading.page.locator('.errors > li').first().waitFor();
    expect(await reading.page.locator('main button[data-act]').count()).to.equal(0);
  });

  it('on a run: stops it and all below it, and says what it ended', async () => {
    const run = (await world.mustPost('/scopes', { name: 'nightly' })).id;
    const message = (await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: run, payload: 1 })).id;
    const tab = await Tab.live(world, {}, `/run/${run}`, world.apiKey);
    await press(tab, 'Stop this run…');
    await dialog(tab).getByText('Stop run nightly?').waitFor();
    await dialog(tab)
      .getByText(/1 live message, 0 waiters/)
      .waitFor();
    await dialog(tab).getByText('for every 250 records, here about 1 operation').waitFor();
    await press(tab, 'Stop the run');
    await said(tab, 'Stopped. Cancelled: 1 message.');
    expect(await stateOf(message)).to.equal('CANCELLED');
    await press(tab, 'Close');
    await tab.page.getByRole('button', { name: 'Stop this run…' }).waitFor({ state: 'detached' });
  });
});
