import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { Queue } from './queue.ts';

const release = (queue: Queue, id: string): Promise<Reply> => queue.world.post(`/messages/${id}/release`);

describe('POST /messages/{id}/release', () => {
  it('ends a claim like a nack with retry: the next attempt gets the message, and reads who had it', async () => {
    const queue = await Queue.create();
    const id = await queue.sent();
    await queue.claim({ holder: 'stuck' });
    const reply = await release(queue, id);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body).to.include({ id, state: 'READY', attempts: 1, holder: null, leaseExpiresAt: null });
    expect(reply.body.lastError).to.match(/^the claim was released by an operator at \S+Z \(holder stuck\)$/);
    expect(reply.body).to.deep.equal((await queue.world.get(`/messages/${id}`)).body);
    expect(await queue.claim()).to.include({ id, attempt: 2, lastError: reply.body.lastError });
    const { attempts } = (await queue.world.get(`/messages/${id}/attempts`)).body;
    expect(attempts[0]).to.include({ outcome: 'RELEASED', holder: 'stuck', error: reply.body.lastError });
    expect(await queue.eventTypes()).to.deep.equal([
      ...['message.sent', 'message.claimed', 'message.released', 'message.retried', 'message.claimed'],
    ]);
    await expectAgreement(queue.world);
  });

  it('tells the old holder, in CLAIM_LOST, that an operator released its claim', async () => {
    const queue = await Queue.create();
    await queue.sent();
    const lost = await queue.claim();
    await release(queue, lost.id);
    for (const what of ['renew', 'complete', 'nack'] as const) {
      const reply = await queue.act(what, lost, what === 'nack' ? { retry: true } : {});
      expect(codeOf(reply)).to.equal('409 CLAIM_LOST');
      expect(reply.body.error.message).to.match(
        /^this claim, attempt 1, was released by an operator at \S+Z; the message is READY for another attempt: drop the work$/,
      );
    }
    const { token } = await queue.claim();
    expect((await queue.act('complete', { id: lost.id, token })).status).to.equal(200);
  });

  it('pauses the message as its mailbox says, and fails it after its last attempt', async () => {
    const queue = await Queue.create({ retryDelaySeconds: 60, maxAttempts: 2 });
    const now = Date.now();
    await queue.world.at(now);
    const id = await queue.sent();
    await queue.claim();
    const paused = await release(queue, id);
    expect(paused.body).to.include({ state: 'DELAYED', readyAt: new Date(now + 60_000).toISOString() });
    await queue.world.at(now + 60_000);
    await queue.claim();
    const { body } = await release(queue, id);
    expect(body).to.include({ state: 'FAILED', reason: 'ATTEMPTS_EXHAUSTED', attempts: 2 });
    expect(body.lastError).to.include('released by an operator');
    await expectAgreement(queue.world);
  });

  it('refuses a message that nobody holds with MESSAGE_NOT_CLAIMED, which names the state', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now);
    const delayed = await queue.sent({ delaySeconds: 60 });
    await queue.sent();
    const acked = await queue.claim();
    await queue.act('complete', acked);
    const ready = await queue.sent();
    for (const [state, id] of Object.entries({ DELAYED: delayed, ACKED: acked.id, READY: ready })) {
      const reply = await release(queue, id);
      expect(codeOf(reply), state).to.equal('409 MESSAGE_NOT_CLAIMED');
      expect(reply.body.error.message).to.include(state);
    }
    await queue.claim({ leaseSeconds: 5 });
    await queue.world.at(now + 5000);
    expect(codeOf(await release(queue, ready)), 'a lease that has ended, swept or not').to.equal(
      '409 MESSAGE_NOT_CLAIMED',
    );
    expect(codeOf(await release(queue, queue.id))).to.equal('404 MESSAGE_NOT_FOUND');
  });

  it('answers a claim in a cancelled run with MESSAGE_NOT_CLAIMED, and cancels a member of a decided group', async () => {
    const team = await Team.create();
    const { queue } = team;
    const [first] = await team.succeeded(1);
    await team.submit('late');
    const claim = await queue.claim({ scopeId: team.gate });
    await team.accept(String(first));
    const { body } = await release(queue, claim.id);
    expect(body).to.include({ state: 'CANCELLED', reason: 'GROUP_DECIDED' });
    const id = await queue.sent();
    await queue.claim();
    await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
    expect(codeOf(await release(queue, id))).to.equal('409 MESSAGE_NOT_CLAIMED');
    await expectAgreement(queue.world);
  });

  it('needs resource_config, and is one operation, and repeats its answer by its Idempotency-Key', async () => {
    const world = await World.create();
    const queue = await Queue.create({}, world);
    const id = await queue.sent();
    await queue.claim();
    const worker = await world.key(['coordination_read', 'coordination_write', 'resource_spend']);
    const by = (headers: Record<string, string>) => world.post(`/messages/${id}/release`, {}, headers);
    expect(codeOf(await by({ Authorization: `Bearer ${worker}` }))).to.equal('403 PERMISSION_DENIED');
    const first = await by({ 'Idempotency-Key': 'one' });
    expect((await by({ 'Idempotency-Key': 'one' })).body).to.deep.equal(first.body);
    expect((await queue.eventTypes()).filter((type) => type === 'message.released')).to.have.length(1);
    expect((await world.get('/usage')).body.days.at(-1).byCall['message.release']).to.equal(1);
  });

  it('lets exactly one of 200 releases at once take a claim', async () => {
    const queue = await Queue.create();
    const id = await queue.sent();
    await queue.claim();
    const codes = await Promise.all(Array.from({ length: 200 }, async () => codeOf(await release(queue, id))));
    expect(codes.filter((code) => code.startsWith('200'))).to.have.length(1);
    expect(new Set(codes.filter((code) => !code.startsWith('200')))).to.deep.equal(
      new Set(['409 MESSAGE_NOT_CLAIMED']),
    );
    await expectAgreement(queue.world);
  });
});
