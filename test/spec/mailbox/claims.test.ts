import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { codeOf, World } from '../../support/world.ts';
import { callArgs } from '../allowance/script.ts';
import { sendMany } from './many.ts';
import { Queue } from './queue.ts';

const iso = (at: number) => new Date(at).toISOString();

describe('Claims', () => {
  it('recv returns the message with token, attempt and leaseSeconds, and emits message.claimed', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now - 1);
    const id = await queue.sent({ payload: [1], workKey: 'k' });
    await queue.world.at(now);
    const reply = await queue.recv({ holder: 'h', holderSession: 's', leaseSeconds: 5 });
    const { token, attempt, leaseSeconds, ...record } = reply.body;
    expect([attempt, leaseSeconds]).to.deep.equal([1, 5]);
    expect(record).to.deep.include({
      id,
      state: 'CLAIMED',
      attempts: 1,
      holder: 'h',
      holderSession: 's',
      workKey: 'k',
      taskId: id,
    });
    expect(record).to.include({ claimedAt: iso(now), leaseExpiresAt: iso(now + 5000), finishedAt: null, result: null });
    expect(token).to.match(/^[0-9a-f]{32}$/);
    const pauses = { retryDelaySeconds: null, maxRetryDelaySeconds: null };
    expect((await queue.list()).body.messages).to.deep.equal([{ ...record, ...pauses }]);
    const { text } = await queue.world.get('/events');
    expect(text + (await queue.list()).text, 'the token is shown nowhere else').to.not.contain(token);
    expect(await queue.eventTypes()).to.deep.equal(['message.sent', 'message.claimed']);
  });

  it('recv answers 204 without a body when none is ready, and creates no scope, event or operation', async () => {
    const queue = await Queue.create();
    const reply = await queue.recv();
    expect([reply.status, reply.text]).to.deep.equal([204, '']);
    expect(reply.headers.get('Content-Type')).to.equal(null);
    expect(await queue.world.eventTypes()).to.deep.equal(['mailbox.created']);
  });

  it('go first in, first out by the moment a message became ready; a retried message goes to the back', async () => {
    const queue = await Queue.create();
    await queue.world.at(Date.now());
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push(await queue.sent());
    const [a, b, c, d] = ids;
    const first = await queue.claim();
    expect(first.id).to.equal(a);
    await queue.act('nack', first, { retry: true });
    const order = [];
    for (let i = 0; i < 4; i++) order.push((await queue.claim()).id);
    expect(order).to.deep.equal([b, c, d, a]);
  });

  it('a lapsed claim makes its message ready exactly at the end of the lease, and in that order', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now);
    const early = await queue.sent();
    const late = await queue.sent();
    await queue.claim({ leaseSeconds: 20 });
    await queue.claim({ leaseSeconds: 10 });
    await queue.world.at(now + 15_000);
    const between = await queue.sent();
    await queue.world.at(now + 19_999);
    expect((await queue.claim()).id).to.equal(late);
    await queue.world.at(now + 20_000);
    const after = await queue.sent();
    const order = [];
    for (let i = 0; i < 3; i++) order.push((await queue.claim()).id);
    expect(order).to.deep.equal([between, early, after]);
    expect((await queue.eventTypes()).filter((type) => type === 'message.lease_expired')).to.have.lengthOf(2);
    await queue.world.at(now + 51_234);
    await queue.claim();
    expect((await queue.record()).oldestReadyAt, 'noticed late').to.equal(iso(now + 50_000));
  });

  it("a claim lasts 30 s by default; leaseSeconds is 5 to 600, and at most the space's maximum", async () => {
    const queue = await Queue.create({}, await World.create({ limits: { maxLeaseSeconds: 10 } }));
    await queue.sent();
    for (const leaseSeconds of [4, 601, 5.5, '5']) {
      expect(codeOf(await queue.recv({ leaseSeconds })), `${leaseSeconds}`).to.equal('400 VALIDATION_FAILED');
    }
    const over = await queue.recv({ leaseSeconds: 11 });
    expect(codeOf(over)).to.equal('400 LEASE_LIMIT_EXCEEDED');
    expect(over.body.error.message).to.contain('10');
    const claim = await queue.claim();
    expect(claim.leaseSeconds).to.equal(10);
    expect(codeOf(await queue.act('renew', claim, { leaseSeconds: 11 }))).to.equal('400 LEASE_LIMIT_EXCEEDED');
    expect((await queue.act('renew', claim)).status).to.equal(200);
    const wide = await Queue.create();
    await wide.sent();
    expect((await wide.claim()).leaseSeconds).to.equal(30);
  });

  it('renewed, last from now on, possibly for less time; a renewal is no event and no operation', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now);
    await queue.sent();
    await queue.act('complete', await queue.claim({ leaseSeconds: 5 }));
    await queue.sent();
    const claim = await queue.claim({ leaseSeconds: 30 });
    await queue.world.at(now + 20_000);
    const longer = await queue.act('renew', claim, { leaseSeconds: 600 });
    expect(longer.body).to.deep.equal({
      id: claim.id,
      state: 'CLAIMED',
      leaseExpiresAt: iso(now + 620_000),
      groupState: null,
    });
    expect((await queue.act('renew', claim)).body.leaseExpiresAt).to.equal(iso(now + 50_000));
    await queue.act('renew', claim, { leaseSeconds: 5 });
    expect((await queue.message(claim.id)).leaseExpiresAt).to.equal(iso(now + 25_000));
    await queue.world.at(now + 25_000);
    expect(codeOf(await queue.act('renew', claim))).to.equal('409 CLAIM_LOST');
    expect((await queue.eventTypes()).slice(3)).to.deep.equal(
      ['sent', 'claimed', 'lease_expired', 'retried'].map((what) => `message.${what}`),
    );
  });

  it('nacked, become READY with retry:true, or REJECTED with their reason with retry:false', async () => {
    const queue = await Queue.create();
    await queue.sent();
    const retried = await queue.act('nack', await queue.claim(), { retry: true });
    const ready = await queue.message(retried.body.id);
    expect(retried.body).to.deep.equal({ id: ready.id, state: 'READY', attempts: 1, readyAt: null });
    expect(ready).to.include({
      state: 'READY',
      holder: null,
      holderSession: null,
      claimedAt: null,
      leaseExpiresAt: null,
    });
    const rejected = await queue.act('nack', await queue.claim(), { retry: false });
    expect(rejected.body).to.deep.equal({ id: ready.id, state: 'REJECTED', attempts: 2, readyAt: null });
    expect(await queue.message(ready.id)).to.include({ state: 'REJECTED', reason: 'REJECTED_BY_WORKER', attempts: 2 });
    expect(await queue.counts()).to.deep.equal({});
    expect((await queue.eventTypes()).slice(-3)).to.deep.equal([
      'message.retried',
      'message.claimed',
      'message.rejected',
    ]);
    for (const retry of [null, 'true', 1]) {
      expect(codeOf(await queue.act('nack', { id: ready.id, token: 'x' }, { retry }))).to.equal(
        '400 VALIDATION_FAILED',
      );
    }
  });

  it('nacked with a stack trace, keep its line breaks and tabs; other control characters are refused', async () => {
    const queue = await Queue.create();
    const id = await queue.sent();
    const error = 'Error: no paper\r\n\tat print (printer.ts:7)\n\tat work';
    expect((await queue.act('nack', await queue.claim(), { retry: true, error })).status).to.equal(200);
    const claim = await queue.claim();
    expect(claim.lastError).to.equal(error);
    const { attempts } = (await queue.world.get(`/messages/${id}/attempts`)).body;
    expect(attempts.map((one: { error: string }) => one.error)).to.deep.equal([error, null]);
    const refused = await queue.act('nack', claim, { retry: true, error: 'a\u0007' });
    expect(codeOf(refused)).to.equal('400 VALIDATION_FAILED');
    expect(refused.body.error.message).to.contain('error must be').and.to.contain('line breaks and tabs');
  });

  it('nacked with countsAttempt false, take their attempt back: never FAILED, and without the pause of the mailbox', async () => {
    const queue = await Queue.create({ retryDelaySeconds: 60 });
    const now = Date.now();
    await queue.world.at(now);
    const id = await queue.sent({ maxAttempts: 1 });
    const untried = { retry: true, countsAttempt: false };
    for (let time = 0; time < 3; time++) {
      const claim = await queue.claim();
      expect(claim.attempt).to.equal(1);
      const { status, body } = await queue.act('nack', claim, { ...untried, error: `${time}` });
      expect([status, body]).to.deep.equal([200, { id, state: 'READY', attempts: 0, readyAt: null }]);
      expect(codeOf(await queue.act('complete', claim))).to.equal('409 CLAIM_LOST');
    }
    expect(await queue.message(id)).to.include({ state: 'READY', attempts: 0, lastError: '2', holder: null });
    const later = await queue.act('nack', await queue.claim(), { ...untried, delaySeconds: 9 });
    expect(later.body).to.deep.equal({ id, state: 'DELAYED', attempts: 0, readyAt: iso(now + 9_000) });
    const { waitingTasks } = (await queue.world.get('/ops/waits')).body;
    expect(waitingTasks[0], 'no attempt was made').to.include({ taskId: id, waitsFor: 'DELAY' });
    await queue.world.at(now + 9_000);
    const last = await queue.claim();
    const { events } = (await queue.world.get('/events?limit=500')).body;
    const retried = events.filter(({ type }: { type: string }) => type === 'message.retried');
    expect(retried.map(({ payload }: { payload: object }) => payload)).to.deep.equal(
      ['READY', 'READY', 'READY', 'DELAYED'].map((state) => ({ ...retried[0].payload, state, attempts: 0 })),
    );
    const counted = await queue.act('nack', last, { retry: true, countsAttempt: true });
    expect(counted.body).to.include({ state: 'FAILED', attempts: 1 });
    await expectAgreement(queue.world);
  });

  it('nacked with countsAttempt false, keep the attempts before, and answer the same again to the same key', async () => {
    const queue = await Queue.create();
    await queue.sent();
    await queue.act('nack', await queue.claim(), { retry: true });
    const claim = await queue.claim();
    const nack = () =>
      queue.world.post(
        `/messages/${claim.id}/nack`,
        { token: claim.token, retry: true, countsAttempt: false },
        { 'Idempotency-Key': claim.token },
      );
    const first = await nack();
    expect(first.body).to.include({ state: 'READY', attempts: 1 });
    const again = await nack();
    expect([again.headers.get('Idempotent-Replayed'), again.body]).to.deep.equal(['true', first.body]);
    expect((await queue.claim()).attempt).to.equal(2);
    const refused = await queue.act('nack', claim, { retry: false, countsAttempt: false });
    expect(codeOf(refused)).to.equal('400 VALIDATION_FAILED');
    expect(refused.body.error.message).to.contain('countsAttempt may only be false with retry true');
    expect(codeOf(await queue.act('nack', claim, { retry: true, countsAttempt: 0 }))).to.equal('400 VALIDATION_FAILED');
  });

  it('become FAILED when the lease of the 5th attempt ends: message.lease_expired, then .retried or .failed', async () => {
    const queue = await Queue.create();
    let now = Date.now();
    await queue.world.at(now);
    const id = await queue.sent();
    for (let attempt = 1; attempt <= 5; attempt++) {
      await queue.claim({ leaseSeconds: 5 });
      now += 5000;
      await queue.world.at(now);
    }
    await queue.world.at(now + 7);
    expect((await queue.recv()).status).to.equal(204);
    expect(await queue.message(id)).to.include({ state: 'FAILED', reason: 'ATTEMPTS_EXHAUSTED', finishedAt: iso(now) });
    const round = ['message.claimed', 'message.lease_expired', 'message.retried'];
    const rounds = Array.from({ length: 4 }, () => round).flat();
    expect(await queue.eventTypes()).to.deep.equal(['message.sent', ...rounds, ...round.slice(0, 2), 'message.failed']);
  });

  describe('refuse any token without a live claim as CLAIM_LOST', () => {
    const noon = Date.UTC(2026, 0, 31, 12);
    let queue: Queue;
    let now: number;
    const wait = async (seconds: number): Promise<void> => {
      now += 1000 * seconds;
      await queue.world.at(now);
    };
    const at = (seconds: number): string => iso(noon + 1000 * seconds);
    beforeEach(async () => {
      queue = await Queue.create({ maxAttempts: 2 });
      now = noon;
      await queue.world.at(now);
    });
    /** The message of all calls that take a token. */
    async function lost({ id, token }: { id: string; token: string }): Promise<string> {
      const put = { value: 1, messageId: id, token };
      const replies = [
        await queue.act('renew', { id, token }),
        await queue.act('nack', { id, token }, { retry: true }),
        await queue.world.post(`/messages/${id}/ask`, { token, question: 'Go on?' }),
        await queue.world.call('PUT', `/scopes/${queue.scopeId}/notes/n`, put),
      ];
      const isOver = (await queue.world.get(`/messages/${id}`)).body.state === 'ACKED';
      if (!isOver) replies.push(await queue.act('complete', { id, token }));
      expect(new Set(replies.map(codeOf))).to.deep.equal(new Set(['409 CLAIM_LOST']));
      const messages = new Set(replies.map(({ body }) => body.error.message));
      expect(messages.size).to.equal(1);
      return [...messages][0];
    }

    it('CLAIM_LOST says when the lease ended, when the message was claimed again and who completed it', async () => {
      await queue.sent();
      const first = await queue.claim({ leaseSeconds: 5 });
      await wait(5);
      const { world } = queue;
      const args = { messageId: first.id, token: first.token, leaseSeconds: '', progress: '', sweptThrough: now - 1 };
      const late = await world.service.scripts
        .execute('mailbox/renew', world.org, { ...callArgs(world), ...args })
        .catch(String);
      expect(late, 'the sweep was a moment before').to.equal(`Error: CLAIM_LOST LEASE_EXPIRED 1 ${now} - 0 1 -`);
      const ended = `the lease of this claim, attempt 1, ended at ${at(5)}`;
      expect(await lost(first)).to.equal(`${ended}; the message is READY for another attempt: drop the work`);
      await wait(1);
      const second = await queue.claim({ leaseSeconds: 60 });
      expect(await lost(first)).to.equal(
        `${ended}; the message was claimed again at ${at(6)} as attempt 2: drop the work`,
      );
      await wait(1);
      await queue.act('complete', second);
      expect(await lost(first)).to.equal(
        `${ended}; another claim, attempt 2, completed the message at ${at(7)}: drop the work`,
      );
      expect(await lost(second)).to.equal(
        `this claim, attempt 2, completed the message at ${at(7)}: there is nothing left to do`,
      );
    });

    it('CLAIM_LOST says that it was given back, tried or not, asked or rejected, and what follows', async () => {
      await queue.sent();
      const untried = await queue.claim();
      await queue.act('nack', untried, { retry: true, countsAttempt: false, delaySeconds: 10 });
      expect(await lost(untried)).to.equal(
        `this claim, attempt 1, was given back untried at ${at(0)}; the message is DELAYED until ${at(10)}: drop the work`,
      );
      await wait(20);
      const asking = await queue.claim();
      const { question } = await queue.world.mustPost(`/messages/${asking.id}/ask`, {
        token: asking.token,
        question: '?',
      });
      expect(await lost(asking)).to.equal(
        `this claim, attempt 1, ended with a question at ${at(20)}; the message is BLOCKED: drop the work`,
      );
      await queue.world.mustPost(`/questions/${question.id}/answer`, { answer: 'yes', answeredBy: 'me' });
      const back = await queue.claim();
      await queue.act('nack', back, { retry: true });
      const last = await queue.claim();
      await queue.act('nack', last, { retry: true });
      const failed = `the message is FAILED since ${at(20)} (ATTEMPTS_EXHAUSTED): drop the work`;
      expect(await lost(back)).to.equal(`this claim, attempt 1, was given back at ${at(20)}; ${failed}`);
      expect(await lost(last)).to.equal(`this claim, attempt 2, was given back at ${at(20)}; ${failed}`);
      await queue.world.mustPost(`/messages/${last.id}/requeue`);
      const anew = await queue.claim();
      expect(await lost(last)).to.equal(
        `this claim, attempt 2, was given back at ${at(20)}; the message was claimed again at ${at(20)} as attempt 1: drop the work`,
      );
      await queue.act('nack', anew, { retry: false });
      const rejected = `attempt 1, rejected the message at ${at(20)}: drop the work`;
      expect(await lost(anew)).to.equal(`this claim, ${rejected}`);
      expect(await lost(back)).to.equal(
        `this claim, attempt 1, was given back at ${at(20)}; another claim, ${rejected}`,
      );
    });

    it('CLAIM_LOST says that the message was cancelled, by itself or with its run, or passed its deadline', async () => {
      const deadline = at(30);
      await queue.sent({ deadline });
      const expired = await queue.claim({ leaseSeconds: 60 });
      await queue.sent();
      const cancelled = await queue.claim({ leaseSeconds: 60 });
      await wait(30);
      expect(await lost(expired)).to.equal(
        `this claim, attempt 1, ended with the deadline of the message at ${deadline}: drop the work`,
      );
      await queue.world.mustPost(`/messages/${cancelled.id}/cancel`);
      const ended = `this claim, attempt 1, ended at ${at(30)}, as the message was cancelled`;
      expect(await lost(cancelled)).to.equal(
        `${ended}; the message is CANCELLED since ${at(30)} (CANCELLED_BY_CALLER): drop the work`,
      );
      await queue.sent();
      const ofRun = await queue.claim({ leaseSeconds: 60 });
      await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
      expect(await lost(ofRun)).to.equal(
        `${ended}; the message is CANCELLED since ${at(30)} (RUN_CANCELLED): drop the work`,
      );
    });

    it('CLAIM_LOST says that the run was cancelled though the steps of the cancel have yet to end the claim', async () => {
      await queue.sent();
      const claim = await queue.claim({ leaseSeconds: 60 });
      await sendMany(queue, 250);
      await wait(10);
      const { body } = await queue.world.post(`/scopes/${queue.scopeId}/cancel`);
      expect(body.done).to.equal(false);
      const stored = `${queue.world.prefix}:message:${claim.id}`;
      expect(await queue.world.service.store.hget(stored, 'state')).to.equal('CLAIMED');
      const text =
        `this claim, attempt 1, ended at ${at(10)}, as the message was cancelled; ` +
        `the message is CANCELLED since ${at(10)} (RUN_CANCELLED): drop the work`;
      expect(await lost(claim)).to.equal(text);
      await workOff(queue.world);
      expect(await queue.world.service.store.hget(stored, 'state')).to.equal('CANCELLED');
      expect(await lost(claim)).to.equal(text);
    });

    it('CLAIM_LOST says that a token was never issued, as far as that is known', async () => {
      const id = await queue.sent();
      const strange = '0'.repeat(32);
      const never = 'this token was never issued for this message: send the token that recv answered with it';
      for (const token of ['nonsense', strange, strange.slice(1), 'g'.repeat(32)])
        expect(await lost({ id, token }), token).to.equal(never);
      const claim = await queue.claim();
      for (const token of ['nonsense', strange, claim.token.toUpperCase()])
        expect(await lost({ id, token }), token).to.equal(never);
      await queue.act('nack', claim, { retry: true });
      expect(await lost({ id, token: strange })).to.equal(never);
      await queue.act('complete', await queue.claim());
      expect(await lost({ id, token: strange })).to.equal(never);
      const other = await queue.sent();
      expect(await lost({ id: other, token: claim.token }), 'of another message').to.equal(never);
      const unknown = { id: randomUUID(), token: 'x' };
      expect(codeOf(await queue.act('renew', unknown))).to.equal('404 MESSAGE_NOT_FOUND');
    });

    it('CLAIM_LOST says only that a claim has ended if ten attempts ended later, or an upgrade did', async () => {
      const { world } = queue;
      await world.mustPost(`/mailboxes/${queue.id}/messages`, { scopeId: queue.scopeId, payload: 1, maxAttempts: 20 });
      const first = await queue.claim();
      await queue.act('nack', first, { retry: true });
      const key = `${world.prefix}:message:${first.id}`;
      const kept = JSON.parse((await world.service.store.hget(key, 'pastAttempts')) ?? '');
      const now = 'the claim of this token has ended; the message is READY for another attempt: drop the work';
      await world.service.store.hset(key, 'pastAttempts', JSON.stringify(kept.slice(0, 7)));
      expect(await lost(first)).to.equal(now);
      expect((await world.get(`/messages/${first.id}/attempts`)).body.attempts).to.have.length(1);
      for (let n = 0; n < 10; n++) await queue.act('nack', await queue.claim(), { retry: true });
      expect(await lost(first)).to.equal(now);
    });
  });

  it('deliver each of 100 messages once to 200 parallel receives', async () => {
    const queue = await Queue.create();
    await sendMany(queue, 100);
    const replies = await Promise.all(Array.from({ length: 200 }, () => queue.recv()));
    const claimed = replies.filter(({ status }) => status === 200);
    expect(claimed).to.have.lengthOf(100);
    expect(replies.filter(({ status }) => status === 204)).to.have.lengthOf(100);
    expect(new Set(claimed.map(({ body }) => body.id)).size).to.equal(100);
    expect(new Set(claimed.map(({ body }) => body.token)).size).to.equal(100);
    expect(await queue.counts()).to.deep.equal({ claimed: 100 });
  });
});
