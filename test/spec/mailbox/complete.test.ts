import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('POST /messages/{id}/complete', () => {
  let queue: Queue;
  let results: Queue;
  beforeEach(async () => {
    queue = await Queue.create();
    results = await Queue.create({ mode: 'INBOX' }, queue.world);
  });
  /** Sends a message to the queue and claims it. */
  const claimed = async () => {
    await queue.sent();
    return queue.claim();
  };
  const to = (fields: object = {}) => ({ mailboxId: results.id, scopeId: results.scopeId, payload: 'done', ...fields });

  it('acknowledges the message: ACKED, its task SUCCEEDED, and message.acked', async () => {
    const claim = await claimed();
    const reply = await queue.act('complete', claim);
    expect(reply.status).to.equal(200);
    expect(reply.body).to.deep.equal({
      id: claim.id,
      state: 'ACKED',
      taskId: claim.id,
      taskState: 'SUCCEEDED',
      resultMessageId: null,
      groupId: null,
      groupState: null,
      replay: false,
    });
    const message = await queue.message(claim.id);
    expect(message).to.include({ state: 'ACKED', reason: null, result: null, leaseExpiresAt: null, holder: 'worker' });
    expect(message.finishedAt).to.not.equal(null);
    expect((await queue.eventTypes()).at(-1)).to.equal('message.acked');
  });

  it('records a result that has only a payload, and does not publish it', async () => {
    const claim = await claimed();
    const { body } = await queue.act('complete', claim, { result: { payload: { n: [1] } } });
    expect(body.resultMessageId).to.equal(null);
    expect((await queue.message(claim.id)).result).to.deep.equal({ n: [1] });
    expect(await queue.eventTypes()).to.deep.equal(['message.sent', 'message.claimed', 'message.acked']);
  });

  it('records and publishes a result with mailboxId and scopeId in the same step: message.acked and message.sent', async () => {
    const claim = await claimed();
    const { body } = await queue.act('complete', claim, { result: to({ workKey: 'w' }) });
    expect((await queue.message(claim.id)).result).to.equal('done');
    const published = await results.claim();
    expect(published).to.include({ id: body.resultMessageId, payload: 'done', workKey: 'w', taskId: null });
    const { events } = (await queue.world.get('/events')).body;
    const emitted = events.slice(-4).map(({ type, requestId }: Record<string, string>) => [type, requestId]);
    expect(emitted.map(([type]: string[]) => type)).to.deep.equal([
      'message.acked',
      'scope.created',
      'message.sent',
      'message.claimed',
    ]);
    expect(new Set(emitted.slice(0, 3).map(([, requestId]: string[]) => requestId)).size).to.equal(1);
  });

  it('requires payload in result, mailboxId and scopeId together or neither, and workKey only with them; else 400', async () => {
    const claim = await claimed();
    const { mailboxId, scopeId, payload } = to();
    const wrong = [{}, { mailboxId, scopeId }, { payload, mailboxId }, { payload, scopeId }, { payload, workKey: 'w' }];
    for (const result of [
      ...wrong,
      { payload, mailboxId, scopeId: null },
      5,
      [],
      'x',
      { payload, mailboxId: 'x', scopeId },
    ]) {
      const reply = await queue.act('complete', claim, { result });
      expect(codeOf(reply), JSON.stringify(result)).to.equal('400 VALIDATION_FAILED');
      expect(reply.body.error.message).to.contain('result');
    }
    const nothing = { payload: null, mailboxId: null, scopeId: null, workKey: null };
    expect((await queue.act('complete', claim, { result: nothing })).status).to.equal(200);
  });

  it('refuses another result of the same token with RESULT_CONFLICT, also where there was none, and the first stands', async () => {
    const now = Date.UTC(2026, 0, 31, 12);
    await queue.world.at(now);
    const claim = await claimed();
    const first = await queue.act('complete', claim, { result: to({ payload: { a: 1, b: ['é', 1.0] } }) });
    const empty = await claimed();
    await queue.act('complete', empty);
    await queue.world.at(now + 60_000);
    const same = `{"token":"${claim.token}","result":{"payload":{ "a": 1,\n"b" : ["\\u00e9", 1] }}}`;
    const { apiKey, spaceId } = queue.world;
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
    const path = `/v1/spaces/${spaceId}/messages/${claim.id}/complete`;
    const again = await queue.world.send('POST', path, same, { ...headers, 'Idempotency-Key': randomUUID() });
    expect([again.status, again.body], 'the same compact text').to.deep.equal([200, { ...first.body, replay: true }]);
    const message =
      'this token completed the message at 2026-01-31T12:00:00.000Z with another result.payload, which stands: leave it out, or send the same';
    const others = ['other', { b: ['é', 1], a: 1 }, { a: 1, b: ['é', 1.5] }, null, 'x'.repeat(70_000)];
    for (const [of, payload] of [...others.map((payload) => [claim, payload]), [empty, 1]]) {
      const reply = await queue.act('complete', of, { result: { payload } });
      expect(codeOf(reply)).to.equal('409 RESULT_CONFLICT');
      expect(reply.body.error.message).to.equal(message);
    }
    expect((await queue.message(claim.id)).result).to.deep.equal({ a: 1, b: ['é', 1] });
    expect((await queue.message(empty.id)).result).to.equal(null);
    expect((await results.record()).counts.ready).to.equal(1);
  });

  it('answers a known Idempotency-Key first; refuses another result in a batch, and refuses an atomic one whole', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const claim = await claimed();
    const path = `/messages/${claim.id}/complete`;
    const body = { token: claim.token, result: { payload: 1 } };
    expect((await queue.world.post(path, body, key)).body.replay).to.equal(false);
    const replayed = await queue.world.post(path, body, key);
    expect([replayed.body.replay, replayed.headers.get('Idempotent-Replayed')]).to.deep.equal([true, 'true']);
    const call = (payload: unknown, of = claim) => ({
      ...{ call: 'message.complete', messageId: of.id, token: of.token },
      ...{ result: { payload } },
    });
    const { results: answers } = await queue.world.mustPost('/batch', { calls: [call(1), call(2)] });
    const codes = answers.map((one: { body: { error?: { code: string } } }) => one.body.error?.code);
    expect(codes).to.deep.equal([undefined, 'RESULT_CONFLICT']);
    const fresh = await claimed();
    const whole = { atomic: true, calls: [call(1, fresh), call(2, fresh)] };
    const refused = await queue.world.post('/batch', whole);
    expect(codeOf(refused)).to.equal('409 RESULT_CONFLICT');
    expect(refused.body.error).to.include({ index: 1, call: 'message.complete' });
    expect((await queue.message(fresh.id)).state).to.equal('CLAIMED');
  });

  it('replays the first answer with replay:true for the same token with the same result or none', async () => {
    const claim = await claimed();
    const first = await queue.act('complete', claim, { result: to() });
    for (const fields of [{}, { result: to() }, { result: { payload: 'done' } }, { result: to({ workKey: 'w' }) }]) {
      const again = await queue.act('complete', claim, fields);
      expect([again.status, again.body]).to.deep.equal([200, { ...first.body, replay: true }]);
    }
    expect((await results.record()).counts.ready).to.equal(1);
    expect((await queue.message(claim.id)).result).to.equal('done');
    const parallel = await claimed();
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => queue.act('complete', parallel, { result: to() })),
    );
    expect(replies.filter(({ body }) => body.replay === false)).to.have.lengthOf(1);
    expect(new Set(replies.map(({ body }) => body.resultMessageId)).size).to.equal(1);
    expect((await results.record()).counts.ready).to.equal(2);
    const { byCall } = (await queue.world.get('/usage')).body.days.at(-1);
    expect(byCall['message.complete'], 'a replay is no operation').to.equal(2);
  });

  it('acknowledges with a deduplicated result, too, and names the first message', async () => {
    const first = (await results.send({ workKey: 'w', payload: 'first' })).body.id;
    const claim = await claimed();
    const { body } = await queue.act('complete', claim, { result: to({ workKey: 'w' }) });
    expect(body).to.include({ state: 'ACKED', resultMessageId: first, replay: false });
    expect((await results.record()).counts.ready).to.equal(1);
    expect((await results.message(first)).payload).to.equal('first');
    expect((await queue.message(claim.id)).result).to.equal('done');
  });

  it('is refused for an unknown mailbox or a payload too large, and then acknowledges nothing', async () => {
    const claim = await claimed();
    const elsewhere = await Queue.create();
    const events = await queue.world.eventTypes();
    for (const mailboxId of [randomUUID(), elsewhere.id]) {
      const reply = await queue.act('complete', claim, { result: to({ mailboxId }) });
      expect(codeOf(reply)).to.equal('409 MAILBOX_NOT_FOUND');
      expect(reply.body.error.message).to.contain('mailbox');
    }
    const large = await queue.act('complete', claim, { result: to({ payload: 'x'.repeat(65_535) }) });
    expect(codeOf(large)).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(large.body.error.message).to.contain('result.payload');
    const recorded = await queue.act('complete', claim, { result: { payload: 'x'.repeat(65_535) } });
    expect(codeOf(recorded)).to.equal('413 PAYLOAD_TOO_LARGE');
    let deep: unknown = 1;
    for (let i = 0; i < 600; i++) deep = [deep];
    expect(codeOf(await queue.act('complete', claim, { result: to({ payload: deep }) }))).to.equal(
      '400 VALIDATION_FAILED',
    );
    expect(await queue.world.eventTypes()).to.deep.equal(events);
    expect((await queue.message(claim.id)).state).to.equal('CLAIMED');
    const largest = to({ payload: 'x'.repeat(65_534) });
    expect((await queue.act('complete', claim, { result: largest })).status).to.equal(200);
  });

  it('publishes a result whatever the backlog, plan and operations limits', async () => {
    const world = await World.create({ figures: { runs: '2', tasks: '2' }, limits: { maxBacklog: 2 } });
    const work = await Queue.create({}, world);
    const full = await Queue.create({ backlogLimit: 1 }, world);
    await work.sent();
    await full.sent();
    const claim = await work.claim();
    const month = new Date().toISOString().slice(0, 7);
    const used = { plan: 'free', unlimited: '0', operations: 1, operationsMonth: month, usedOperations: 5 };
    await world.service.store.hset(`muster:{${world.org}}`, used);
    const result = { payload: 1, mailboxId: full.id, scopeId: randomUUID() };
    const { status, body } = await work.act('complete', claim, { result });
    expect(status).to.equal(200);
    expect((await full.message(body.resultMessageId)).taskId).to.equal(body.resultMessageId);
    expect((await full.record()).counts.ready).to.equal(2);
    expect((await work.record()).counts.claimed).to.equal(0);
    await world.service.store.hset(`muster:{${world.org}}`, { plan: 'enterprise', unlimited: '1' });
    expect(codeOf(await full.send()), 'and it counts').to.equal('409 BACKLOG_FULL');
  });
});
