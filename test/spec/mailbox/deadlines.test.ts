import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { sendMany } from './many.ts';
import { Queue } from './queue.ts';

const iso = (at: number) => new Date(at).toISOString();

/** These services have no sweeper, so due changes take effect by the clock alone, to the millisecond. */
describe('Deadlines', () => {
  let queue: Queue;
  let now: number;
  beforeEach(async () => {
    queue = await Queue.create();
    now = Date.now();
    await queue.world.at(now);
  });

  it('make a READY message EXPIRED when now ≥ the deadline, not a millisecond earlier', async () => {
    const id = await queue.sent({ deadline: iso(now + 1000) });
    const other = await queue.sent({ deadline: iso(now + 1000) });
    await queue.world.at(now + 999);
    expect((await queue.claim()).id).to.equal(id);
    await queue.world.at(now + 1500);
    expect((await queue.recv()).status).to.equal(204);
    for (const one of [id, other]) {
      expect(await queue.message(one)).to.include({
        state: 'EXPIRED',
        reason: 'DEADLINE_EXCEEDED',
        finishedAt: iso(now + 1000),
        leaseExpiresAt: null,
      });
    }
    expect(await queue.record()).to.deep.include({
      counts: { ready: 0, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 0 },
      oldestReadyAt: null,
    });
    expect((await queue.eventTypes()).filter((type) => type === 'message.expired')).to.have.lengthOf(2);
  });

  it("a deadline that passes between a receive's sweep and the receive keeps the message from it", async () => {
    const { world } = queue;
    const { due } = world.service;
    await queue.sent({ deadline: iso(now + 1000) });
    await queue.sent({ deadline: iso(now + 2000) });
    const id = await queue.sent();
    await world.at(now + 1000);
    const drain = due.drain.bind(due);
    due.drain = async (org) => {
      const through = await drain(org);
      await world.at(now + 2000);
      return through;
    };
    try {
      expect((await queue.claim()).id).to.equal(id);
    } finally {
      due.drain = drain;
    }
    expect((await queue.eventTypes()).slice(-3)).to.deep.equal([
      'message.expired',
      'message.expired',
      'message.claimed',
    ]);
  });

  it('make a CLAIMED message EXPIRED, and its token invalid', async () => {
    await queue.sent({ deadline: iso(now + 6000) });
    const claim = await queue.claim({ leaseSeconds: 5 });
    await queue.act('renew', claim, { leaseSeconds: 600 });
    await queue.world.at(now + 6000);
    for (const what of ['renew', 'complete'] as const) {
      const reply = await queue.act(what, claim);
      expect(codeOf(reply)).to.equal('409 CLAIM_LOST');
      expect(reply.body.error.message).to.contain(`ended with the deadline of the message at ${iso(now + 6000)}`);
    }
    expect(await queue.message(claim.id)).to.include({ state: 'EXPIRED', attempts: 1, holder: 'worker' });
    expect((await queue.eventTypes()).slice(-2)).to.deep.equal(['message.claimed', 'message.expired']);
  });

  it('bound leaseExpiresAt, by recv and by renew', async () => {
    await queue.sent({ deadline: iso(now + 8000) });
    const claim = await queue.claim({ leaseSeconds: 600 });
    expect(claim.leaseExpiresAt).to.equal(iso(now + 8000));
    expect((await queue.act('renew', claim, { leaseSeconds: 5 })).body.leaseExpiresAt).to.equal(iso(now + 5000));
    expect((await queue.act('renew', claim, { leaseSeconds: 600 })).body.leaseExpiresAt).to.equal(iso(now + 8000));
  });

  it('still hold when an earlier lease gives the message back', async () => {
    const id = await queue.sent({ deadline: iso(now + 8000) });
    await queue.claim({ leaseSeconds: 5 });
    await queue.world.at(now + 5000);
    const again = await queue.claim({ leaseSeconds: 5 });
    expect(again).to.include({ id, attempt: 2, leaseExpiresAt: iso(now + 8000) });
    await queue.act('nack', again, { retry: true });
    await queue.world.at(now + 8000);
    expect((await queue.recv()).status).to.equal(204);
    expect((await queue.message(id)).state).to.equal('EXPIRED');
  });

  it('take effect before the call that meets them, even if more than 100 are due', async () => {
    await sendMany(queue, 130, { deadline: `${now + 1000}` });
    for (const max of [100, 30]) await queue.claim({ max, leaseSeconds: 5 });
    const id = await queue.sent();
    await queue.world.at(now + 1000);
    expect((await queue.claim()).id).to.equal(id);
    const { counts } = await queue.record();
    expect(counts).to.deep.equal({ ready: 0, delayed: 0, blocked: 0, claimed: 1, failed: 0, acked: 0 });
    expect((await queue.list('?state=EXPIRED&limit=200')).body.messages).to.have.lengthOf(130);
  });

  it('a deadline and a lease of one queue that end in the same sweep leave oldestReadyAt right', async () => {
    await queue.sent();
    await queue.claim({ leaseSeconds: 11 });
    for (const seconds of [10, 12]) await queue.sent({ deadline: iso(now + seconds * 1000) });
    await queue.world.at(now + 13_000);
    await queue.send({ scopeId: queue.id });
    expect(await queue.record()).to.deep.include({
      counts: { ready: 2, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 0 },
      oldestReadyAt: iso(now + 11_000),
    });
  });

  it('deadlines of two spaces swept together are counted and emitted in each', async () => {
    const { world } = queue;
    const there = await Queue.create({}, await world.anotherSpace());
    for (const one of [queue, there, queue]) await one.sent({ deadline: iso(now + 1000) });
    const stats = () => world.service.store.info('commandstats');
    const wakeUps = async () => Number(/cmdstat_spublish:calls=(\d+)/.exec(await stats())?.[1]);
    const before = await wakeUps();
    await world.at(now + 1000);
    expect((await queue.recv()).status).to.equal(204);
    expect((await wakeUps()) - before).to.equal(2);
    for (const [one, expired] of [
      [queue, 2],
      [there, 1],
    ] as const) {
      expect((await one.world.get('/census')).body.messages).to.include({ READY: 0, EXPIRED: expired });
      expect((await one.eventTypes()).filter((type) => type === 'message.expired')).to.have.lengthOf(expired);
    }
    expect(await world.service.store.hget(`muster:{${world.org}}`, 'usedTasks')).to.equal('0');
  });

  it('take effect once when 50 calls meet them', async () => {
    for (let i = 0; i < 10; i++) await queue.sent({ deadline: iso(now + 1000), payload: i });
    await queue.world.at(now + 1000);
    const replies = await Promise.all(Array.from({ length: 50 }, () => queue.recv()));
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([204]));
    expect((await queue.eventTypes()).filter((type) => type === 'message.expired')).to.have.lengthOf(10);
  });

  it('follow the test clock, which stands still, moves only when set, and is separate for each organization', async () => {
    const claimed = async (): Promise<string> => {
      await queue.sent();
      const { claimedAt, leaseExpiresAt } = await queue.claim({ leaseSeconds: 5 });
      expect(Date.parse(leaseExpiresAt) - Date.parse(claimedAt)).to.equal(5000);
      return claimedAt;
    };
    expect([await claimed(), await claimed()]).to.deep.equal([iso(now), iso(now)]);
    await queue.world.at(now + 1);
    expect(await claimed()).to.equal(iso(now + 1));
    await queue.world.at(now - 1);
    expect(await claimed()).to.equal(iso(now - 1));
    const other = await Queue.create();
    const begun = Date.now();
    const { createdAt } = await other.world.mustPost('/mailboxes', { name: 'a' });
    expect(Date.parse(createdAt), "where no test has set one, it is the store's").to.be.within(begun - 50, Date.now());
  });
});
