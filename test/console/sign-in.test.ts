import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { freePort } from '../fault/redis-server.ts';
import { Provider } from '../oidc/provider.ts';
import { serviceFor } from '../oidc/signed-in.ts';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('Signing in to the console with an account', () => {
  useTabs();
  let provider: Provider;
  let service: MusterService;
  let world: World;
  let alone: MusterService | undefined;
  before(async () => {
    const port = await freePort();
    provider = await Provider.at(`http://127.0.0.1:${port}/console/sign-in`);
    service = await serviceFor(provider.url, { clientId: 'console', scope: 'openid muster' }, { port });
    world = await World.create({ on: service });
    await provider.start();
    await provider.grant({ org: world.org, permissions: ['coordination_read'] });
  });
  after(async () => {
    await provider?.stop();
    await Promise.all([service?.stop(), alone?.stop()]);
  });

  const policyOf = async (path: string): Promise<string> =>
    (await fetch(world.url + path)).headers.get('Content-Security-Policy') ?? '';
  const stored = (tab: Tab, name: string) =>
    tab.evaluate<string | null>(`sessionStorage.getItem(${JSON.stringify(name)})`);
  const account = (tab: Tab) => tab.page.getByRole('link', { name: 'Sign in with your account' });
  const goOn = (tab: Tab) => tab.page.getByRole('button', { name: 'Continue as alice' });

  /** Signs in; at the issuer's, too, unless an earlier test has. */
  async function enter(tab: Tab): Promise<void> {
    await account(tab).click();
    const live = tab.page.getByRole('status').filter({ hasText: 'Live.' });
    await goOn(tab).or(live).waitFor();
    if (await goOn(tab).isVisible()) await goOn(tab).click();
    await live.waitFor();
  }

  it('goes to the issuer and comes back to the same place, with nothing of it in an address', async () => {
    const tab = await Tab.open(world, {}, '/mailboxes?name=jobs');
    await enter(tab);
    expect(tab.page.url()).to.equal(`${world.url}/console#/space/${world.spaceId}/mailboxes?name=jobs`);
    const token = (await stored(tab, 'muster.key')) ?? '';
    expect(token.split('.')).to.have.length(3);
    for (const request of tab.requests) expect(request.url()).to.not.include(token.slice(-40));
    expect(await stored(tab, 'muster.signing-in')).to.equal(null);
    const elsewhere = await tab.evaluate<string>('JSON.stringify([localStorage, document.cookie])');
    expect(elsewhere).to.not.include(token);
    const [first] = tab.requests.filter((request) => request.url().startsWith(`${provider.url}/auth`));
    const asked = new URL(first?.url() ?? '').searchParams;
    expect(asked.get('code_challenge_method')).to.equal('S256');
    expect(asked.get('scope')).to.equal('openid muster');

    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await account(tab).waitFor();
    expect(await tab.evaluate('sessionStorage.length')).to.equal(0);
    expect(await tab.violations()).to.equal('[]');
  });

  it('lets only that page connect to the issuer, and only for the token', async () => {
    expect(await policyOf('/console')).to.include("connect-src 'self';");
    const policy = await policyOf('/console/sign-in');
    expect(policy).to.include(`connect-src ${provider.url}/token;`);
    expect(policy.replace(`${provider.url}/token`, "'self'")).to.equal(await policyOf('/console'));
    const answer = await fetch(`${world.url}/console/sign-in`);
    expect(answer.headers.get('Cache-Control')).to.equal('no-store');
  });

  it('signs in again by itself when a token has ended, unless it was refused at once', async () => {
    const tab = await Tab.open(world, { expected: /status of 401|ERR_INCOMPLETE_CHUNKED|ERR_ABORTED/ });
    await enter(tab);
    const first = await stored(tab, 'muster.key');
    const spoil = (at: number) =>
      tab.evaluate(
        `sessionStorage.setItem('muster.key', 'a.b.c'); sessionStorage.setItem('muster.signed-in-at', '${at}')`,
      );
    await spoil(0);
    await tab.page.reload();
    await tab.status('Live.');
    const second = await stored(tab, 'muster.key');
    expect(second?.split('.')).to.have.length(3);
    expect(second).to.not.equal(first);

    await spoil(Date.now());
    await tab.page.reload();
    await tab.page
      .getByRole('alert')
      .filter({ hasText: 'the API key is malformed, unknown, ended or revoked.' })
      .waitFor();
    expect(await stored(tab, 'muster.key')).to.equal(null);
  });

  it('says what is wrong with an answer that was not asked for, or refuses', async () => {
    const tab = await Tab.open(world);
    const say = (text: string) => tab.page.getByRole('alert').filter({ hasText: text }).waitFor();
    await tab.page.goto(`${world.url}/console/sign-in?code=stolen&state=guessed`);
    await say('This tab has not begun to sign in.');
    expect(tab.page.url()).to.equal(`${world.url}/console/sign-in`);
    const state = '{"state":"s","verifier":"v","place":""}';
    await tab.evaluate(`sessionStorage.setItem('muster.signing-in', '${state}')`);
    await tab.page.goto(`${world.url}/console/sign-in?error=access_denied&error_description=not%20today&state=s`);
    await say('The issuer refuses: not today.');
    await tab.evaluate(`sessionStorage.setItem('muster.signing-in', '${state}')`);
    await tab.page.goto(`${world.url}/console/sign-in?code=c&state=s&iss=https%3A%2F%2Fother.test`);
    await say('This is the answer of another issuer.');
    expect(tab.requests.filter((request) => request.url().startsWith(provider.url))).to.deep.equal([]);
    expect(await stored(tab, 'muster.key')).to.equal(null);
  });

  it('goes to the address that the issuer knows, whichever one was opened', async () => {
    const tab = await Tab.open(world);
    await tab.page.goto(`${world.url.replace('127.0.0.1', 'localhost')}/console`);
    await enter(tab);
    expect(tab.page.url()).to.match(new RegExp(`^${world.url}/console#`));
  });

  it('is offered only where the console has a client id, and API keys work while the issuer is away', async () => {
    const plain = await World.create();
    const without = await Tab.open(plain);
    await without.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await account(without).isVisible()).to.equal(false);
    expect((await fetch(`${plain.url}/console/sign-in`)).status).to.equal(404);

    alone = await serviceFor(`http://127.0.0.1:${await freePort()}`, { clientId: 'console' });
    const there = await World.create({ on: alone });
    const tab = await Tab.open(there, { expected: /status of 503/ });
    await account(tab).click();
    await tab.page.getByRole('alert').filter({ hasText: 'The issuer cannot be reached now.' }).waitFor();
    expect(await tab.violations()).to.equal('[]');
    await tab.page.getByRole('link', { name: 'To the console' }).click();
    await tab.signIn(there.apiKey);
    await tab.status('Live.');
  });
});
