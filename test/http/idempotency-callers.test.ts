import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createKey, rotateKey } from '../../src/primitives/org/admin.ts';
import { Agent } from '../mcp/agent.ts';
import { allPermissions, codeOf, type Reply, World } from '../support/world.ts';

const hours = 3_600_000;
const scopeId = randomUUID();

describe('An Idempotency-Key belongs to its caller', () => {
  let world: World;
  let mailboxId: string;
  let other: string;
  const as = (apiKey: string, key = 'same') => ({ 'Idempotency-Key': key, Authorization: `Bearer ${apiKey}` });
  const send = (apiKey: string, payload: unknown = 1): Promise<Reply> =>
    world.post(`/mailboxes/${mailboxId}/messages`, { scopeId, payload }, as(apiKey));
  const isReplay = ({ headers }: Reply): boolean => headers.get('Idempotent-Replayed') === 'true';
  /** The id that each answered, and whether it was a replay. */
  const found = (reply: Reply) => [reply.body.id, isReplay(reply)];

  beforeEach(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
    other = await world.key(allPermissions);
  });

  it('the same key from another key is another request, and each finds its own answer', async () => {
    const third = await world.key(allPermissions);
    const sent = [await send(world.apiKey), await send(other), await send(third)];
    expect(sent.map(({ status }) => status)).to.deep.equal([201, 201, 201]);
    const ids = sent.map(({ body }) => body.id);
    expect(new Set(ids).size).to.equal(3);
    const again = [await send(world.apiKey), await send(other), await send(third)];
    expect(again.map(found)).to.deep.equal(ids.map((id) => [id, true]));
    for (const apiKey of [world.apiKey, other, third])
      expect(codeOf(await send(apiKey, 2))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    const { body } = await world.get(`/mailboxes/${mailboxId}`);
    expect(body.counts.ready).to.equal(3);
  });

  it('a lock and a reservation cannot be had by another key’s Idempotency-Key', async () => {
    const pool = await world.mustPost('/pools', { name: 'lock', units: 1 });
    const ask = { scopeId, holder: 'h', ttlSeconds: 60 };
    const held = await world.post(`/pools/${pool.id}/acquire`, ask, as(world.apiKey));
    const waiting = await world.post(`/pools/${pool.id}/acquire`, ask, as(other));
    expect([held.body.state, waiting.body.state]).to.deep.equal(['HELD', 'WAITING']);
    expect(waiting.body.token).to.not.equal(held.body.token);
    const budget = { name: 'b', currency: 'EUR', scale: 2, limitMinor: '15' };
    const { id } = await world.mustPost('/budgets', budget);
    const reserve = (apiKey: string): Promise<Reply> =>
      world.post(`/budgets/${id}/reserve`, { scopeId, holder: 'h', amountMinor: '10' }, as(apiKey, 'reserve'));
    expect((await reserve(world.apiKey)).status).to.equal(201);
    expect(codeOf(await reserve(other))).to.equal('409 INSUFFICIENT_BUDGET');
  });

  it('holds in batches, atomic or not, over MCP and for calls of no space', async () => {
    const plain = { call: 'message.send', mailboxId, scopeId, payload: 1 };
    const doors: Record<string, (apiKey: string) => Promise<Reply>> = {
      batch: (apiKey) => world.post('/batch', { calls: [plain] }, as(apiKey, 'b')),
      'a call of a batch': (apiKey) =>
        world.post('/batch', { calls: [{ ...plain, idempotencyKey: 'same' }] }, as(apiKey, 'other')),
      'an atomic batch': (apiKey) => world.post('/batch', { atomic: true, calls: [plain] }, as(apiKey, 'a')),
    };
    for (const [door, through] of Object.entries(doors)) {
      const [first, second] = [await through(world.apiKey), await through(other)];
      const idOf = ({ body, text }: Reply): string => body.results?.[0].body?.id ?? text;
      expect(idOf(second), door).to.not.equal(idOf(first));
      expect(idOf(await through(world.apiKey)), door).to.equal(idOf(first));
      expect(idOf(await through(other)), door).to.equal(idOf(second));
    }
    const { body } = await world.get(`/mailboxes/${mailboxId}`);
    expect(body.counts.ready).to.equal(2 * Object.keys(doors).length);

    const sentBy = async (key: string): Promise<string> => {
      const agent = await Agent.connect(world, { key });
      const { value } = await agent.call('message_send', { mailboxId, scopeId, payload: 1, idempotencyKey: 'tool' });
      await agent.client.close();
      return value.id;
    };
    const [mine, theirs] = [await sentBy(world.apiKey), await sentBy(other)];
    expect(theirs).to.not.equal(mine);
    expect(await sentBy(world.apiKey)).to.equal(mine);

    const admins = [await world.key(['key_admin']), await world.key(['key_admin'])];
    const make = (apiKey: string): Promise<Reply> =>
      world.send('POST', '/v1/keys', JSON.stringify({ permissions: ['key_admin'] }), {
        ...as(apiKey),
        'Content-Type': 'application/json',
      });
    const made = [await make(admins[0] ?? ''), await make(admins[1] ?? '')];
    expect(made.map(isReplay)).to.deep.equal([false, false]);
    const remade = [await make(admins[0] ?? ''), await make(admins[1] ?? '')];
    expect(remade.map(found)).to.deep.equal(made.map(({ body }) => [body.id, true]));
  });

  it('a rotated key is the one it replaces, and so on, whatever limits it', async () => {
    const one = [world.spaceId];
    const kinds: Record<string, [string[] | undefined, object]> = {
      plain: [undefined, {}],
      'of one space': [one, {}],
      'bound to a holder': [undefined, { holder: 'h' }],
      'with an end': [one, { expiresInDays: 3 }],
    };
    for (const [kind, [spaces, limits]] of Object.entries(kinds)) {
      const { org, service } = world;
      const created = { org, permissions: allPermissions, ...(spaces && { spaces }), ...limits };
      let { apiKey, keyId } = await createKey(service, created);
      const chain = [apiKey];
      const sent = await send(apiKey);
      expect(isReplay(sent), kind).to.equal(false);
      for (let n = 1; n <= 3; n++) {
        ({ apiKey, keyId } = await rotateKey(service, { org, keyId, overlapHours: 1 }));
        chain.push(apiKey);
        // From the second call of a day on, the limits of a key are read from another field.
        for (const _ of [1, 2])
          expect(found(await send(apiKey)), `${kind}, rotated ${n} times`).to.deep.equal([sent.body.id, true]);
      }
      const later = (by: string): Promise<Reply> =>
        world.post(
          `/mailboxes/${mailboxId}/messages`,
          { scopeId, payload: 1 },
          as(by, `later-${kind.replaceAll(' ', '-')}`),
        );
      const { id } = (await later(apiKey)).body;
      for (const one of chain) expect(found(await later(one)), kind).to.deep.equal([id, true]);
      expect(isReplay(await later(other)), kind).to.equal(false);
    }
  });

  it('an answer is found for 24 hours, on the next day too, wherever those of other callers are', async () => {
    const noon = Date.UTC(2030, 0, 1, 12);
    await world.at(noon);
    const first = await send(world.apiKey);
    await world.at(noon + 6 * hours);
    const second = await send(other);
    await world.at(noon + 20 * hours);
    const third = await world.key(allPermissions);
    const theirs = await send(third);
    const expected = [first, second, theirs].map(({ body }) => [body.id, true]);
    for (const at of [20, 23]) {
      await world.at(noon + at * hours);
      expect([await send(world.apiKey), await send(other), await send(third)].map(found)).to.deep.equal(expected);
    }
    await world.at(noon + 24 * hours);
    const anew = await send(world.apiKey);
    expect(isReplay(anew)).to.equal(false);
    expect(found(await send(other))).to.deep.equal(expected[1]);
    await world.at(noon + 30 * hours);
    expect(isReplay(await send(other))).to.equal(false);
    expect([await send(world.apiKey), await send(third)].map(found)).to.deep.equal([[anew.body.id, true], expected[2]]);
  });

  it('200 calls at once by two keys with one Idempotency-Key are two requests', async () => {
    const replies = await Promise.all(Array.from({ length: 200 }, (_, n) => send(n % 2 ? other : world.apiKey)));
    const ids = (odd: number) => new Set(replies.filter((_, n) => n % 2 === odd).map(({ body }) => body.id));
    expect([ids(0).size, ids(1).size, new Set([...ids(0), ...ids(1)]).size]).to.deep.equal([1, 1, 2]);
    expect(replies.filter((one) => !isReplay(one)).length).to.equal(2);
  });

  it('an answer that an earlier version stored stands for every caller until it ends', async () => {
    const at = Date.UTC(2030, 0, 1, 12);
    await world.at(at);
    const sent = await send(world.apiKey);
    await forgetCallers(world);
    await world.at(at + 13 * hours);
    for (const apiKey of [other, world.apiKey]) {
      expect(found(await send(apiKey))).to.deep.equal([sent.body.id, true]);
      expect(codeOf(await send(apiKey, 2))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    }
    await world.at(at + 24 * hours);
    const anew = [await send(other), await send(world.apiKey)];
    expect(anew.map(isReplay)).to.deep.equal([false, false]);
    expect([await send(other), await send(world.apiKey)].map(found)).to.deep.equal(
      anew.map(({ body }) => [body.id, true]),
    );
  });
});

/** Stores all answers of the space as earlier versions did: without the names of their callers. */
async function forgetCallers({ service: { store }, prefix }: World): Promise<void> {
  for (const key of await store.keys(`${prefix}:idempotency:*`))
    for (const [field, value] of Object.entries(await store.hgetallBuffer(key)))
      await store.hset(key, field, value.subarray(0, -8));
}
