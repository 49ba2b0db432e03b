import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listKeys, revokeKey } from '../../src/primitives/org/admin.ts';
import { allPermissions, codeOf, type Reply, World } from '../support/world.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('Access and error bodies', () => {
  let world: World;
  let path: string;
  const as = (authorization: string | undefined, target = path): Promise<Reply> =>
    world.send('GET', target, undefined, authorization === undefined ? {} : { Authorization: authorization });

  before(async () => {
    world = await World.create();
    path = `/v1/spaces/${world.spaceId}/mailboxes`;
  });

  it('no Authorization header: 401 UNAUTHENTICATED, WWW-Authenticate: Bearer', async () => {
    const reply = await as(undefined);
    expect(codeOf(reply)).to.equal('401 UNAUTHENTICATED');
    expect(reply.headers.get('WWW-Authenticate')).to.equal('Bearer');
    expect(reply.headers.get('RateLimit')).to.equal(null);
  });

  it('malformed, unknown, ended or revoked key: 401 INVALID_API_KEY with invalid_token', async () => {
    const revoked = await world.key(allPermissions);
    const { keyId = '' } = (await listKeys(world.service, world.org)).at(-1) ?? {};
    expect((await as(`Bearer ${revoked}`)).status).to.equal(200);
    await revokeKey(world.service, world.org, keyId);
    const { apiKey } = world;
    const tokens = [
      `Bearer ${revoked}`,
      `Bearer ${apiKey.slice(0, -1)}${apiKey.endsWith('a') ? 'b' : 'a'}`,
      `Bearer mk_unknown-org_${'a'.repeat(43)}`,
      `Bearer ${apiKey}${'a'.repeat(200)}`,
      `Bearer ${apiKey.replace(world.org, `${world.org}}:{x`)}`,
      `Bearer ${apiKey.toUpperCase()}`,
      `Bearer ${apiKey} ${apiKey}`,
      `Basic ${apiKey}`,
      apiKey,
      'Bearer',
      'Bearer mk__',
    ];
    for (const token of tokens) {
      const reply = await as(token);
      expect(codeOf(reply), token).to.equal('401 INVALID_API_KEY');
      expect(reply.headers.get('WWW-Authenticate')).to.equal('Bearer error="invalid_token"');
    }
    expect((await as(`bearer  ${apiKey}`)).status, 'the scheme in any case').to.equal(200);
  });

  it('key lacks the permission: 403 PERMISSION_DENIED, which names it; no permission implies another', async () => {
    const calls: [string, string, string][] = [
      ['coordination_read', 'GET', '/mailboxes'],
      ['coordination_write', 'POST', '/mailboxes'],
      ['resource_config', 'PUT', '/limits'],
    ];
    for (const [needed, method, target] of calls) {
      const other = await world.key(allPermissions.filter((permission) => permission !== needed));
      const only = await world.key([needed]);
      const body = method === 'GET' ? undefined : method === 'PUT' ? {} : { name: 'x' };
      const refused = await world.call(method, target, body, { Authorization: `Bearer ${other}` });
      expect(codeOf(refused)).to.equal('403 PERMISSION_DENIED');
      expect(refused.body.error.message).to.contain(needed);
      expect(refused.headers.get('RateLimit'), 'an authenticated answer').to.match(/^"space";r=/);
      const allowed = await world.call(method, target, body, { Authorization: `Bearer ${only}` });
      expect(allowed.status).to.be.below(300);
    }
  });

  it('key limited to other spaces: 403 PERMISSION_DENIED, whether or not the space exists', async () => {
    const other = await World.create();
    const limited = `Bearer ${await world.key(allPermissions, [world.spaceId])}`;
    expect((await as(limited)).status).to.equal(200);
    for (const spaceId of [other.spaceId, randomUUID()]) {
      expect(codeOf(await as(limited, `/v1/spaces/${spaceId}/mailboxes`))).to.equal('403 PERMISSION_DENIED');
    }
  });

  it("unknown space or another organization's: 404 SPACE_NOT_FOUND, the same answer for both", async () => {
    const other = await World.create();
    const messages = new Set<string>();
    for (const spaceId of [other.spaceId, randomUUID()]) {
      const reply = await as(`Bearer ${world.apiKey}`, `/v1/spaces/${spaceId}/mailboxes`);
      expect(codeOf(reply)).to.equal('404 SPACE_NOT_FOUND');
      messages.add(reply.body.error.message);
    }
    expect(messages.size).to.equal(1);
  });

  it('a malformed space id is 400 for a caller with a key, an upper-case one is the same space', async () => {
    const key = `Bearer ${world.apiKey}`;
    for (const id of ['x', '-'.repeat(36), `${world.spaceId}0`, 'muster:{x}', 'a%00b']) {
      expect(codeOf(await as(key, `/v1/spaces/${id}/mailboxes`)), id).to.equal('400 VALIDATION_FAILED');
      expect(codeOf(await as(undefined, `/v1/spaces/${id}/mailboxes`)), id).to.equal('401 UNAUTHENTICATED');
    }
    const unknown = `Bearer mk_${world.org}_${'0'.repeat(43)}`;
    expect(codeOf(await as(unknown, '/v1/spaces/x/mailboxes'))).to.equal('401 INVALID_API_KEY');
    expect((await as(key, `/v1/spaces/${world.spaceId.toUpperCase()}/mailboxes`)).status).to.equal(200);
  });

  it('X-Request-Id is echoed if valid, otherwise generated, on every response and in error bodies', async () => {
    for (const id of ['a', 'A.b_c-9', 'x'.repeat(128)]) {
      const found = await world.call('GET', '/mailboxes', undefined, { 'X-Request-Id': id });
      expect(found.headers.get('X-Request-Id')).to.equal(id);
      const missing = await world.send('GET', '/nothing', undefined, { 'X-Request-Id': id });
      expect(missing.body.error.requestId).to.equal(id);
    }
    for (const id of ['x'.repeat(129), 'a b', 'ä', 'a,b', '']) {
      const reply = await world.call('GET', '/mailboxes', undefined, { 'X-Request-Id': id });
      expect(reply.headers.get('X-Request-Id')).to.match(uuid);
    }
  });

  it('every answer has X-API-Version: 1, even without a key', async () => {
    for (const target of ['/healthz', '/readyz', '/openapi.json', '/nothing', path]) {
      const reply = await as(undefined, target);
      expect(reply.headers.get('X-API-Version'), target).to.equal('1');
      expect(reply.headers.get('X-Request-Id'), target).to.match(uuid);
    }
    expect((await as(undefined, '/openapi.json')).body.openapi).to.match(/^3\.1\./);
    for (const target of ['/healthz', '/readyz']) expect((await as(undefined, target)).status).to.equal(200);
  });
});
