import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createKey, listKeys, revokeKey, rotateKey, showOrganization } from '../../../src/primitives/org/admin.ts';
import { rejectionOf } from '../../support/own-store.ts';
import { allPermissions, codeOf, type Reply, World } from '../../support/world.ts';

const dayMs = 86_400_000;
const noon = Date.UTC(2026, 4, 10, 12);
const iso = (at: number): string => new Date(at).toISOString();

describe('A key with an end', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create({ plan: 'free' });
    await world.at(noon);
  });
  const key = (expiresInDays?: number) =>
    createKey(world.service, {
      org: world.org,
      permissions: allPermissions,
      ...(expiresInDays !== undefined && { expiresInDays }),
    });
  const ask = async (apiKey: string): Promise<string> => {
    const reply = await world.call('GET', '/mailboxes', undefined, { Authorization: `Bearer ${apiKey}` });
    return reply.status === 200 ? '200' : codeOf(reply);
  };
  const used = async (): Promise<number> => (await showOrganization(world.service, world.org)).usage.keys;

  it('is refused from that moment on, as one that does not exist, and counts no more', async () => {
    const { apiKey, expiresAt } = await key(2);
    expect(expiresAt).to.equal(iso(noon + 2 * dayMs));
    await world.at(noon + 2 * dayMs - 1);
    expect(await ask(apiKey)).to.equal('200');
    expect(await used()).to.equal(2);
    await world.at(noon + 2 * dayMs);
    expect(await ask(apiKey)).to.equal('401 INVALID_API_KEY');
    expect(await used()).to.equal(1);
  });

  it('leaves its room in the plan to another one', async () => {
    for (let made = 1; made < 10; made++) await key(1);
    expect(await rejectionOf(key())).to.equal('ENTITLEMENT_EXCEEDED');
    await world.at(noon + dayMs);
    expect((await key()).expiresAt).to.equal(null);
    expect(await used()).to.equal(2);
  });

  it('goes on beside the key that replaces it for so many hours; both count', async () => {
    const old = await createKey(world.service, {
      org: world.org,
      permissions: ['coordination_read', 'coordination_write'],
      spaces: [world.spaceId],
      holder: 'h',
      name: 'n',
      expiresInDays: 30,
    });
    const fresh = await rotateKey(world.service, { org: world.org, keyId: old.keyId, overlapHours: 24 });
    const { keyId, apiKey, replaced, createdAt: _, ...rights } = fresh;
    const { keyId: _old, apiKey: oldKey, createdAt: _at, ...same } = old;
    expect(rights).to.deep.equal(same);
    expect(keyId).to.not.equal(old.keyId);
    expect(replaced.expiresAt).to.equal(iso(noon + dayMs));
    expect(await used()).to.equal(3);
    expect([await ask(oldKey), await ask(apiKey)]).to.deep.equal(['200', '200']);
    await world.at(noon + dayMs);
    expect([await ask(oldKey), await ask(apiKey)]).to.deep.equal(['401 INVALID_API_KEY', '200']);
    expect(await used()).to.equal(2);
    const again = () => rotateKey(world.service, { org: world.org, keyId: old.keyId, overlapHours: 1 });
    expect(await rejectionOf(again())).to.equal('KEY_ENDED');
  });

  it('ends no later by a rotation, and at once with an overlap of 0, which needs no room', async () => {
    const soon = await key(1);
    const { replaced } = await rotateKey(world.service, { org: world.org, keyId: soon.keyId, overlapHours: 48 });
    expect(replaced.expiresAt).to.equal(soon.expiresAt);
    const plain = await key();
    while ((await used()) < 10) await key();
    const rotate = (overlapHours: number) =>
      rotateKey(world.service, { org: world.org, keyId: plain.keyId, overlapHours });
    expect(await rejectionOf(rotate(1))).to.equal('ENTITLEMENT_EXCEEDED');
    const { apiKey, expiresAt } = await rotate(0);
    expect(expiresAt).to.equal(null);
    expect([await ask(plain.apiKey), await ask(apiKey)]).to.deep.equal(['401 INVALID_API_KEY', '200']);
    expect(await used()).to.equal(10);
    for (const wrong of [-1, 1.5, Number.NaN, 8_761])
      expect(await rejectionOf(rotate(wrong))).to.equal('VALIDATION_FAILED');
  });

  it('has the day of its last use, which its first call of a day writes', async () => {
    const { keyId, apiKey } = await key();
    const lastUsedAt = async () =>
      (await listKeys(world.service, world.org)).find((one) => one.keyId === keyId)?.lastUsedAt;
    expect(await lastUsedAt()).to.equal(null);
    // No earlier than it was made.
    await ask(apiKey);
    expect(await lastUsedAt()).to.equal(iso(noon));
    await world.at(noon + dayMs);
    expect(await lastUsedAt()).to.equal(iso(noon));
    await ask(apiKey);
    expect(await lastUsedAt()).to.equal(iso(noon + dayMs / 2));
    await world.at(noon + 1.4 * dayMs);
    await ask(apiKey);
    expect(await lastUsedAt()).to.equal(iso(noon + dayMs / 2));
  });
});

describe('The keys of an earlier version', () => {
  it('are listed, used and refused as they were, though it kept no list of them', async () => {
    const world = await World.create();
    const { service, org } = world;
    const revoked = await createKey(service, { org, permissions: allPermissions });
    await revokeKey(service, org, revoked.keyId);
    const ids = (await listKeys(service, org)).map(({ keyId }) => keyId);
    await service.store.del(`muster:{${org}}:keyIds`);
    for (const digest of await service.store.hvals(`muster:{${org}}:keys`))
      await service.store.hdel(`muster:{${org}}:key:${digest}`, 'plain', 'usedDay', 'mailboxes', 'holder');
    expect((await listKeys(service, org)).map(({ keyId }) => keyId)).to.deep.equal(ids);
    expect((await world.get('/mailboxes')).status).to.equal(200);
    const ask = { Authorization: `Bearer ${revoked.apiKey}` };
    expect(codeOf(await world.call('GET', '/mailboxes', undefined, ask))).to.equal('401 INVALID_API_KEY');
    const { keyId } = await createKey(service, { org, permissions: allPermissions });
    expect((await listKeys(service, org)).map((key) => key.keyId)).to.deep.equal([...ids, keyId]);
    expect(await service.store.zcard(`muster:{${org}}:keyIds`)).to.equal(3);
  });
});

describe('A key that is bound to a holder', () => {
  let world: World;
  let headers: { Authorization: string };
  let mailboxId: string;
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create();
    headers = { Authorization: `Bearer ${await world.key(allPermissions, undefined, { holder: 'agent 1' })}` };
    mailboxId = (await world.mustPost('/mailboxes', { name: 'm' })).id;
  });

  /** Each call that takes a name, with all that it needs but that. */
  async function calls(): Promise<Record<string, [path: string, body: object]>> {
    const budget = { name: `b-${randomUUID()}`, currency: 'EUR', scale: 2, limitMinor: '100' };
    const { id: budgetId } = await world.mustPost('/budgets', budget);
    const allowance = { name: `a-${randomUUID()}`, unitsLimit: 9, windowSeconds: 3600 };
    const { id: allowanceId } = await world.mustPost('/allowances', allowance);
    const { id: poolId } = await world.mustPost('/pools', { name: `p-${randomUUID()}`, units: 9 });
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
    return {
      recv: [`/mailboxes/${mailboxId}/recv`, { scopeId, holderSession: 's' }],
      reserve: [`/budgets/${budgetId}/reserve`, { scopeId, amountMinor: '1' }],
      consume: [`/allowances/${allowanceId}/consume`, { scopeId, units: 1 }],
      wait: [`/allowances/${allowanceId}/wait`, { scopeId, units: 1 }],
      acquire: [`/pools/${poolId}/acquire`, { scopeId }],
      question: ['/questions', { scopeId, question: 1 }],
    };
  }
  const refusal = (reply: Reply): string => `${codeOf(reply)}: ${reply.body.error.message}`;

  it('acts under that name, given or left out, in its own answers and in their replays', async () => {
    for (const given of [{}, { holder: 'agent 1' }, { holder: null }])
      for (const [name, [path, body]] of Object.entries(await calls())) {
        const key = { ...headers, 'Idempotency-Key': randomUUID() };
        const first = await world.post(path, { ...body, ...given }, key);
        expect(first.body.holder, `${name} ${first.text}`).to.equal('agent 1');
        if (name === 'recv') continue;
        expect((await world.post(path, { ...body, ...given }, key)).body.holder, name).to.equal('agent 1');
      }
    const many = await world.post(
      `/mailboxes/${mailboxId}/recv`,
      { scopeId: '*', holderSession: 's', max: 5 },
      headers,
    );
    expect(many.status).to.equal(204);
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
    const one = await world.post(`/mailboxes/${mailboxId}/recv`, { scopeId: '*', holderSession: 's', max: 5 }, headers);
    expect(one.body.messages[0].holder).to.equal('agent 1');
    expect((await world.get(`/messages/${one.body.messages[0].id}`)).body.holder).to.equal('agent 1');
  });

  it('acts under no other name', async () => {
    for (const [name, [path, body]] of Object.entries(await calls()))
      expect(refusal(await world.post(path, { ...body, holder: 'agent 2' }, headers)), name).to.equal(
        '403 PERMISSION_DENIED: the API key is bound to a holder: holder must be "agent 1", or be left out',
      );
    const { id } = await world.mustPost('/questions', { scopeId, question: 1 });
    expect(refusal(await world.post(`/questions/${id}/answer`, { answer: 1, answeredBy: 'x' }, headers))).to.equal(
      '403 PERMISSION_DENIED: the API key is bound to a holder: answeredBy must be "agent 1", or be left out',
    );
    const { body } = await world.post(`/questions/${id}/answer`, { answer: 1 }, headers);
    expect(body.answeredBy).to.equal('agent 1');
  });

  it('may look for what others hold', async () => {
    expect((await world.call('GET', '/pool-holds?holder=agent%202', undefined, headers)).status).to.equal(200);
  });

  it('is the only one that may leave its name out', async () => {
    for (const [name, [path, body]] of Object.entries(await calls())) {
      const reply = await world.post(path, body);
      if (name === 'question') expect(reply.body.holder).to.equal(null);
      else
        expect(refusal(reply), name).to.equal(
          '400 VALIDATION_FAILED: holder is missing: it must be a string of 1 to 256 characters, without control ' +
            'characters; only a key that is bound to a holder may leave it out',
        );
    }
    const { id } = await world.mustPost('/questions', { scopeId, question: 1 });
    expect(codeOf(await world.post(`/questions/${id}/answer`, { answer: 1 }))).to.equal('400 VALIDATION_FAILED');
  });
});
