import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { longMs, many } from '../../support/long.ts';
import { codeOf, type World } from '../../support/world.ts';
import { Aging, day } from '../retention/support.ts';
import { sendMany, wideQueue } from './many.ts';
import { Queue } from './queue.ts';

describe('A paused mailbox', () => {
  it('gives nothing until it is resumed, while everything else goes on; again changes nothing', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const [first, second] = [await queue.sent(), await queue.sent()];
    const claim = await queue.claim();
    const paused = await world.mustPost(`/mailboxes/${queue.id}/pause`);
    expect(paused).to.deep.include({ id: queue.id, paused: true });
    expect((await queue.recv()).status).to.equal(204);
    expect((await queue.recv({ scopeId: '*' })).status).to.equal(204);
    await queue.sent();
    expect((await queue.act('renew', claim)).status).to.equal(200);
    expect((await queue.act('complete', claim)).status).to.equal(200);
    const { waitingTasks } = (await world.get('/ops/waits')).body;
    expect(waitingTasks[0]).to.deep.include({
      taskId: second,
      waitsFor: 'PAUSED',
      blockedBy: [{ kind: 'PAUSED', id: queue.id }],
    });
    await world.mustPost(`/mailboxes/${queue.id}/pause`);
    await expectAgreement(world);
    const held = queue.recv({ waitSeconds: 30 });
    while (world.service.wake.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await world.mustPost(`/mailboxes/${queue.id}/resume`)).paused).to.equal(false);
    expect([first, (await held).body.id]).to.deep.equal([claim.id, second]);
    await world.mustPost(`/mailboxes/${queue.id}/resume`);
    const types = (await world.eventTypes()).filter((type) => /paused|resumed/.test(type));
    expect(types).to.deep.equal(['mailbox.paused', 'mailbox.resumed']);
    expect(codeOf(await world.post(`/mailboxes/${randomUUID()}/pause`))).to.equal('404 MAILBOX_NOT_FOUND');
  });

  it('with as many messages as a receive looks at, or a few more, lets those behind them through', async () => {
    for (const count of [256, 300]) {
      const queue = await Queue.create();
      const { id: child } = await queue.world.mustPost('/scopes', { parentScopeId: queue.scopeId });
      await sendMany(queue, count, { scopeIds: [child] });
      await queue.world.mustPost(`/scopes/${child}/pause`);
      expect((await queue.recv()).status).to.equal(204);
      const id = await queue.sent();
      expect((await queue.claim({ scopeId: '*' })).id).to.equal(id);
    }
  });

  it('may be deleted', async () => {
    const queue = await Queue.create();
    await queue.world.mustPost(`/mailboxes/${queue.id}/pause`);
    expect((await queue.world.call('DELETE', `/mailboxes/${queue.id}`)).status).to.equal(204);
    const other = await Queue.create({}, queue.world);
    const id = await other.sent();
    expect((await other.claim()).id).to.equal(id);
  });
});

describe('A paused scope', () => {
  const below = async (world: World, parentScopeId: string): Promise<string> =>
    (await world.mustPost('/scopes', { parentScopeId })).id;

  it('is passed over with all below it by every receive; what is paused keeps its place', async () => {
    const queue = await Queue.create();
    const { world, scopeId } = queue;
    const [a, b] = [await below(world, scopeId), await below(world, scopeId)];
    const inner = await below(world, a);
    const [one, two, three, four] = [
      await queue.sent({ scopeId: inner }),
      await queue.sent({ scopeId: a }),
      await queue.sent({ scopeId: b }),
      await queue.sent(),
    ];
    expect((await world.mustPost(`/scopes/${a}/pause`)).paused).to.equal(true);
    expect((await world.get(`/scopes/${inner}`)).body.paused).to.equal(false);
    for (const paused of [a, inner]) expect((await queue.recv({ scopeId: paused })).status).to.equal(204);
    const { waitingTasks } = (await world.get('/ops/waits')).body;
    expect(waitingTasks.map((row: { blockedBy: unknown }) => row.blockedBy)).to.deep.equal([
      [{ kind: 'PAUSED', id: a }],
      [{ kind: 'PAUSED', id: a }],
      [],
      [],
    ]);
    expect((await queue.claim({ scopeId: '*' })).id).to.equal(three);
    const late = await queue.sent({ scopeId: inner });
    expect((await queue.claim()).id).to.equal(four);
    expect((await queue.recv()).status).to.equal(204);
    await expectAgreement(world);
    await world.mustPost(`/scopes/${a}/resume`);
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await queue.claim()).id);
    expect(ids).to.deep.equal([one, two, late]);
    const types = (await world.eventTypes()).filter((type) => /paused|resumed/.test(type));
    expect(types).to.deep.equal(['scope.paused', 'scope.resumed']);
  });

  it('leaves its turn to other runs, and gets it back', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const runs = [randomUUID(), randomUUID(), randomUUID()];
    for (const scopeId of runs) for (let n = 0; n < 2; n++) await queue.sent({ scopeId });
    await queue.act('complete', await queue.claim({ scopeId: '*' }));
    await world.mustPost(`/scopes/${runs[1]}/pause`);
    const scopes = [];
    for (let i = 0; i < 3; i++) scopes.push((await queue.claim({ scopeId: '*' })).scopeId);
    expect(scopes).to.have.members([runs[0], runs[2], runs[2]]);
    expect((await queue.recv({ scopeId: '*' })).status).to.equal(204);
    const held = queue.recv({ scopeId: '*', waitSeconds: 30 });
    while (world.service.wake.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await world.mustPost(`/scopes/${runs[1]}/resume`);
    expect((await held).body.scopeId).to.equal(runs[1]);
    await expectAgreement(world);
  });

  it('lets a receive for all runs pass, however many runs have nothing but paused messages', async () => {
    const queue = await wideQueue();
    const { world } = queue;
    // Each run needs a search of its own. They used to be made one by one, fifty at most.
    for (let n = 0; n < many(3, 60); n++) {
      const child = await below(world, randomUUID());
      await sendMany(queue, 600, { scopeIds: [child] });
      await world.mustPost(`/scopes/${child}/pause`);
    }
    expect((await queue.recv({ scopeId: '*' })).status).to.equal(204);
    const last = await queue.sent({ scopeId: randomUUID() });
    expect((await queue.claim({ scopeId: '*' })).id).to.equal(last);
    expect((await queue.recv({ scopeId: '*' })).status).to.equal(204);
  }).timeout(longMs);

  it('hides nothing behind thousands of its messages, nor what becomes ready before them', async () => {
    const queue = await wideQueue();
    const { world, scopeId } = queue;
    const a = await below(world, scopeId);
    const now = Date.now();
    await world.at(now);
    const early = await queue.sent();
    const claim = await queue.claim({ leaseSeconds: 5 });
    expect(claim.id).to.equal(early);
    await sendMany(queue, 3_000, { scopeIds: [a] });
    await world.at(now + 10_000);
    await world.service.due.drain(world.org);
    await sendMany(queue, 100, { scopeIds: [a] });
    const last = await queue.sent();
    await world.mustPost(`/scopes/${a}/pause`);
    // Its lease ended before the pause, so it stands among the paused ones.
    const got = [(await queue.claim()).id, (await queue.claim()).id];
    expect(got).to.deep.equal([early, last]);
    expect((await queue.recv()).status).to.equal(204);
    await world.at(now + 60_000);
    const again = [(await queue.claim()).id, (await queue.claim()).id];
    expect(again).to.have.members([early, last]);
    await world.mustPost(`/scopes/${a}/resume`);
    const several = (await queue.claim({ max: 100 })).messages as { scopeId: string }[];
    expect(several.map((one) => one.scopeId)).to.deep.equal(Array(100).fill(a));
  });

  it('hides nothing that the end of a cancelled message frees in the same step', async () => {
    const queue = await Queue.create();
    const { world, scopeId } = queue;
    const [a, b] = [await below(world, scopeId), await below(world, scopeId)];
    await queue.sent({ scopeId: a });
    const cancelled = await queue.sent({ scopeId: b });
    const freed = await queue.sent({ after: [{ messageId: cancelled }], onFailure: 'RUN' });
    await world.mustPost(`/scopes/${a}/pause`);
    // Marked as cancelled, with its messages still to be ended.
    const now = String(Date.now());
    await world.service.store.hset(`${world.prefix}:scope:${b}`, { cancelledAt: now, cancelRequestId: 'r' });
    // The first goes to the store alone, and the others together.
    const scopes = [randomUUID(), ...Array(8).fill(scopeId)];
    const got = await Promise.all(scopes.map((one) => queue.recv({ scopeId: one })));
    expect(got.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(8).fill(204)]);
    expect(got.find(({ status }) => status === 200)?.body.id).to.equal(freed);
  });

  it('ends with its cancel, and can then neither be paused nor resumed; an unknown one is 404', async () => {
    const queue = await Queue.create();
    const { world, scopeId } = queue;
    await queue.sent();
    await world.mustPost(`/scopes/${scopeId}/pause`);
    await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect((await world.get(`/scopes/${scopeId}`)).body).to.deep.include({ state: 'CANCELLED', paused: false });
    for (const what of ['pause', 'resume']) {
      expect(codeOf(await world.post(`/scopes/${scopeId}/${what}`))).to.equal('409 SCOPE_CANCELLED');
      expect(codeOf(await world.post(`/scopes/${randomUUID()}/${what}`))).to.equal('404 SCOPE_NOT_FOUND');
    }
    expect(await world.service.store.hget(`muster:{${world.org}}:${world.spaceId}`, 'paused')).to.equal('0');
    await expectAgreement(world);
  });

  it('is kept by retention while it is paused', async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const { id } = await world.mustPost('/scopes', {});
    const { id: other } = await world.mustPost('/scopes', {});
    await world.mustPost(`/scopes/${id}/pause`);
    await aging.sweepAt(60 * day);
    expect((await world.get(`/scopes/${other}`)).status).to.equal(404);
    await world.mustPost(`/scopes/${id}/resume`);
    await aging.sweepAt(120 * day);
    expect((await world.get(`/scopes/${id}`)).status).to.equal(404);
  });

  it('is resumed and paused by 200 at once without losing a message', async () => {
    const queue = await Queue.create();
    const { world, scopeId } = queue;
    for (let n = 0; n < 40; n++) await queue.sent();
    const ids = new Set<string>();
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        if (n % 5 === 0) await world.mustPost(`/scopes/${scopeId}/${n % 2 === 0 ? 'pause' : 'resume'}`);
        else {
          const reply = await queue.recv();
          if (reply.status === 200) ids.add(reply.body.id);
        }
      }),
    );
    await world.mustPost(`/scopes/${scopeId}/resume`);
    for (;;) {
      const reply = await queue.recv();
      if (reply.status !== 200) break;
      expect(ids.has(reply.body.id)).to.equal(false);
      ids.add(reply.body.id);
    }
    expect(ids.size).to.equal(40);
    await expectAgreement(world);
  });
});
