import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createSpace, listKeys, revokeKey } from '../../src/primitives/org/admin.ts';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('Signing in to the console', () => {
  useTabs();
  let world: World;
  before(async () => {
    world = await World.create();
  });

  const refused = { expected: /status of 40[134]|ERR_INCOMPLETE_CHUNKED/ };
  const problem = (tab: Tab, text: string | RegExp) => tab.page.getByRole('alert').filter({ hasText: text }).waitFor();

  it('takes the key from the person only, keeps it in this tab only, and nothing of it after signing out', async () => {
    const tab = await Tab.open(world);
    expect(await tab.page.locator('input:visible').count()).to.equal(1);
    for (const key of ['', 'mk_dev_…']) {
      await tab.signIn(key);
      await problem(tab, 'Enter the whole API key');
      await tab.page.reload();
    }
    expect(tab.requests.filter((request) => request.url().includes('/v1/'))).to.deep.equal([]);
    await tab.page.goto(`${world.url}/console`);
    await tab.signIn(await world.key(['coordination_read']));
    await tab.status('Live.');
    expect(tab.page.url()).to.equal(`${world.url}/console#/space/${world.spaceId}`);

    await tab.page.reload();
    await tab.status('Live.');
    expect(await tab.evaluate('sessionStorage.getItem("muster.key")')).to.match(/^mk_/);
    const stored = await tab.evaluate<string>('JSON.stringify([localStorage, document.cookie, location.href])');
    expect(stored).to.not.include('mk_');
    for (const request of tab.requests) expect(request.url()).to.not.include('mk_');
    const other = await tab.page.context().newPage();
    await other.goto(tab.page.url());
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();

    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await tab.evaluate('sessionStorage.length')).to.equal(0);
    const before = tab.requests.length;
    await tab.page.waitForTimeout(1_000);
    expect(tab.requests.length).to.equal(before);
    expect(await tab.page.getByLabel('API key').inputValue()).to.equal('');
  });

  it('lists the spaces of a key that sees several, by their names', async () => {
    const several = await World.create();
    const { spaceId } = await createSpace(several.service, { org: several.org, name: 'second <b>one</b>' });
    const tab = await Tab.open(several);
    await tab.page.goto(`${several.url}/console`);
    await tab.signIn(several.apiKey);
    await tab.page.getByRole('link', { name: 'second <b>one</b>' }).click();
    await tab.status('Live.');
    expect(tab.page.url()).to.include(spaceId);
    await tab.page.locator('#switch summary').click();
    expect(await tab.page.locator('#switch li a').allInnerTexts())
      .to.have.lengthOf(2)
      .and.include('second <b>one</b>');
    await tab.page.getByRole('link', { name: 'All spaces' }).click();
    await tab.page.getByRole('heading', { name: 'Spaces' }).waitFor();
    expect(await tab.page.locator('#spaces-list a').count()).to.equal(2);
    const pause = tab.page.getByRole('button', { name: 'Pause', exact: true });
    await pause.click();
    await tab.status('Paused.');
    await pause.click();
    await tab.page.getByText('Paused.').waitFor({ state: 'hidden' });
  });

  it('reads more spaces once, and not after signing out', async () => {
    const many = await World.create();
    await Promise.all(Array.from({ length: 200 }, () => createSpace(many.service, { org: many.org })));
    const tab = await Tab.open(many);
    await tab.page.goto(`${many.url}/console`);
    await tab.signIn(many.apiKey);
    const more = tab.page.getByRole('button', { name: 'More spaces' });
    const next = '**/v1/spaces?*cursor=*';
    let answer = (): void => undefined;
    await tab.page.route(next, async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.continue();
    });
    const asked = tab.page.waitForRequest(next);
    await more.dblclick();
    await asked;
    answer();
    await tab.page.locator('#spaces-list a').nth(200).waitFor();
    expect(tab.requests.filter((request) => request.url().includes('cursor='))).to.have.length(1);
    await tab.page.reload();
    await more.click();
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    const answered = tab.page.waitForResponse(next);
    answer();
    await answered;
    await tab.page.waitForTimeout(200);
    expect(await tab.page.getByRole('heading', { name: 'Sign in' }).isVisible()).to.equal(true);
  });

  it('explains a wrong key or space, and what to do', async () => {
    const tab = await Tab.open(world, refused);
    await tab.signIn(`mk_${world.org}_${'x'.repeat(43)}`);
    await problem(tab, 'the API key is malformed, unknown, ended or revoked.');
    await tab.signIn(await world.key(['coordination_write', 'resource_config']));
    await problem(tab, 'the API key lacks the permission coordination_read: it is the only permission');
    await problem(tab, `key create --org ${world.org} --permissions coordination_read`);
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.signIn(await world.key(['coordination_read'], [(await world.anotherSpace()).spaceId]));
    await problem(tab, 'the API key is limited to other spaces.');
    expect(await tab.page.locator('#spaces-list a').count()).to.equal(1);
    await tab.page.goto(`${world.url}/console#/space/${randomUUID()}`);
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.signIn(world.apiKey);
    await problem(tab, 'there is no such space in the organization of this API key.');
  });

  it('does not wait for ever for a server that does not answer', async () => {
    const tab = await Tab.open(world);
    await tab.evaluate(
      'AbortSignal.timeout = ((limit) => (ms) => limit.call(AbortSignal, ms / 100))(AbortSignal.timeout)',
    );
    await tab.page.route('**/v1/spaces?*', () => undefined);
    await tab.signIn(world.apiKey);
    await problem(tab, 'the server cannot be reached.');
  });

  it('names a permission that is missing now in every panel that needs it, and ends when the key is revoked', async () => {
    const separate = await World.create();
    const { org, service } = separate;
    const tab = await Tab.live(separate, refused);
    const keys = await listKeys(service, org);
    const { keyId = '' } = keys.find(({ permissions }) => permissions.length === 1) ?? {};
    for (const name of await service.store.keys(`muster:{${org}}:key:*`))
      if ((await service.store.hget(name, 'permissions')) === 'coordination_read')
        await service.store.hset(name, 'permissions', 'coordination_write');
    await separate.mustPost('/mailboxes', { name: 'jobs' });
    await tab.page
      .getByRole('region', { name: 'Queues' })
      .getByText('Not shown: the API key lacks the permission coordination_read.')
      .waitFor();
    await revokeKey(service, org, keyId);
    await separate.mustPost('/mailboxes', { name: 'jobs' });
    await problem(tab, 'the API key is malformed, unknown, ended or revoked.');
    expect(await tab.evaluate('sessionStorage.length')).to.equal(0);
  });
});
