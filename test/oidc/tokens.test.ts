import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { exportJWK, type JWTHeaderParameters, SignJWT, UnsecuredJWT } from 'jose';
import { listAudit } from '../../src/primitives/org/admin.ts';
import type { MusterService } from '../../src/service.ts';
import { Agent } from '../mcp/agent.ts';
import { allPermissions, codeOf, type Reply, World } from '../support/world.ts';
import { keyOf, OwnIssuer } from './own-issuer.ts';
import { audience, inSeconds, type Lines, serviceFor } from './signed-in.ts';

describe('Tokens of the issuer', () => {
  const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
  const lines: Lines = [];
  const sent: string[] = [];
  let issuer: OwnIssuer;
  let service: MusterService;
  let world: World;
  before(async () => {
    issuer = await OwnIssuer.start(
      await keyOf('first'),
      ...(await Promise.all(algorithms.map((alg) => keyOf(alg, alg)))),
    );
    service = await serviceFor(issuer.url, {}, { lines });
    world = await World.create({ on: service });
  });
  after(async () => {
    await service?.stop();
    await issuer?.stop();
  });

  /** The claims of a token that may do everything, with changes. */
  const claims = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
    iss: issuer.url,
    aud: audience,
    sub: 'alice',
    exp: inSeconds(300),
    muster: { org: world.org, permissions: allPermissions },
    ...changes,
  });
  const may = (changes: Record<string, unknown>) =>
    claims({ muster: { org: world.org, permissions: allPermissions, ...changes } });
  const call = (token: string, method: string, path: string, body?: unknown): Promise<Reply> => {
    sent.push(token);
    return world.call(method, path, body, { Authorization: `Bearer ${token}` });
  };
  const get = async (given: Record<string, unknown>, path = '/mailboxes', header = {}): Promise<string> =>
    codeOf(await call(await issuer.sign(given, header), 'GET', path));
  const refused = '401 INVALID_API_KEY';

  it('are Bearer tokens in requests, batches and over MCP, with the permissions of their claim', async () => {
    const token = await issuer.sign(claims());
    const { status, body } = await call(token, 'POST', '/mailboxes', { name: 'jobs' });
    expect(status).to.equal(201);
    const scopeId = randomUUID();
    const send = { call: 'message.send', mailboxId: body.id, scopeId, payload: 1 };
    const batch = await call(token, 'POST', '/batch', { calls: [send] });
    expect(batch.body.results[0].status).to.equal(201);
    const agent = await Agent.connect(world, { key: token });
    const work = { mailboxId: body.id, scopeId, holder: agent.name, holderSession: 's' };
    expect((await agent.mustCall('message_recv', work)).payload).to.equal(1);
    await agent.close();

    const reads = await issuer.sign(may({ permissions: ['coordination_read'] }));
    expect(codeOf(await call(reads, 'GET', '/mailboxes'))).to.equal('200');
    expect(codeOf(await call(reads, 'POST', '/mailboxes', { name: 'more' }))).to.equal('403 PERMISSION_DENIED');
  });

  it('may be signed by each algorithm with a key pair', async () => {
    for (const { alg, kid } of issuer.keys) {
      const key = issuer.keys.find((one) => one.kid === kid);
      const token = await issuer.sign(claims(), {}, key);
      expect([alg, codeOf(await call(token, 'GET', '/mailboxes'))]).to.deep.equal([alg, '200']);
    }
  });

  it('give nothing for permissions that are unknown, and never key_admin', async () => {
    for (const permissions of [[], [''], ['all'], ['COORDINATION_READ'], ['coordination_read,coordination_write']])
      expect(await get(may({ permissions }))).to.equal('403 PERMISSION_DENIED');
    expect(await get(may({ permissions: ['all', 'key_admin', 'coordination_read'] }))).to.equal('200');
  });

  it('may be limited to spaces, to none as well', async () => {
    const other = await world.anotherSpace();
    const visible = async (spaces: unknown): Promise<string[]> => {
      const Authorization = `Bearer ${await issuer.sign(may({ spaces }))}`;
      const { body } = await world.send('GET', '/v1/spaces', undefined, { Authorization });
      return body.spaces.map(({ id }: { id: string }) => id);
    };
    expect(await get(may({ spaces: [other.spaceId] }))).to.equal('403 PERMISSION_DENIED');
    expect(await get(may({ spaces: [other.spaceId, world.spaceId.toUpperCase()] }))).to.equal('200');
    expect(await get(may({ spaces: [] }))).to.equal('403 PERMISSION_DENIED');
    expect(await get(may({ spaces: null }))).to.equal('200');
    expect(await visible([])).to.deep.equal([]);
    expect(await visible([other.spaceId])).to.deep.equal([other.spaceId]);
    expect(await visible(undefined)).to.have.members([world.spaceId, other.spaceId]);
  });

  it('reach no other organization', async () => {
    const stranger = await World.create({ on: service });
    expect(await get(may({ org: stranger.org }))).to.equal('404 SPACE_NOT_FOUND');
  });

  it('are INVALID_API_KEY where anything in them is wrong', async () => {
    const wrong: Record<string, Record<string, unknown>> = {
      'another issuer': { iss: `${issuer.url}/` },
      'no issuer': { iss: undefined },
      'another audience': { aud: 'https://other.test' },
      'no audience': { aud: undefined },
      'the audience of MCP, elsewhere': { aud: `${world.url}/v1/spaces/${world.spaceId}/mcp` },
      'no end': { exp: undefined },
      'an end that is no number': { exp: String(inSeconds(300)) },
      ended: { exp: inSeconds(-61) },
      'not yet begun': { nbf: inSeconds(70) },
      'no claim': { muster: undefined },
      'a claim that is null': { muster: null },
      'a claim that is text': { muster: 'coordination_read' },
      'a claim that is a list': { muster: [world.org] },
      'no organization': { muster: { permissions: allPermissions } },
      'an unknown organization': { muster: { org: 'nobody-has-this', permissions: allPermissions } },
      'no organization id': { muster: { org: 'a:b{c}', permissions: allPermissions } },
      'an organization that is a list': { muster: { org: [world.org], permissions: allPermissions } },
      'no permissions': { muster: { org: world.org } },
      'permissions in a text': { muster: { org: world.org, permissions: 'coordination_read' } },
      'a list of permissions in a text': { muster: { org: world.org, permissions: '["coordination_read"]' } },
      'permissions that are numbers': { muster: { org: world.org, permissions: [1] } },
      'spaces in a text': { muster: { org: world.org, permissions: allPermissions, spaces: world.spaceId } },
      'spaces that are none': { muster: { org: world.org, permissions: allPermissions, spaces: ['*'] } },
      'a subject with a control character': { sub: 'alice\u0000' },
    };
    for (const [name, changes] of Object.entries(wrong))
      expect([name, await get(claims(changes))]).to.deep.equal([name, refused]);
    expect(await get(claims())).to.equal('200');
  });

  it('allow for clocks that differ by a minute', async () => {
    expect(await get(claims({ exp: inSeconds(-50) }))).to.equal('200');
    expect(await get(claims({ nbf: inSeconds(50) }))).to.equal('200');
  });

  it('have the claim under the name of the setting, as an object or as its JSON', async () => {
    const named = await serviceFor(issuer.url, { claim: 'https://muster.test/claim' });
    const grant = { org: world.org, permissions: ['coordination_read'] };
    const status = async (given: Record<string, unknown>): Promise<number> => {
      const Authorization = `Bearer ${await issuer.sign({ ...claims(), muster: undefined, ...given })}`;
      return (await fetch(`${named.url}/v1/spaces/${world.spaceId}/mailboxes`, { headers: { Authorization } })).status;
    };
    expect(await status({ 'https://muster.test/claim': grant })).to.equal(200);
    expect(await status({ 'https://muster.test/claim': JSON.stringify(grant) })).to.equal(200);
    expect(await status({ muster: grant })).to.equal(401);
    await named.stop();
  });

  it('are INVALID_API_KEY where the signature is not by a key of the issuer, whatever the header says', async () => {
    const [first] = issuer.keys;
    const foreign = await keyOf('foreign');
    const secret = new TextEncoder().encode(JSON.stringify(first?.jwk));
    const good = await issuer.sign(claims());
    const [head = '', body = '', signature = ''] = good.split('.');
    const byForeign = (header: Partial<JWTHeaderParameters> & Record<string, unknown>) =>
      issuer.sign(claims(), header as Partial<JWTHeaderParameters>, foreign);
    const forged: Record<string, string> = {
      'an unknown key': await byForeign({}),
      'the name of a known key': await byForeign({ kid: 'first' }),
      'its own key': await byForeign({ kid: 'first', jwk: await exportJWK(foreign.privateKey) }),
      'where its key lies': await byForeign({ kid: 'first', jku: `${issuer.url}/keys` }),
      'a certificate of its own': await byForeign({ kid: 'first', x5u: `${issuer.url}/keys` }),
      'where the right key lies': await issuer.sign(claims(), { jku: `${issuer.url}/keys` }),
      'a secret': await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret),
      'no signature': new UnsecuredJWT(claims()).encode(),
      'an empty signature': `${head}.${body}.`,
      'another body': `${head}.${Buffer.from(JSON.stringify(may({ org: 'other' }))).toString('base64url')}.${signature}`,
      'a header that must be understood': await issuer
        .sign(claims(), { crit: ['b64'], b64: false } as never)
        .catch(() => 'a.b.c'),
      'no JSON': 'aaaa.bbbb.cccc',
      'no token': 'eyJ',
    };
    for (const [name, token] of Object.entries(forged))
      expect([name, codeOf(await call(token, 'GET', '/mailboxes'))]).to.deep.equal([name, refused]);
    expect(codeOf(await call(good, 'GET', '/mailboxes'))).to.equal('200');
  });

  it('end by their exp and the store’s clock, also while a watch is held', async () => {
    const timed = await World.create({ on: service });
    const ends = inSeconds(120);
    const token = await issuer.sign(may({ org: timed.org }), {});
    const short = await issuer.sign({ ...may({ org: timed.org }), exp: ends });
    const ask = (key: string) => timed.call('GET', '/mailboxes', undefined, { Authorization: `Bearer ${key}` });
    expect(codeOf(await ask(short))).to.equal('200');
    const headers = { Authorization: `Bearer ${short}` };
    const watching = timed.call('GET', '/watch?waitSeconds=20', undefined, headers);
    while (service.feeds.size === 0) await nextTurn();
    await timed.at((ends + 59) * 1000);
    expect(codeOf(await ask(short))).to.equal('200');
    await timed.at((ends + 60) * 1000);
    expect(codeOf(await ask(short))).to.equal(refused);
    await timed.mustPost('/mailboxes', { name: 'jobs' });
    expect(codeOf(await watching)).to.equal(refused);
    expect(codeOf(await ask(token))).to.equal('200');
  });

  it('are named in the audit trail by their subject', async () => {
    const actors = async () => (await listAudit(service, world.org)).entries.map(({ actor }) => actor);
    const budget = { name: randomUUID(), currency: 'EUR', scale: 2, limitMinor: '1' };
    await call(await issuer.sign(claims({ sub: 'bob|a b%' })), 'POST', '/budgets', budget);
    await call(await issuer.sign(claims({ sub: undefined, client_id: 'robot' })), 'POST', '/budgets', {
      ...budget,
      name: randomUUID(),
    });
    expect(await actors()).to.include.members(['oidc:bob|a b%', 'oidc:robot']);
  });

  it('have Idempotency-Keys of their own for each subject, or each client_id or azp where there is none', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'keyed' });
    const send = async (changes: Record<string, unknown>): Promise<[string, boolean]> => {
      const headers = { Authorization: `Bearer ${await issuer.sign(claims(changes))}`, 'Idempotency-Key': 'same' };
      const sent = await world.post(`/mailboxes/${id}/messages`, { scopeId: id, payload: 1 }, headers);
      return [sent.body.id, sent.headers.get('Idempotent-Replayed') === 'true'];
    };
    const nobody = { sub: undefined };
    const callers = [{}, { sub: 'bob' }, { ...nobody, client_id: 'app' }, { ...nobody, azp: 'site' }];
    const found: string[] = [];
    for (const caller of callers) {
      const [sent, isReplay] = await send(caller);
      expect(isReplay).to.equal(false);
      found.push(sent);
      // Another token, with other rights and another end.
      const again = { ...may({ permissions: ['coordination_write'] }), ...caller, exp: inSeconds(900) };
      expect(await send(again)).to.deep.equal([sent, true]);
    }
    expect(new Set(found).size).to.equal(callers.length);
  });

  it('are looked at only where there is no API key', async () => {
    const before = issuer.fetches;
    issuer.fails = 500;
    for (let i = 0; i < 3; i++) expect(codeOf(await world.get('/mailboxes'))).to.equal('200');
    expect(
      codeOf(await world.call('GET', '/mailboxes', undefined, { Authorization: `Bearer mk_${world.org}_x` })),
    ).to.equal(refused);
    issuer.fails = undefined;
    expect(issuer.fetches).to.equal(before);
  });

  it('are in no log line, which says why one was refused', async () => {
    expect(sent.length).to.be.above(50);
    const log = lines.join('');
    for (const token of sent)
      for (const part of token.split('.')) if (part.length > 8) expect(log).to.not.include(part);
    expect(log).to.include('"reason":"token refused: ERR_JWT_EXPIRED exp"');
    expect(log).to.include('"reason":"token refused: ERR_JWT_CLAIM_VALIDATION_FAILED aud"');
    expect(log).to.include('"reason":"token refused: claim muster"');
  });
});
