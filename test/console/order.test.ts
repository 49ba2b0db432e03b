import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { shortId } from '../../src/pages/console/browser/format.ts';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console shows the order of work', () => {
  useTabs();
  let world: World;
  let mailboxId: string;
  const scopeId = randomUUID();
  const claim = { scopeId, holder: 'ann', holderSession: 's' };
  before(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'orders', perKey: 1 })).id;
  });

  const send = async (more: object = {}): Promise<string> =>
    (await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1, ...more })).id;
  const fact = (tab: Tab, name: string) =>
    tab.page.locator('#message dl > div').filter({ has: tab.page.getByText(name, { exact: true }) });
  const waitsReads = (tab: Tab): number =>
    tab.requests.filter((request) => request.url().endsWith('/ops/waits')).length;

  it('a message shows its priority, its key and the message that has the place of the key', async () => {
    const first = await send({ key: 'customer-42', priority: 7 });
    const second = await send({ key: 'customer-42' });
    const tab = await Tab.live(world, {}, `/message/${first}`);
    expect(await fact(tab, 'Priority').innerText()).to.match(/Priority\s+7/);
    expect(await fact(tab, 'Key').innerText()).to.match(/Key\s+customer-42/);
    expect(await fact(tab, 'Waits for').count()).to.equal(0);
    await tab.page
      .locator('#message-graph')
      .getByRole('link', { name: shortId(second) })
      .click();
    await tab.page.getByRole('heading', { level: 1 }).getByText(second).waitFor();
    await fact(tab, 'Waits for').getByText('its key, which has').waitFor();
    expect(await fact(tab, 'Priority').count(), '0 is not shown').to.equal(0);
    await fact(tab, 'Waits for').getByRole('link').click();
    await tab.page.getByRole('heading', { level: 1 }).getByText(first).waitFor();
  });

  it('a message shows what waits for it: messages by links, members of groups with their run', async () => {
    const awaited = await send();
    const after = [{ messageId: awaited }];
    const dependent = await send({ after });
    const group = await world.mustPost('/task-groups', { mailboxId, condition: 'ALL_TERMINAL' });
    await world.mustPost(`/task-groups/${group.groupId}/tasks`, { taskKey: 'one', after });
    const tab = await Tab.live(world, {}, `/message/${awaited}`);
    const waiting = tab.page.locator('#message-graph');
    await waiting.locator('li').nth(2).waitFor();
    const links = await waiting.locator('a:not([href*="/mailbox/"])').allInnerTexts();
    expect(links).to.have.members([shortId(dependent), shortId(group.groupId), shortId(group.scopeId)]);
    expect(await waiting.innerText()).to.match(new RegExp(`group ${shortId(group.groupId)}\\s+in run`));
    expect(await tab.violations('#page')).to.equal('[]');
    const reads = waitsReads(tab);
    const { messages } = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { ...claim, max: 100 });
    const { token } = messages.find(({ id }: { id: string }) => id === awaited);
    await world.mustPost(`/messages/${awaited}/complete`, { token });
    await tab.page.locator('#message').getByText('ACKED', { exact: true }).waitFor();
    expect(waitsReads(tab), 'not with each event').to.equal(reads);
  });

  it('a suspended message shows what it waits for and since when, in words and in its graph', async () => {
    const [parentId, childScope] = [randomUUID(), randomUUID()];
    const parent = await send({ scopeId: parentId });
    const claimed = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { ...claim, scopeId: parentId });
    const child = await send({ scopeId: childScope });
    await world.mustPost(`/messages/${parent}/suspend`, {
      token: claimed.token,
      after: [{ messageId: child }, { scopeId: childScope }],
      note: { key: 'plan <b>', sinceVersion: 0 },
      delaySeconds: 3600,
    });
    const tab = await Tab.live(world, {}, `/message/${parent}`);
    const text = await fact(tab, 'Suspended').innerText();
    expect(text).to.match(/since .* for .*, run .*, note plan <b> after version 0, sleep until /s);
    expect(await fact(tab, 'Waits for').innerText()).to.match(/the end of its sleep/);
    const graph = tab.page.locator('#message-graph');
    await graph.getByText('a run, until nothing is live in it').waitFor();
    await graph.getByText('until it has another version').waitFor();
    await graph.getByRole('link', { name: shortId(child) }).waitFor();
    expect(await tab.violations('#page')).to.equal('[]');
  });

  it('a mailbox shows how many of a key are worked at once, and the messages of a key', async () => {
    const box = (await world.mustPost('/mailboxes', { name: 'found', perKey: 2 })).id;
    const sent = async (more: object): Promise<string> =>
      (await world.mustPost(`/mailboxes/${box}/messages`, { scopeId, payload: 1, ...more })).id;
    const wanted = await sent({ key: 'a b' });
    await sent({ key: 'c' });
    const tab = await Tab.live(world, {}, `/mailbox/${box}`);
    await tab.page.locator('#mailbox').getByText('2 at once').waitFor();
    await tab.page.locator('#messages tbody tr').nth(1).waitFor();
    await tab.page.getByLabel('Key', { exact: true }).fill('a b');
    await tab.page.getByRole('button', { name: 'Find' }).click();
    await tab.page.locator('#messages tbody tr').nth(1).waitFor({ state: 'detached' });
    expect(await tab.page.locator('#messages tbody a').first().innerText()).to.equal(shortId(wanted));
    expect(await tab.page.locator('#messages tbody td').last().innerText()).to.equal('a b');
    await tab.page.getByRole('navigation', { name: 'Messages by state' }).getByRole('link', { name: 'ready' }).click();
    await tab.page.locator('#messages tbody tr').first().waitFor();
    expect(new URL(tab.page.url()).hash, 'another state, the same key').to.match(/key=a(\+|%20)b/);
  });
});
