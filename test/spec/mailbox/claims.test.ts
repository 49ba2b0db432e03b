import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
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
    expect((await queue.list()).body.messages).to.deep.equal([record]);
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

  it('that lapse make the message ready exactly at the end of the lease, and in that order', async () => {
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

  it("last min(30, maxLeaseSeconds) by default; leaseSeconds is 5 to 600, and above the space's maximum LEASE_LIMIT_EXCEEDED", async () => {
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
    expect((await queue.record()).counts).to.deep.equal({ ready: 0, delayed: 0, blocked: 0, claimed: 0, failed: 0 });
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

  it('refuse any token without a live claim as CLAIM_LOST, with the reason: lapsed, claimed again, finished or never issued', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now);
    await queue.sent();
    const claim = await queue.claim({ leaseSeconds: 5 });
    const lost = async (token: string) => {
      const messages = new Set<string>();
      for (const what of ['renew', 'complete', 'nack'] as const) {
        const reply = await queue.act(what, { id: claim.id, token }, what === 'nack' ? { retry: true } : {});
        expect(codeOf(reply), what).to.equal('409 CLAIM_LOST');
        messages.add(reply.body.error.message);
      }
      expect(messages.size).to.equal(1);
      return [...messages][0];
    };
    const strange = '0'.repeat(32);
    for (const token of ['nonsense', strange, strange.slice(1), 'g'.repeat(32)])
      expect(await lost(token), token).to.contain('never issued');
    expect(await lost(claim.token.toUpperCase())).to.contain('never issued');
    const { world } = queue;
    await world.at(now + 5000);
    const args = {
      messageId: claim.id,
      token: claim.token,
      leaseSeconds: '',
      progress: '',
      drainedThrough: now + 4999,
    };
    const late = await world.service.scripts
      .run('mailbox/renew', world.org, { ...callArgs(world), ...args })
      .catch(String);
    expect(late, 'the sweep was a moment before').to.equal('Error: CLAIM_LOST LAPSED');
    expect(await lost(claim.token), 'over is over, swept or not').to.contain('its lease was over');
    expect(await lost('nonsense')).to.contain('never issued');
    const second = await queue.claim();
    expect(await lost(claim.token)).to.contain('claimed again');
    expect(await lost('nonsense')).to.contain('never issued');
    await queue.act('complete', second);
    expect(await lost(claim.token)).to.contain('finished');
    expect(await lost('nonsense')).to.contain('never issued');
    const renewed = await queue.act('renew', second);
    expect(renewed.body.error.message, 'by this very token').to.equal('the message is finished already: drop the work');
    claim.id = await queue.sent();
    expect(await lost(second.token), 'of another message, before any claim').to.contain('never issued');
    await queue.act('complete', await queue.claim());
    expect(await lost(second.token), 'of another message, after one claim').to.contain('never issued');
    const unknown = { id: randomUUID(), token: 'x' };
    expect(codeOf(await queue.act('renew', unknown))).to.equal('404 MESSAGE_NOT_FOUND');
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
    expect((await queue.record()).counts).to.deep.equal({ ready: 0, delayed: 0, blocked: 0, claimed: 100, failed: 0 });
  });
});
