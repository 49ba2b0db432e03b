import { expect } from 'chai';
import { listKeys } from '../../src/primitives/org/admin.ts';
import { codeOf, World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console manages API keys', () => {
  useTabs();
  let world: World;
  before(async () => {
    world = await World.create();
  });

  it('lists them with their limits, makes one that is shown once, and revokes it', async () => {
    const tab = await Tab.live(world, {}, '/keys', world.apiKey);
    const { page } = tab;
    await page.getByRole('button', { name: 'Create a key…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('reader');
    await dialog.getByLabel('Permissions').fill('coordination_read');
    await dialog.getByLabel('holder').fill('ann');
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    const said = dialog.getByRole('status').filter({ hasText: 'mk_' });
    await said.waitFor();
    const apiKey = /mk_\w[\w-]*_\w{43}/.exec((await said.textContent()) ?? '')?.[0] ?? '';
    const census = () => world.call('GET', '/census', undefined, { Authorization: `Bearer ${apiKey}` });
    expect((await census()).status).to.equal(200);
    await dialog.getByRole('button', { name: 'Close' }).click();
    const row = page.getByRole('row').filter({ hasText: 'reader' });
    await row.filter({ hasText: '1 space; holder ann' }).filter({ hasText: 'ACTIVE' }).waitFor();
    const made = (await listKeys(world.service, world.org)).at(-1);
    expect(made).to.deep.include({ name: 'reader', spaces: [world.spaceId], holder: 'ann' });
    expect(made?.expiresAt).to.be.a('string');
    await row.getByRole('link', { name: 'reader' }).click();
    await page.getByText('Nothing that the audit trail keeps.').waitFor();
    const admin = (await listKeys(world.service, world.org))[0];
    await page
      .getByRole('link', { name: admin?.name ?? admin?.keyId.slice(0, 8) ?? '' })
      .first()
      .click();
    await page.getByRole('row').filter({ hasText: 'key.created' }).filter({ hasText: '"holder":"ann"' }).waitFor();
    await page.getByRole('button', { name: 'Revoke… reader' }).click();
    await dialog.getByRole('button', { name: 'Revoke the key' }).click();
    await dialog.getByRole('status').filter({ hasText: 'It is revoked.' }).waitFor();
    expect(codeOf(await census())).to.equal('401 INVALID_API_KEY');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await row.filter({ hasText: 'REVOKED' }).waitFor();
    expect(await page.content()).to.not.include(apiKey);
  });

  it('says why a key is refused, and what it takes to see them', async () => {
    const tab = await Tab.live(
      world,
      {},
      '/keys',
      await world.key(['coordination_read', 'key_admin'], [world.spaceId]),
    );
    await tab.page.getByRole('button', { name: 'Create a key…' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Create the key' }).click();
    await tab.page.getByRole('alert').filter({ hasText: 'permissions goes beyond it' }).waitFor();
    // The browser reports the refusal, too.
    expect(tab.problems.splice(0)).to.have.length(1);
    const reader = await Tab.live(world, {}, '/keys');
    await reader.page.getByText('Managing keys needs the permission key_admin').waitFor();
  });
});
