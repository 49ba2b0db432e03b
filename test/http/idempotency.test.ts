import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../support/world.ts';

const hours = 3_600_000;

describe('Idempotency-Key', () => {
  let world: World;
  let mailboxId: string;
  const scopeId = randomUUID();
  const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
  const send = (body: object, headers: Record<string, string>, on = world, id = mailboxId): Promise<Reply> =>
    on.post(`/mailboxes/${id}/messages`, { scopeId, ...body }, headers);
  const recv = (on = world, id = mailboxId) =>
    on.mustPost(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });

  beforeEach(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
  });

  /** Without the key that World adds. */
  const unkeyed = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
    world.send(method, `/v1/spaces/${world.spaceId}${path}`, JSON.stringify(body), {
      Authorization: `Bearer ${world.apiKey}`,
      'Content-Type': 'application/json',
      ...headers,
    });

  it('missing where required: 400 IDEMPOTENCY_KEY_REQUIRED', async () => {
    const id = randomUUID();
    const required: [string, string, object][] = [
      ['POST', '/mailboxes', { name: 'x' }],
      ['POST', `/mailboxes/${id}/messages`, { scopeId, payload: 1 }],
      ['POST', `/messages/${id}/renew`, { token: 'x' }],
      ['POST', `/messages/${id}/complete`, { token: 'x' }],
      ['POST', `/messages/${id}/nack`, { token: 'x', retry: true }],
      ['PUT', '/limits', {}],
    ];
    for (const [method, path, body] of required) {
      expect(codeOf(await unkeyed(method, path, body)), path).to.equal('400 IDEMPOTENCY_KEY_REQUIRED');
    }
  });

  it('1–255 visible ASCII characters, otherwise 400 IDEMPOTENCY_KEY_INVALID', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256), 'é', 'a\tb', 'a,b, c']) {
      expect(codeOf(await send({ payload: 1 }, keyed(key))), key).to.equal('400 IDEMPOTENCY_KEY_INVALID');
    }
    for (const key of ['!', '~', '{a}:*,"', 'x'.repeat(255)]) {
      expect((await send({ payload: 1 }, keyed(key))).status, key).to.equal(201);
    }
  });

  it('a replay is the stored status and body; a send answers 200, every replay member is true', async () => {
    const key = keyed();
    const created = await world.post('/mailboxes', { name: 'a', recipientId: 'r', backlogLimit: 7 }, key);
    const again = await world.post('/mailboxes', { name: 'a', recipientId: 'r', backlogLimit: 7 }, key);
    expect([again.status, again.text]).to.deep.equal([201, created.text]);
    expect(created.headers.get('Idempotent-Replayed')).to.equal(null);
    expect(again.headers.get('Idempotent-Replayed')).to.equal('true');
    expect(again.headers.get('RateLimit')).to.not.equal(null);

    const sendKey = keyed();
    const sent = await send({ payload: 1 }, sendKey);
    expect([sent.status, sent.body.replay]).to.deep.equal([201, false]);
    const { id, token } = await recv();
    const resent = await send({ payload: 1 }, sendKey);
    expect([resent.status, resent.body]).to.deep.equal([200, { ...sent.body, replay: true }]);
    const completeKey = keyed();
    const body = { token, result: { payload: 2, mailboxId, scopeId } };
    const done = await world.post(`/messages/${id}/complete`, body, completeKey);
    const redone = await world.post(`/messages/${id}/complete`, body, completeKey);
    expect([redone.status, redone.body]).to.deep.equal([200, { ...done.body, replay: true }]);
    expect(done.body.replay).to.equal(false);
    expect((await world.get('/mailboxes')).body.mailboxes.at(-1).counts).to.deep.equal({
      ready: 1,
      delayed: 0,
      blocked: 0,
      claimed: 0,
      failed: 0,
      acked: 1,
    });
  });

  it('a replayed renew extends nothing; a replayed nack or natural replay has the first answer', async () => {
    await world.at(Date.now());
    await send({ payload: 1, workKey: 'w' }, keyed());
    const dedupe = keyed();
    const known = await send({ payload: 2, workKey: 'w' }, dedupe);
    const { id, token } = await recv();
    expect((await send({ payload: 2, workKey: 'w' }, dedupe)).body).to.deep.equal(known.body);
    const renewKey = keyed();
    const now = Date.now();
    const renewed = await world.post(`/messages/${id}/renew`, { token }, renewKey);
    await world.at(now + 10_000);
    expect((await world.post(`/messages/${id}/renew`, { token }, renewKey)).text).to.equal(renewed.text);
    const { messages } = (await world.get(`/mailboxes/${mailboxId}/messages`)).body;
    expect(messages[0].leaseExpiresAt).to.equal(renewed.body.leaseExpiresAt);
    const nackKey = keyed();
    const nacked = await world.post(`/messages/${id}/nack`, { token, retry: true }, nackKey);
    await recv();
    expect((await world.post(`/messages/${id}/nack`, { token, retry: true }, nackKey)).text).to.equal(nacked.text);
  });

  it('same key with another body or endpoint: 422 IDEMPOTENCY_KEY_REUSED, nothing executed', async () => {
    const key = keyed();
    await send({ payload: 1 }, key);
    expect(codeOf(await send({ payload: 2 }, key))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    expect(codeOf(await world.post('/mailboxes', { name: 'x' }, key))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    expect(codeOf(await world.call('PUT', '/limits', {}, key))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    const { id: other } = await world.mustPost('/mailboxes', { name: 'other' });
    expect(codeOf(await send({ payload: 1 }, key, world, other))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    const destination = `/destinations/${(await world.mustPost('/destinations', { url: 'https://127.0.0.1:9/' })).id}`;
    const again = keyed();
    expect((await world.call('PATCH', destination, undefined, again)).status).to.equal(200);
    expect(codeOf(await world.call('DELETE', destination, undefined, again))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    const spaced = await unkeyed('POST', '/mailboxes', { name: 'x' }, { ...key });
    expect(codeOf(spaced)).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    expect((await world.eventTypes()).slice(1)).to.deep.equal([
      'scope.created',
      'message.sent',
      'mailbox.created',
      'destination.created',
    ]);
  });

  it('belongs to a space: the same key in another space is another request', async () => {
    const other = await world.anotherSpace();
    const { id } = await other.mustPost('/mailboxes', { name: 'jobs' });
    const key = keyed();
    expect((await send({ payload: 1 }, key)).status).to.equal(201);
    expect((await send({ payload: 2 }, key, other, id)).status).to.equal(201);
  });

  it('failures are not stored: the retry is evaluated again', async () => {
    const key = keyed();
    await world.call('PUT', '/limits', { maxBacklog: 1 });
    await send({ payload: 0 }, keyed());
    expect(codeOf(await send({ payload: 1 }, key))).to.equal('409 BACKLOG_FULL');
    await world.call('PUT', '/limits', { maxBacklog: null });
    const retried = await send({ payload: 1 }, key);
    expect([retried.status, retried.body.replay]).to.deep.equal([201, false]);
  });

  it('is kept for 24 hours by the clock of the store', async () => {
    const start = Date.now();
    await world.at(start);
    const key = keyed();
    const first = await send({ payload: 1 }, key);
    await world.at(start + 24 * hours - 1);
    expect((await send({ payload: 1 }, key)).body.id).to.equal(first.body.id);
    expect(codeOf(await send({ payload: 2 }, key))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    await world.at(start + 24 * hours);
    const later = await send({ payload: 2 }, key);
    expect([later.status, later.body.replay]).to.deep.equal([201, false]);
  });

  it('is found after the clock was set back over midnight, and after midnight again', async () => {
    const midnight = Math.ceil(Date.now() / (24 * hours)) * 24 * hours;
    const all: [Record<string, string>, string][] = [];
    for (const offset of [-2, 1, -1, 2]) {
      await world.at(midnight + offset);
      for (const [key, id] of all) expect((await send({ payload: 1 }, key)).body.id, `${offset}`).to.equal(id);
      const key = keyed();
      all.push([key, (await send({ payload: 1 }, key)).body.id]);
    }
  });

  it('recv ignores it, even an invalid one: every receive claims again', async () => {
    for (const payload of [1, 2, 3]) await send({ payload }, keyed());
    const key = keyed();
    const claims = [];
    for (const headers of [key, key, keyed('not valid')]) {
      const reply = await world.post(
        `/mailboxes/${mailboxId}/recv`,
        { scopeId, holder: 'h', holderSession: 's' },
        headers,
      );
      expect(reply.headers.get('Idempotent-Replayed')).to.equal(null);
      claims.push(reply.body.payload);
    }
    expect(claims).to.deep.equal([1, 2, 3]);
  });

  it('50 equal requests at once are executed once, and all answers are equal', async () => {
    const key = keyed();
    const replies = await Promise.all(Array.from({ length: 50 }, () => world.post('/mailboxes', { name: 'one' }, key)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
    expect(replies.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).to.have.lengthOf(1);
    const sendKey = keyed();
    const sent = await Promise.all(Array.from({ length: 50 }, () => send({ payload: 1 }, sendKey)));
    expect(new Set(sent.map(({ body }) => body.id)).size).to.equal(1);
    expect(sent.filter(({ status, body }) => status === 201 && !body.replay)).to.have.lengthOf(1);
    expect(sent.filter(({ status, body }) => status === 200 && body.replay)).to.have.lengthOf(49);
    expect((await world.eventTypes()).filter((type) => type === 'message.sent')).to.have.lengthOf(1);
  });

  it('takes at most 140 bytes for a send, and 110 plus a share of the table for a renewal', async () => {
    const { store } = world.service;
    const bytes = async (): Promise<number> => {
      const found = await store.keys(`${world.prefix}:idempotency:*`);
      // A table that grows is there twice until each command on it has moved a part.
      for (const name of found) await Promise.all(Array.from({ length: 1_024 }, () => store.hexists(name, '')));
      const sizes = found.map((name) => store.call('MEMORY', 'USAGE', name, 'SAMPLES', '0') as Promise<number>);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    };
    const many = async (count: number, call: (n: number) => object): Promise<void> => {
      const calls = Array.from({ length: count }, (_, n) => call(n));
      for (let n = 0; n < count; n += 100) await world.mustPost('/batch', { calls: calls.slice(n, n + 100) });
    };
    // More than Redis keeps in a compact encoding; the renewals fit into the resulting hash table.
    const [sends, renewals] = [600, 400];
    const keys = (n: number) => ({ workKey: `${n}`.padStart(512, 'x'), idempotencyKey: `${n}`.padStart(255, 'k') });
    await many(sends, (n) => ({ call: 'message.send', mailboxId, scopeId, payload: 1, ...keys(n) }));
    const sent = await bytes();
    expect(sent / sends).to.be.within(90, 140);
    const { id, token } = await recv();
    await many(renewals, () => ({ call: 'message.renew', messageId: id, token, idempotencyKey: randomUUID() }));
    expect(((await bytes()) - sent) / renewals).to.be.within(70, 110);
  });

  it('a cancel and a requeue are remembered without the payload, and answered with it', async () => {
    const { store } = world.service;
    const { body: sent } = await send({ payload: 'p'.repeat(60_000) }, keyed());
    for (const what of ['cancel', 'requeue']) {
      const key = keyed();
      const ask = (headers = key) => world.post(`/messages/${sent.id}/${what}`, undefined, headers);
      const before = new Set((await entries()).keys());
      const first = await ask();
      const added = [...(await entries())].filter(([digest]) => !before.has(digest));
      expect(added).to.have.lengthOf(1);
      expect(added[0]?.[1].length, `${what} in bytes`).to.be.below(500);
      expect(first.body.payload).to.have.lengthOf(60_000);
      // It goes on meanwhile, and the answer stays.
      if (what === 'requeue') await recv();
      const again = await ask();
      expect([again.status, again.body]).to.deep.equal([200, first.body]);
      expect(again.headers.get('Idempotent-Replayed')).to.equal('true');
    }

    async function entries(): Promise<Map<string, Buffer>> {
      const [key = ''] = (await store.keys(`${world.prefix}:idempotency:*`)).sort().slice(-1);
      const all = (await store.callBuffer('HGETALL', key)) as Buffer[];
      return new Map(all.flatMap((text, i) => (i % 2 === 0 ? [[text.toString('latin1'), all[i + 1] as Buffer]] : [])));
    }
  });
});
