import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Queue } from './queue.ts';

const second = 1000;
const iso = (at: number): string => new Date(at).toISOString();

describe('The time of an attempt', () => {
  let queue: Queue;
  let start: number;
  beforeEach(async () => {
    queue = await Queue.create({ attemptSeconds: 60, maxAttempts: 2 });
    start = Math.ceil(Date.now() / second) * second;
    await queue.world.at(start);
  });
  afterEach(() => expectAgreement(queue.world));
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  const view = async (id: string): Promise<any> => (await queue.world.get(`/messages/${id}`)).body;
  const limit = (attemptSeconds: number | null) =>
    queue.world.call('PATCH', `/mailboxes/${queue.id}`, { attemptSeconds });

  it('ends the claim however often it is renewed, as by its lease, and says so in lastError', async () => {
    const id = await queue.sent();
    const claim = await queue.claim({ leaseSeconds: 50 });
    expect(claim).to.deep.include({
      attemptEndsAt: iso(start + 60 * second),
      leaseExpiresAt: iso(start + 50 * second),
    });
    await queue.world.at(start + 40 * second);
    const renewed = await queue.act('renew', claim, { leaseSeconds: 50 });
    expect(renewed.body.leaseExpiresAt).to.equal(iso(start + 60 * second));
    expect(await view(id)).to.include({ attemptEndsAt: iso(start + 60 * second), attemptSeconds: null });
    await queue.world.at(start + 60 * second);
    expect(codeOf(await queue.act('complete', claim))).to.equal('409 CLAIM_LOST');
    const lost = await view(id);
    expect(lost).to.include({ state: 'READY', attemptEndsAt: null, attempts: 1 });
    expect(lost.lastError).to.equal(`the attempt's time ended at ${iso(start + 60 * second)} (holder worker)`);
    const again = await queue.claim({ leaseSeconds: 50 });
    expect(again.attemptEndsAt).to.equal(iso(start + 120 * second));
    await queue.world.at(start + 110 * second);
    await queue.world.mustPost('/mailboxes', { name: 'sweeps' });
    expect(await view(id)).to.include({ state: 'FAILED', attemptEndsAt: null });
    expect((await view(id)).lastError).to.match(/^the lease ended at /);
  });

  it("is the message's own where it has one, and may be longer than the mailbox's", async () => {
    const own = await queue.sent({ attemptSeconds: 300 });
    expect(await view(own)).to.include({ attemptSeconds: 300, attemptEndsAt: null });
    expect((await queue.claim({ leaseSeconds: 200 })).attemptEndsAt).to.equal(iso(start + 300 * second));
    const group = await queue.world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'ALL_TERMINAL' });
    await queue.world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: 'a', attemptSeconds: 5 });
    const { scopeId } = (await queue.world.get(`/task-groups/${group.id}`)).body;
    expect((await queue.claim({ scopeId })).leaseExpiresAt).to.equal(iso(start + 5 * second));
    const schedule = { name: 'often', mailboxId: queue.id, everySeconds: 60, attemptSeconds: 7 };
    const made = await queue.world.mustPost('/schedules', { ...schedule, scopeId: queue.scopeId, payload: 1 });
    expect(made.attemptSeconds).to.equal(7);
  });

  it('is that of the mailbox at the claim; null removes it', async () => {
    await queue.sent();
    await queue.sent();
    expect((await limit(null)).body.attemptSeconds).to.equal(null);
    const free = await queue.claim();
    expect(free.attemptEndsAt).to.equal(null);
    expect((await limit(90)).body.attemptSeconds).to.equal(90);
    await queue.act('nack', free, { retry: true });
    const claims = [await queue.claim(), await queue.claim()];
    for (const { attemptEndsAt } of claims) expect(attemptEndsAt).to.equal(iso(start + 90 * second));
    await limit(null);
    await queue.act('nack', claims[0], { retry: true });
    expect((await queue.claim()).attemptEndsAt).to.equal(null);
    for (const wrong of [0, 86_401, 1.5, '60'])
      expect(codeOf(await limit(wrong as number))).to.equal('400 VALIDATION_FAILED');
  });

  it('does not run while the message is suspended, and begins anew with the next claim', async () => {
    const id = await queue.sent();
    const claim = await queue.claim();
    await queue.world.mustPost(`/messages/${id}/suspend`, { token: claim.token, delaySeconds: 1_000 });
    expect((await view(id)).attemptEndsAt).to.equal(null);
    await queue.world.at(start + 1_000 * second);
    expect((await queue.claim()).attemptEndsAt).to.equal(iso(start + 1_060 * second));
  });

  it('costs a space without any limit nothing, and is not counted when its mailbox is deleted', async () => {
    const { store } = queue.world.service;
    const counters = async () =>
      store.hmget(`muster:{${queue.world.org}}:${queue.world.spaceId}`, 'withheld', 'attemptLimits');
    expect(await counters()).to.deep.equal(['1', '1']);
    await queue.world.call('DELETE', `/mailboxes/${queue.id}`);
    expect(await counters()).to.deep.equal(['0', '0']);
  });
});
