import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listAudit, listKeys, type NewKey, showOrganization } from '../../../src/primitives/org/admin.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';

const reading = ['coordination_read'];
const daysMs = 86_400_000;

describe('API keys over REST', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create();
  });

  /** A caller with a key of these limits. */
  async function caller(permissions: string[], spaces?: string[], limits?: Partial<NewKey>) {
    const apiKey = await world.key(permissions, spaces, limits);
    const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      world.send(method, path, body === undefined ? undefined : JSON.stringify(body), {
        Authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      });
    return {
      apiKey,
      create: (body: object, headers?: Record<string, string>) => send('POST', '/v1/keys', body, headers),
      list: (query = '') => send('GET', `/v1/keys${query}`),
      revoke: (id: string, headers?: Record<string, string>) => send('DELETE', `/v1/keys/${id}`, undefined, headers),
    };
  }
  const refusal = (reply: Reply): string => `${codeOf(reply)}: ${reply.body.error.message}`;
  const mailbox = async (of = world): Promise<string> =>
    (await of.mustPost('/mailboxes', { name: `m-${randomUUID()}` })).id;
  const census = (key: string): Promise<Reply> =>
    world.call('GET', '/census', undefined, { Authorization: `Bearer ${key}` });

  it('need key_admin, which allows nothing else, and which no other permission includes', async () => {
    const admin = await caller(['key_admin']);
    const other = await caller(['coordination_read', 'coordination_write', 'resource_config', 'resource_spend']);
    for (const reply of [
      await other.list(),
      await other.create({ permissions: reading }),
      await other.revoke(randomUUID()),
    ])
      expect(refusal(reply)).to.equal('403 PERMISSION_DENIED: the API key lacks the permission key_admin');
    expect((await admin.list()).status).to.equal(200);
    expect(codeOf(await census(admin.apiKey))).to.equal('403 PERMISSION_DENIED');
    // A mistake is only told to a caller who may call.
    expect(codeOf(await other.create({}))).to.equal('403 PERMISSION_DENIED');
    expect(codeOf(await admin.create({}))).to.equal('400 VALIDATION_FAILED');
  });

  it('are made with every limit, shown once, used, and revoked at once', async () => {
    const admin = await caller(['key_admin', ...reading]);
    const mailboxId = await mailbox();
    const asked = {
      name: 'worker',
      permissions: reading,
      mailboxes: [mailboxId],
      holder: 'worker 7',
      expiresInDays: 90,
    };
    const { status, body } = await admin.create(asked);
    expect(status).to.equal(201);
    const { id, keyId, apiKey, createdAt, expiresAt, ...rest } = body;
    expect(keyId).to.equal(id);
    expect(apiKey).to.match(new RegExp(`^mk_${world.org}_[0-9A-Za-z]{43}$`));
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).to.equal(90 * daysMs);
    expect(rest).to.deep.equal({
      name: 'worker',
      permissions: reading,
      // The space of its mailboxes.
      spaces: [world.spaceId],
      mailboxes: [mailboxId],
      holder: 'worker 7',
      lastUsedAt: null,
      revokedAt: null,
    });
    expect((await census(apiKey)).status).to.equal(200);
    const [listed] = (await admin.list('?limit=1')).body.keys;
    expect({ ...listed, lastUsedAt: null }).to.deep.equal({ id, keyId, createdAt, expiresAt, ...rest });
    expect(listed.lastUsedAt).to.be.a('string');
    expect((await admin.revoke(id)).status).to.equal(204);
    expect(codeOf(await census(apiKey))).to.equal('401 INVALID_API_KEY');
    expect((await admin.revoke(id)).status).to.equal(204);
    expect((await admin.list('?limit=1')).body.keys[0].revokedAt).to.be.a('string');
    expect(codeOf(await admin.revoke(randomUUID()))).to.equal('404 KEY_NOT_FOUND');
  });

  it('are audited with the key that did it', async () => {
    const admin = await caller(['key_admin', ...reading]);
    const self = (await listKeys(world.service, world.org)).at(-1)?.keyId;
    const { body } = await admin.create({ permissions: reading, holder: 'h', expiresInDays: 1 });
    await admin.revoke(body.id);
    await admin.revoke(body.id);
    const { entries } = await listAudit(world.service, world.org, { limit: 2 });
    expect(entries.map(({ at: _at, ...entry }) => entry)).to.deep.equal([
      { action: 'key.revoked', actor: self, target: body.id, detail: {} },
      {
        action: 'key.created',
        actor: self,
        target: body.id,
        detail: { name: null, permissions: reading, spaces: [], holder: 'h', expiresInDays: 1 },
      },
    ]);
  });

  it('are no more than the caller has: permissions, spaces, mailboxes, holder and end', async () => {
    const sibling = await world.anotherSpace();
    const [mine, other, elsewhere] = [await mailbox(), await mailbox(), await mailbox(sibling)];
    const both = ['key_admin', ...reading];
    const limited = await caller(both, undefined, { mailboxes: [mine], holder: 'a', expiresInDays: 10 });
    const inSpace = await caller(both, [world.spaceId]);
    const within = { permissions: reading, mailboxes: [mine], spaces: [world.spaceId], holder: 'a', expiresInDays: 9 };
    expect((await limited.create(within)).status).to.equal(201);
    const beyond = async (by: { create(body: object): Promise<Reply> }, body: object, field: string) =>
      expect(refusal(await by.create(body)), field).to.equal(
        `403 PERMISSION_DENIED: the API key can give no more than it has itself: ${field} goes beyond it`,
      );
    await beyond(limited, { ...within, permissions: ['coordination_write'] }, 'permissions');
    await beyond(limited, { ...within, spaces: [sibling.spaceId] }, 'spaces');
    await beyond(limited, { ...within, spaces: undefined }, 'spaces');
    await beyond(limited, { ...within, mailboxes: [mine, other] }, 'mailboxes');
    await beyond(limited, { ...within, mailboxes: undefined }, 'mailboxes');
    await beyond(limited, { ...within, holder: 'b' }, 'holder');
    await beyond(limited, { ...within, expiresInDays: 11 }, 'expiresInDays');
    await beyond(limited, { ...within, expiresInDays: undefined }, 'expiresInDays');
    await beyond(inSpace, { permissions: reading }, 'spaces');
    // Where it is left out, the holder is the caller's own.
    expect((await limited.create({ ...within, holder: undefined })).body.holder).to.equal('a');
    const open = await caller(both);
    expect(codeOf(await open.create({ permissions: reading, spaces: [randomUUID()] }))).to.equal('409 SPACE_NOT_FOUND');
    for (const mailboxes of [[randomUUID()], [mine, elsewhere]])
      expect(codeOf(await open.create({ permissions: reading, mailboxes }))).to.equal('409 MAILBOX_NOT_FOUND');
    const spaces = [world.spaceId, sibling.spaceId];
    expect(refusal(await open.create({ permissions: reading, mailboxes: [mine], spaces }))).to.equal(
      '400 VALIDATION_FAILED: spaces: with mailboxes it must be the one space that they are in, or left out',
    );
  });

  it('are seen and revoked only if they lie within the caller', async () => {
    const sibling = await world.anotherSpace();
    const mine = await mailbox();
    const all = ['key_admin', ...reading];
    const wide = await caller(all);
    const narrow = await caller(all, undefined, { mailboxes: [mine], holder: 'a', expiresInDays: 10 });
    const within = { permissions: reading, mailboxes: [mine], holder: 'a', expiresInDays: 5 };
    const made: Record<string, string> = {};
    for (const [name, body] of Object.entries({
      within,
      permission: { ...within, permissions: ['key_admin', ...reading] },
      all: { permissions: reading },
      space: { permissions: reading, spaces: [sibling.spaceId], holder: 'a', expiresInDays: 5 },
      mailboxes: { ...within, mailboxes: undefined, spaces: [world.spaceId] },
      holder: { ...within, holder: 'b' },
      noHolder: { ...within, holder: undefined },
      end: { ...within, expiresInDays: 11 },
    }))
      made[name] = (await wide.create(body)).body.id;
    const seen = (await narrow.list()).body.keys.map(({ id }: { id: string }) => id);
    expect(seen).to.include.members([made['within'], made['permission']]);
    // The two, and itself.
    expect(seen).to.have.length(3);
    for (const [name, id] of Object.entries(made)) {
      const expected = ['within', 'permission'].includes(name) ? '204' : '404 KEY_NOT_FOUND';
      const reply = await narrow.revoke(id);
      expect(reply.status === 204 ? '204' : codeOf(reply), name).to.equal(expected);
    }
    const stranger = await World.create();
    expect(codeOf(await wide.revoke((await listKeys(stranger.service, stranger.org))[0]?.keyId ?? ''))).to.equal(
      '404 KEY_NOT_FOUND',
    );
  });

  it('are listed newest first, over pages, which only their own list continues', async () => {
    const admin = await caller(['key_admin', ...reading]);
    for (let made = 0; made < 5; made++) await admin.create({ permissions: reading, name: `k${made}` });
    const pages = async (): Promise<string[][]> => {
      const found: string[][] = [];
      for (let query: string | undefined = '?limit=2'; query !== undefined; ) {
        const { body }: Reply = await admin.list(query);
        found.push(body.keys.map(({ name }: { name: string }) => name));
        query = body.nextCursor === null ? undefined : `?limit=2&cursor=${body.nextCursor}`;
      }
      return found;
    };
    // Before the five there is the caller's own; the key of the space's owner goes beyond it, so the last page is empty.
    const all = [['k4', 'k3'], ['k2', 'k1'], ['k0', null], []];
    expect(await pages()).to.deep.equal(all);
    await world.service.store.del(`muster:{${world.org}}:keyIds`);
    expect(await pages(), 'of an earlier version, which kept no list of them').to.deep.equal(all);
    expect(codeOf(await admin.list('?cursor=abc'))).to.equal('400 INVALID_CURSOR');
    expect(codeOf(await admin.list('?limit=0'))).to.equal('400 VALIDATION_FAILED');
  });

  it('answer a repeated request once more, without the key itself, and refuse another one with its Idempotency-Key', async () => {
    const admin = await caller(['key_admin', ...reading]);
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await admin.create({ permissions: reading }, headers);
    const again = await admin.create({ permissions: reading }, headers);
    expect(again.status).to.equal(201);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.body).to.deep.equal({ ...first.body, apiKey: null });
    expect(codeOf(await admin.create({ permissions: ['key_admin'] }, headers))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    expect((await census(first.body.apiKey)).status).to.equal(200);
    const used = (await showOrganization(world.service, world.org)).usage.keys;
    expect(used).to.equal(3);
    const revoking = { 'Idempotency-Key': randomUUID() };
    for (const replayed of [null, 'true']) {
      const reply = await admin.revoke(first.body.id, revoking);
      expect([reply.status, reply.headers.get('idempotent-replayed')]).to.deep.equal([204, replayed]);
    }
    // Another organization, and a space, know nothing of it.
    const other = await World.create();
    const theirs = await other.key(['key_admin', ...reading]);
    const elsewhere = await other.send('POST', '/v1/keys', JSON.stringify({ permissions: reading }), {
      Authorization: `Bearer ${theirs}`,
      'Content-Type': 'application/json',
      ...headers,
    });
    expect(elsewhere.body.apiKey).to.be.a('string');
    expect(elsewhere.headers.get('idempotent-replayed')).to.equal(null);
  });

  it("count in the plan's keys, and say so when none is left", async () => {
    world = await World.create({ plan: 'free' });
    const admin = await caller(['key_admin', ...reading]);
    for (let made = 2; made < 10; made++) expect((await admin.create({ permissions: reading })).status).to.equal(201);
    expect(refusal(await admin.create({ permissions: reading }))).to.equal(
      '409 ENTITLEMENT_EXCEEDED: the free plan allows 10 keys, and all are in use',
    );
  });

  it('are no calls of a batch', async () => {
    const { body } = await world.post('/batch', { calls: [{ call: 'key.create', permissions: reading }] });
    expect(body.results[0].body.error.code).to.equal('VALIDATION_FAILED');
    expect(await listKeys(world.service, world.org)).to.have.length(1);
  });

  it('have answers that are kept for two days, also that of the only such call of a day', async () => {
    const admin = await caller(['key_admin', ...reading]);
    const headers = { 'Idempotency-Key': randomUUID() };
    expect((await admin.create({ permissions: reading }, headers)).status).to.equal(201);
    const { store } = world.service;
    const [name = '', ...more] = await store.keys(`muster:{${world.org}}:idempotency:*`);
    expect(more).to.deep.equal([]);
    expect(await store.pttl(name)).to.be.within(1, 2 * 86_400_000);
    const again = await admin.create({ permissions: reading }, headers);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
  });
});
