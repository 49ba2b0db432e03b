import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { api, World } from '../support/world.ts';
import { OwnIssuer } from './own-issuer.ts';
import { audience, inSeconds, post, serviceFor } from './signed-in.ts';

const wellKnown = '/.well-known/oauth-protected-resource';

describe('MCP as a resource that clients sign in to', () => {
  let issuer: OwnIssuer;
  let service: MusterService;
  let world: World;
  let path: string;
  before(async () => {
    issuer = await OwnIssuer.start();
    service = await serviceFor(issuer.url, { scope: 'openid muster' });
    world = await World.create({ on: service });
    path = `/v1/spaces/${world.spaceId}/mcp`;
  });
  after(async () => {
    await service?.stop();
    await issuer?.stop();
  });

  const challengeOf = async (url: string, token?: string): Promise<[number, string | null]> => {
    const { status, headers } = await post(url, token);
    return [status, headers.get('WWW-Authenticate')];
  };
  const token = (changes: Record<string, unknown>): Promise<string> =>
    issuer.sign({
      iss: issuer.url,
      aud: audience,
      exp: inSeconds(60),
      muster: { org: world.org, permissions: ['coordination_read'] },
      ...changes,
    });

  it('says where to sign in, of any space alike', async () => {
    for (const spaceId of [world.spaceId, randomUUID(), randomUUID().toUpperCase()]) {
      const answer = await fetch(`${world.url}${wellKnown}/v1/spaces/${spaceId}/mcp`);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
      expect(await answer.json()).to.deep.equal({
        resource: `${world.url}/v1/spaces/${spaceId}/mcp`,
        authorization_servers: [issuer.url],
        scopes_supported: ['openid', 'muster'],
        bearer_methods_supported: ['header'],
        resource_name: 'Muster',
        resource_documentation: `${world.url}/docs/mcp`,
      });
    }
  });

  it('has no other such address, and none where no issuer is set', async () => {
    const status = async (url: string, method = 'GET') => (await fetch(url, { method })).status;
    expect(await status(`${world.url}${wellKnown}${path}`, 'HEAD')).to.equal(200);
    expect(await status(`${world.url}${wellKnown}${path}`, 'POST')).to.equal(405);
    for (const other of ['', path.replace('/mcp', ''), '/v1/spaces/x/mcp', `${path}/`])
      expect([other, await status(`${world.url}${wellKnown}${other}`)]).to.deep.equal([other, 404]);
    const { url = '' } = await api();
    expect(await status(`${url}${wellKnown}${path}`)).to.equal(404);
  });

  it('refers every 401 to it, and no other answer', async () => {
    const metadata = `resource_metadata="${world.url}${wellKnown}${path}"`;
    const wrong = `Bearer error="invalid_token", ${metadata}`;
    const url = world.url + path;
    expect(await challengeOf(url)).to.deep.equal([401, `Bearer ${metadata}`]);
    expect(await challengeOf(url, await token({ exp: inSeconds(-90) }))).to.deep.equal([401, wrong]);
    expect(await challengeOf(url, await token({ muster: { org: 'nobody-has-this', permissions: [] } }))).to.deep.equal([
      401,
      wrong,
    ]);
    expect(await challengeOf(url, 'nonsense')).to.deep.equal([401, wrong]);
    expect(await challengeOf(url, `mk_${world.org}_${'x'.repeat(43)}`)).to.deep.equal([401, wrong]);
    expect(await challengeOf(url, world.apiKey)).to.deep.equal([200, null]);
    const other = await World.create({ on: service });
    expect(await challengeOf(`${other.url}/v1/spaces/${other.spaceId}/mcp`, world.apiKey)).to.deep.equal([404, null]);

    const rest = await world.call('GET', '/mailboxes', undefined, { Authorization: 'Bearer a.b.c' });
    expect(rest.headers.get('WWW-Authenticate')).to.equal('Bearer error="invalid_token"');
    const plain = await World.create();
    expect(await challengeOf(`${plain.url}/v1/spaces/${plain.spaceId}/mcp`)).to.deep.equal([401, 'Bearer']);
  });

  it('takes tokens for its own address by PUBLIC_URL, whatever Host says', async () => {
    const own = await token({ aud: [`${world.url}${path}`, 'https://other.test'] });
    expect((await post(world.url + path, own)).status).to.equal(200);
    const { port } = new URL(world.url);
    const foreign = await token({ aud: `http://localhost:${port}${path}` });
    expect((await post(`http://localhost:${port}${path}`, foreign)).status).to.equal(401);
    const another = await world.anotherSpace();
    expect((await post(`${world.url}/v1/spaces/${another.spaceId}/mcp`, own)).status).to.equal(401);
  });
});
