import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { hostile, type Seeded, seed } from './seed.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console of a space', () => {
  useTabs();
  let world: World;
  let seeded: Seeded;
  before(async () => {
    world = await World.create();
    seeded = await seed(world);
  });

  const short = (id: string): string => `${id.slice(0, 8)}…${id.slice(-6)}`;
  const section = (tab: Tab, name: string) => tab.page.getByRole('region', { name, exact: true });

  it('shows everything to a key that may only read, and names as text, whatever callers chose', async () => {
    const tab = await Tab.live(world);
    const says = async (name: string, ...texts: (string | RegExp)[]): Promise<void> => {
      for (const text of texts) await section(tab, name).getByText(text).first().waitFor();
    };
    await says('Now', /^Ready messages3 ?oldest \d+ s$/, 'Claimed messages', 'Waiters', /^Failed work1 ?1 rejected$/);
    await says(
      'Who waits for what',
      'agent-1',
      /^9 units of allowance calls </,
      /position 1: the allowance is in cooldown/,
    );
    await says('Who waits for what', /position 2: others are before it/, /^a worker at mailbox jobs </);
    await says('Runs', short(seeded.runId), '4 messages, 2 waiters', short(seeded.gateId), '2 messages');
    await says('Queues', 'INBOX', '4 of 10', `jobs ${hostile}`);
    await section(tab, 'Now').getByText('Everything that is kept, by state').click();
    await says('Now', '3 pending', '1 running', '1 failed');
    await says('Live journal', 'schedule.created', 'note.put');
    await tab.go('/workers');
    await says('What each holds', `agent ${hostile}`, /^message .* of jobs <.*, attempt 1, run /);
    await says('Mailboxes with work', `jobs ${hostile}`);
    await tab.go('/money');
    await says('Budgets', /^2,500,000,000,000,000\.00 EUR settled, 3,500,000,000,000,000\.00 EUR reserved, 3,999,/);
    await says('Budgets', `llm spend ${hostile}`);
    await says('Allowances', /7 of 10 units used in 1 h/, '2 waiting', /^COOLDOWN ends in .+: </, `calls ${hostile}`);
    const bar = section(tab, 'Budgets').getByRole('img', { name: /^2,500,000/ });
    expect(await bar.locator('rect').count()).to.equal(2);
    await tab.go('/groups');
    await says('Task groups', 'n accepted (2)', /^2 members: 2 pending, 0 running/);
    await says('Barriers', 'OPEN', '1 of 3');
    await tab.go('/schedules');
    await says('All schedules', '0 9 * * 1-5 (Europe/Berlin)');
    await tab.go('/failed');
    // The first state that there is anything of.
    await tab.page.getByRole('link', { name: 'rejected 1' }).and(tab.page.locator('[aria-current=page]')).waitFor();
    await tab.page.locator('#failed .errors li').first().waitFor();
    await tab.go('/journal');
    await says('Live journal', 'barrier.arrived', 'mailbox.created');
    await tab.go(`/mailbox/${seeded.mailboxId}`);
    await tab.page.getByRole('heading', { name: `Mailbox jobs ${hostile}` }).waitFor();
    await tab.go(`/run/${seeded.runId}`);
    await section(tab, 'Waiters of this run').getByText(hostile, { exact: true }).waitFor();
    expect(await tab.evaluate('[window.broken, document.images.length, document.scripts.length]')).to.deep.equal([
      undefined,
      0,
      1,
    ]);
  });

  it('stays as it is while a button of the mouse is down, so that no click is lost', async () => {
    const busy = await World.create();
    const { id } = await busy.mustPost('/mailboxes', { name: 'jobs' });
    const scopeId = (await busy.mustPost('/scopes', {})).id;
    const tab = await Tab.live(busy);
    const ready = (count: number) => section(tab, 'Now').getByText(new RegExp(`^Ready messages${count}`));
    await ready(0).waitFor();
    await tab.page.getByRole('link', { name: 'Webhooks pending' }).hover();
    await tab.page.mouse.down();
    const read = tab.page.waitForResponse((response) => response.url().endsWith('/backlog'));
    await busy.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
    await (await read).finished();
    await tab.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await ready(0).count()).to.equal(1);
    await tab.page.mouse.move(0, 0);
    await tab.page.mouse.up();
    await ready(1).waitFor();
    // Another button presses nothing.
    await tab.page.mouse.down({ button: 'right' });
    await busy.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
    await ready(2).waitFor();
  });

  it('shows why each message waits, and counts requeues and cancels', async () => {
    const waiting = await World.create();
    const { id } = await waiting.mustPost('/mailboxes', { name: 'slow', retryDelaySeconds: 3600 });
    const scopeId = (await waiting.mustPost('/scopes', { name: 'nightly run' })).id;
    const send = (more: object = {}) => waiting.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1, ...more });
    const failing = await send();
    const { token } = await waiting.mustPost(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    await waiting.mustPost(`/messages/${failing.id}/nack`, { token, retry: true, error: 'the model is busy' });
    await send({ delaySeconds: 86_400 });
    for (let n = 0; n < 3; n++) await send();
    for (let n = 0; n < 2; n++) await waiting.mustPost(`/messages/${(await send()).id}/cancel`);
    await waiting.mustPost(`/mailboxes/${id}/requeue`, { state: 'CANCELLED', max: 1 });
    await waiting.mustPost(`/scopes/${(await waiting.mustPost('/scopes', {})).id}/cancel`);
    const tab = await Tab.live(waiting);
    const says = async (name: string, ...texts: (string | RegExp)[]): Promise<void> => {
      for (const text of texts) await section(tab, name).getByText(text).first().waitFor();
    };
    await says('Now', /^Delayed messages2$/, /^Ready messages4/);
    await section(tab, 'Who waits for what').locator('summary').click();
    await says(
      'Who waits for what',
      /^paused after a failed attempt, ready in (1 h|59 m)/,
      /^delayed, ready in (1 d|23 h)/,
      'nobody has received it',
      'others of its run are before it: position 4',
    );
    await says('Runs', 'nightly run', '6 messages');
    await says('Queues', '6 of 1,000');
    expect(await section(tab, 'Queues').getByRole('cell').allInnerTexts()).to.include.ordered.members([
      'nobody',
      '4',
      '2',
      '0',
    ]);
    await section(tab, 'Now').getByText('Everything that is kept, by state').click();
    await says('Now', '2 delayed', '1 message.requeued', '2 message.cancelled', '1 scope.cancelled');
    await tab.page.goto(`${waiting.url}/console#/space/${waiting.spaceId}/run/${scopeId}`);
    await tab.page.getByRole('heading', { name: `Run nightly run ${scopeId}` }).waitFor();
    await tab.page.locator('#run').getByText('6 messages, 0 waiters').waitFor();
    await says(
      'Messages of this run',
      /^DELAYED ready in (1 h|59 m)[^:]*: the model is busy$/,
      /^CANCELLED cancelled by caller after \S+/,
    );
  });

  it('shows what waits alike as one row: results that nobody receives bury nothing', async () => {
    const flooded = await World.create();
    const results = await flooded.mustPost('/mailboxes', { name: 'results' });
    const calls = Array.from({ length: 40 }, () => ({
      call: 'message.send',
      mailboxId: results.id,
      scopeId: randomUUID(),
      payload: 1,
    }));
    await flooded.mustPost('/batch', { calls });
    const { id } = await flooded.mustPost('/mailboxes', { name: 'jobs' });
    const late = await flooded.mustPost(`/mailboxes/${id}/messages`, { scopeId: randomUUID(), payload: 1 });
    const tab = await Tab.live(flooded);
    const rows = tab.page.getByRole('table', { name: 'Waiting for a worker' }).getByRole('row');
    await rows.filter({ hasText: /^39 morea worker at mailbox results.*nobody has received it39 runs$/ }).waitFor();
    await rows.getByRole('link', { name: short(late.id) }).waitFor();
    // With the heads of the columns.
    expect(await rows.count()).to.equal(4);
  });

  it('draws what was sent, claimed, completed and failed over time, of the space and of a mailbox, and goes on', async () => {
    const drawn = await World.create();
    const { id } = await drawn.mustPost('/mailboxes', { name: 'drawn' });
    const scopeId = randomUUID();
    const send = () => drawn.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
    const end = async (how: string, more: object) => {
      const { id: messageId, token } = await drawn.mustPost(`/mailboxes/${id}/recv`, {
        scopeId,
        holder: 'h',
        holderSession: 's',
      });
      await drawn.mustPost(`/messages/${messageId}/${how}`, { token, ...more });
    };
    for (let n = 0; n < 4; n++) await send();
    await end('complete', {});
    await end('nack', { retry: false });
    const tab = await Tab.live(drawn);
    const graph = (name: RegExp) => section(tab, 'Over time').getByRole('img', { name });
    await graph(/^Sent: 4 in 1 h, at most \d in 1 min$/).waitFor();
    await graph(/^Completed: 1 in 1 h, at most 1 in 1 min$/).waitFor();
    await graph(/^Failed, rejected, expired: 1 in 1 h/).waitFor();
    await end('complete', {});
    await graph(/^Completed: 2 in 1 h/).waitFor();
    await section(tab, 'Over time').getByText('The last day, by ten minutes').click();
    await graph(/^Claimed: 3 in 24 h, at most \d in 10 min$/).waitFor();
    await drawn.mustPost('/mailboxes', { name: 'other' });
    await tab.go(`/mailbox/${id}`);
    await graph(/^Sent: 4 in 1 h/).waitFor();
  });

  it('asks for the events of an id that no message can have had nowhere, and names the request that failed', async () => {
    const tab = await Tab.live(world, { expected: /status of 404/ });
    for (const id of ['00000000-0000-0000-0000-000000000000', randomUUID()]) {
      await tab.go(`/message/${id}`);
      const card = tab.page.locator('#message .problem');
      await card.waitFor();
      const answer = tab.requests.findLast((request) => request.url().endsWith(`/messages/${id}`));
      const requestId = (await answer?.response())?.headers()['x-request-id'];
      expect(await card.innerText()).to.match(/^there is no such message.*\. Request /);
      expect(await card.innerText()).to.contain(` Request ${requestId}.`);
      await section(tab, 'Its events').getByText('No event.').waitFor();
      expect(tab.requests.filter((request) => request.url().includes(`message:${id}`))).to.deep.equal([]);
    }
  });

  it('follows the journal at once, updates panels by it, and has it once: all of it on its page, by type', async () => {
    const tab = await Tab.live(world);
    const journal = section(tab, 'Live journal');
    await journal.getByText('schedule.created').first().waitFor();
    expect(await journal.locator('li').count()).to.equal(2);
    const run = randomUUID();
    const name = `new ${randomUUID()}`;
    await world.mustPost('/mailboxes', { name });
    await world.mustPost('/barriers', { scopeId: run, target: 77 });
    await journal.getByText('scope.created').first().waitFor();
    await section(tab, 'Runs').getByText(short(run)).waitFor();
    await section(tab, 'Queues').getByText(name).waitFor();
    await journal.getByRole('link', { name: 'More of it' }).click();
    await journal.getByText('message.sent').first().waitFor();
    expect(await journal.locator('li').count()).to.be.above(20);
    await tab.page.getByLabel('Of type').selectOption('budget');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    await journal.getByText('message.sent').first().waitFor({ state: 'detached' });
    const types = await journal.locator('li b').allInnerTexts();
    expect(new Set(types)).to.deep.equal(new Set(['budget.created', 'budget.reserved', 'budget.settled']));
    // Amounts as people read them.
    await journal.getByText('amount 2,500,000,000,000,000.00 EUR').waitFor();
    await tab.page.getByLabel('From').selectOption('60');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    await section(tab, 'History, oldest first').getByText('budget.settled').waitFor();
    expect(await journal.isVisible()).to.equal(false);
  });

  it('opens a run and returns, and shows what belongs to the run and the scopes below', async () => {
    const tab = await Tab.live(world);
    await section(tab, 'Runs')
      .getByRole('rowheader', { name: short(seeded.runId) })
      .getByRole('link')
      .click();
    await tab.page.getByRole('heading', { name: `Run ${seeded.runId}` }).waitFor();
    const rows = (name: string) => section(tab, name).getByRole('row');
    await rows('Messages of this run').nth(5).waitFor();
    expect(await rows('Messages of this run').filter({ hasText: 'REJECTED' }).innerText()).to.include('1 of 5');
    expect(await rows('Reservations of this run').nth(1).innerText()).to.include('6,000,000,000,000,000.00 EUR');
    expect(await rows('Waiters of this run').count()).to.equal(3);
    expect(await rows('Task groups of this run').getByText('PENDING', { exact: true }).count()).to.equal(2);
    expect(await section(tab, 'Live journal').innerText()).to.not.include('mailbox.created');
    await section(tab, 'Scopes below')
      .getByRole('link', { name: short(seeded.gateId) })
      .click();
    await tab.page.getByRole('heading', { name: `Run ${seeded.gateId}` }).waitFor();
    await tab.page
      .locator('#run')
      .getByRole('link', { name: short(seeded.runId) })
      .waitFor();
    await tab.page.getByRole('link', { name: 'Overview' }).click();
    await tab.page.getByRole('heading', { name: 'Queues' }).waitFor();
    await tab.page.goBack();
    await tab.page.getByRole('heading', { name: `Run ${seeded.gateId}` }).waitFor();
  });

  it('finds runs by state and name, and opens one by its id, or reports that there is none', async () => {
    const tab = await Tab.live(world, { expected: /status of 404/ }, '/runs');
    const { id } = await world.mustPost('/scopes', { name: 'nightly' });
    const rows = section(tab, 'All runs').getByRole('row');
    await tab.page.getByLabel('Name, or its beginning').fill('nightly');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    await rows.nth(2).waitFor({ state: 'detached' });
    expect(await rows.nth(1).innerText())
      .to.include(short(id))
      .and.include('IDLE');
    expect(await rows.count()).to.equal(2);
    await tab.page.getByLabel('State').selectOption('CANCELLED');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    await tab.page.getByText('No such run.').waitFor();
    const field = tab.page.getByLabel('Scope id');
    await field.fill('not one');
    await field.press('Enter');
    await tab.page.getByRole('alert').filter({ hasText: 'enter a UUID' }).waitFor();
    await field.fill(randomUUID());
    await field.press('Enter');
    await tab.page.getByText('there is no such scope in this space').waitFor();
  });

  it('starts a busy journal at the present, with a note; its history is read page by page, filtered', async () => {
    const busy = await World.create();
    const mailbox = await busy.mustPost('/mailboxes', { name: 'jobs' });
    const calls = Array.from({ length: 100 }, () => {
      const fields = { mailboxId: mailbox.id, scopeId: seeded.runId, payload: 1 };
      return { call: 'message.send', ...fields };
    });
    await busy.mustPost('/batch', { calls });
    await busy.mustPost('/batch', { calls });
    const tab = await Tab.live(busy, {}, '/journal');
    await tab.page
      .getByText(/^Events before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\S* are not shown here\. 0 events read/)
      .waitFor();
    const other = randomUUID();
    const { id } = await busy.mustPost(`/mailboxes/${mailbox.id}/messages`, { scopeId: other, payload: 1 });
    await section(tab, 'Live journal').getByText('message.sent').waitFor();
    await tab.page.getByLabel('From').selectOption('15');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    const history = section(tab, 'History, oldest first');
    await history.locator('li').nth(99).waitFor();
    await history.getByText('mailbox.created').waitFor();
    await history.getByRole('link', { name: 'Next page' }).click();
    await history.getByRole('link', { name: 'First page' }).waitFor();
    await history.getByText('mailbox.created').waitFor({ state: 'detached' });
    await tab.page.getByLabel('Run (scope id)').fill(other);
    await tab.page.getByLabel('Of type').selectOption('message');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    await history.getByRole('link', { name: short(id) }).waitFor();
    expect(await history.locator('li').count()).to.equal(1);
  });

  it('shows a mailbox but for messages that the store has damaged, and says which', async () => {
    const separate = await World.create();
    const { id } = await separate.mustPost('/mailboxes', { name: 'jobs' });
    const sent: string[] = [];
    for (let n = 0; n < 4; n++)
      sent.push((await separate.mustPost(`/mailboxes/${id}/messages`, { scopeId: seeded.runId, payload: n })).id);
    for (const one of sent.slice(0, 3)) await separate.mustPost(`/messages/${one}/cancel`);
    const { org, spaceId, prefix, service } = separate;
    const how = { sealAfterMs: 0, isAll: true, patienceMs: 0, size: 2 };
    await service.packing.packMessages(org, spaceId, undefined, how);
    await service.store.set(`${prefix}:messageSegment:1`, 'garbage');
    const tab = await Tab.live(separate, { expected: /status of 500/ }, `/mailbox/${id}`);
    const list = section(tab, 'Messages');
    await list.getByRole('link', { name: short(sent[2] ?? '') }).waitFor();
    expect(await list.getByRole('row').count()).to.equal(3);
    await list.getByText(`Some are not shown: the store has damaged the messages ${sent[0]} to ${sent[1]}`).waitFor();
  });

  it('reads a page while a read of the one left has no answer, and shows nothing of that one', async () => {
    const tab = await Tab.live(world);
    let answer = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await tab.page.route(`**/mailboxes/${seeded.mailboxId}`, async (route) => {
      await late;
      await route.continue();
    });
    await tab.go(`/mailbox/${seeded.mailboxId}`);
    await section(tab, 'Messages').getByText('REJECTED').first().waitFor();
    await tab.go('/schedules');
    await section(tab, 'All schedules').getByText('Europe/Berlin').waitFor();
    answer();
    await tab.page.waitForTimeout(300);
    expect(await tab.page.locator('h1:visible').innerText()).to.equal('Schedules');
    await tab.page.goBack();
    await tab.page.getByRole('heading', { name: `Mailbox jobs ${hostile}` }).waitFor();
  });

  it('reads again what a pause has cut off', async () => {
    const tab = await Tab.live(world);
    const history = '**/watch?limit=100&since=*';
    await tab.page.route(history, () => undefined);
    const asked = tab.page.waitForRequest(history);
    await tab.go('/journal?span=60');
    await asked;
    const pause = tab.page.getByRole('button', { name: 'Pause', exact: true });
    await pause.click();
    await tab.page.unroute(history);
    await pause.click();
    await section(tab, 'History, oldest first').getByText('mailbox.created').first().waitFor();
  });

  it('reads again what changed before its watch was connected', async () => {
    const busy = await World.create();
    const calls = Array.from({ length: 100 }, () => ({ call: 'mailbox.create', name: 'jobs' }));
    for (const _ of [1, 2]) await busy.mustPost('/batch', { calls });
    const tab = await Tab.open(busy);
    let connect = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      connect = resolve;
    });
    await tab.page.route('**/watch?*', async (route) => {
      await late;
      await route.continue();
    });
    await tab.signIn(busy.apiKey);
    await section(tab, 'Queues').getByText('jobs').first().waitFor();
    // Long enough for reads that are due for any other reason.
    await tab.page.waitForTimeout(6_000);
    const name = `meanwhile ${randomUUID()}`;
    await busy.mustPost('/mailboxes', { name });
    connect();
    await section(tab, 'Queues').getByText(name).waitFor();
  });
});
