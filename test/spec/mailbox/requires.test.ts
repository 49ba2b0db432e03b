import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { codeOf } from '../../support/world.ts';
import { idsOf, Site } from './site.ts';

describe('A message that requires units', () => {
  it('is claimed with all of them in one step, and gives the pool units back with its claim', async () => {
    const site = await Site.create();
    // A window that does not end meanwhile.
    const [poolId, allowanceId] = [await site.pool(3), await site.allowance(100, 31_536_000)];
    const requires = { pools: [{ poolId, units: 2 }], quotas: [{ allowanceId, units: 40 }] };
    const id = await site.queue.sent({ requires });
    expect(await site.view(id)).to.deep.include({ requires, state: 'READY', holds: [], consumptions: [] });
    const claim = await site.queue.claim();
    const [hold] = claim.holds;
    expect(claim).to.deep.include({ id, requires, blockedBy: [] });
    expect(hold).to.include({ poolId, units: 2 });
    expect(hold.fence).to.be.above(Date.now() * 1000 - 60_000_000);
    expect(claim.consumptions).to.have.lengthOf(1);
    expect(claim.consumptions[0]).to.include({ allowanceId, units: 40 });
    expect(await site.view(id)).to.deep.include({ holds: claim.holds, consumptions: claim.consumptions });
    expect(await site.poolOf(poolId)).to.include({ heldUnits: 2, availableUnits: 1 });
    expect((await site.world.get(`/allowances/${allowanceId}`)).body.availableUnits).to.equal(60);
    const { heldClaims } = (await site.world.get('/ops/waits')).body;
    expect(heldClaims[0].holds).to.deep.equal(claim.holds);
    await expectAgreement(site.world);
    await site.queue.act('complete', claim);
    expect(await site.view(id)).to.deep.include({ holds: [], consumptions: [], requires });
    expect(await site.poolOf(poolId)).to.include({ heldUnits: 0, availableUnits: 3 });
    expect((await site.world.get(`/allowances/${allowanceId}`)).body.availableUnits, 'used').to.equal(60);
    const types = await site.world.eventTypes();
    expect(types.filter((type) => type === 'allowance.consumed')).to.have.lengthOf(1);
    await expectAgreement(site.world);
  });

  it('has defaults filled in, and requires nothing with {} and []', async () => {
    const site = await Site.create();
    const poolId = await site.pool();
    const [first, second, third] = [
      await site.queue.sent({ requires: { pools: [{ poolId }] } }),
      await site.queue.sent({ requires: {} }),
      await site.queue.sent({ requires: { pools: [], quotas: [] } }),
    ];
    expect((await site.view(first)).requires).to.deep.equal({ pools: [{ poolId, units: 1 }], quotas: [] });
    expect([(await site.view(second)).requires, (await site.view(third)).requires]).to.deep.equal([null, null]);
  });

  it('is refused if it names what is unknown, too much, too many or twice', async () => {
    const site = await Site.create();
    const [poolId, allowanceId] = [await site.pool(2), await site.allowance(10)];
    const refused = async (requires: object): Promise<string> => codeOf(await site.queue.send({ requires }));
    expect(await refused({ pools: [{ poolId: randomUUID() }] })).to.equal('409 POOL_NOT_FOUND');
    expect(await refused({ quotas: [{ allowanceId: randomUUID(), units: 1 }] })).to.equal('409 ALLOWANCE_NOT_FOUND');
    const tooMany = async (requires: object, what: string): Promise<void> => {
      const reply = await site.queue.send({ requires });
      expect(codeOf(reply)).to.equal('400 UNITS_EXCEED_LIMIT');
      expect(reply.body.error.message).to.include(what);
    };
    await tooMany({ pools: [{ poolId, units: 3 }] }, "the pool's 2 units");
    await tooMany({ quotas: [{ allowanceId, units: 11 }] }, "the allowance's unitsLimit of 10");
    for (const requires of [
      { pools: [{ poolId }, { poolId }] },
      { quotas: [{ allowanceId }] },
      { pools: Array.from({ length: 5 }, () => ({ poolId: randomUUID() })) },
      { pools: [{ poolId, units: 0 }] },
      { locks: [] },
    ])
      expect(await refused(requires), JSON.stringify(requires)).to.equal('400 VALIDATION_FAILED');
    const plain = await site.world.key(['coordination_write', 'coordination_read']);
    const spending = await site.world.key(['coordination_write', 'resource_spend']);
    const send = async (key: string, requires: object): Promise<string> => {
      const body = { scopeId: randomUUID(), payload: 1, requires };
      const reply = await site.world.post(`/mailboxes/${site.queue.id}/messages`, body, {
        Authorization: `Bearer ${key}`,
      });
      return reply.status === 201 ? 'sent' : `${codeOf(reply)} ${reply.body.error.message}`;
    };
    const quotas = [{ allowanceId, units: 1 }];
    expect(await send(plain, { quotas }))
      .to.include('403 PERMISSION_DENIED')
      .and.include('resource_spend');
    expect(await send(spending, { quotas })).to.equal('sent');
    expect(await send(plain, { pools: [{ poolId }] })).to.equal('sent');
  });

  it('is BLOCKED where a receive finds too few, and READY in its old place in the step that frees them', async () => {
    const site = await Site.create();
    const poolId = await site.pool();
    const requires = { pools: [{ poolId }] };
    const first = await site.queue.sent({ requires });
    const second = await site.queue.sent({ requires });
    const plain = await site.queue.sent();
    const [claim, other] = await site.claims();
    expect([claim.id, other.id]).to.deep.equal([first, plain]);
    expect(await site.view(second)).to.deep.include({
      state: 'BLOCKED',
      blockedBy: [{ kind: 'POOL', id: poolId }],
      readyAt: null,
    });
    const { waitingTasks } = (await site.world.get('/ops/waits')).body;
    expect(waitingTasks[0]).to.deep.include({
      taskId: second,
      waitsFor: 'BLOCKED',
      blockedBy: [{ kind: 'POOL', id: poolId }],
    });
    const third = await site.queue.sent();
    await expectAgreement(site.world);
    await site.queue.act('nack', claim, { retry: true });
    expect((await site.view(second)).state).to.equal('READY');
    const again = await site.claims();
    expect(idsOf(again), 'before what was sent after it, and before the retried one').to.deep.equal([second, third]);
    expect((await site.view(first)).blockedBy).to.deep.equal([{ kind: 'POOL', id: poolId }]);
    await expectAgreement(site.world);
  });

  it('waits behind holds, which go first', async () => {
    const site = await Site.create();
    const poolId = await site.pool();
    const held = await site.acquire(poolId);
    const waiting = await site.acquire(poolId);
    const id = await site.queue.sent({ requires: { pools: [{ poolId }] } });
    expect(await site.claims()).to.deep.equal([]);
    await site.world.mustPost(`/pool-holds/${held.id}/release`, { token: held.token });
    expect((await site.view(id)).state).to.equal('BLOCKED');
    await site.world.mustPost(`/pool-holds/${waiting.id}/release`, { token: waiting.token });
    const [claim] = await site.claims();
    expect(claim.id).to.equal(id);
    expect(claim.holds[0].fence).to.be.above(held.fence);
    const next = await site.acquire(poolId);
    expect(next.state).to.equal('WAITING');
    await site.queue.act('complete', claim);
    const view = (await site.world.get(`/pool-holds/${next.id}`)).body;
    expect(view).to.include({ state: 'HELD' });
    expect(view.fence).to.be.above(claim.holds[0].fence);
    await expectAgreement(site.world);
  });

  it('is freed in the step that serves the last hold before it, if that leaves enough', async () => {
    const site = await Site.create();
    const poolId = await site.pool(2);
    const held = await site.acquire(poolId, { units: 2 });
    const waiting = await site.acquire(poolId);
    const id = await site.queue.sent({ requires: { pools: [{ poolId }] } });
    expect(await site.claims()).to.deep.equal([]);
    await site.world.mustPost(`/pool-holds/${held.id}/release`, { token: held.token });
    expect((await site.world.get(`/pool-holds/${waiting.id}`)).body.state).to.equal('HELD');
    expect((await site.view(id)).state).to.equal('READY');
    expect(idsOf(await site.claims())).to.deep.equal([id]);
    await expectAgreement(site.world);
  });

  it('is freed by a lapsed lease, a larger pool and a new window, too', async () => {
    const site = await Site.create();
    const now = Math.floor(Date.now() / 60_000) * 60_000 + 1_000;
    await site.world.at(now);
    const [poolId, allowanceId] = [await site.pool(), await site.allowance(10)];
    const pools = [{ poolId }];
    const [one, two, three] = [
      await site.queue.sent({ requires: { pools } }),
      await site.queue.sent({ requires: { pools } }),
      await site.queue.sent({ requires: { quotas: [{ allowanceId, units: 8 }] } }),
    ];
    const four = await site.queue.sent({ requires: { quotas: [{ allowanceId, units: 8 }] } });
    expect(idsOf(await site.claims({ leaseSeconds: 10 }))).to.deep.equal([one, three]);
    expect((await site.view(four)).blockedBy).to.deep.equal([{ kind: 'ALLOWANCE', id: allowanceId }]);
    await site.world.at(now + 10_000);
    const lapsed = await site.claims();
    expect(idsOf(lapsed), 'the one that waited for it').to.deep.equal([two]);
    expect(await site.claims(), 'the attempt has used its units').to.deep.equal([]);
    await site.world.call('PATCH', `/pools/${poolId}`, { units: 2 });
    expect(idsOf(await site.claims())).to.deep.equal([one]);
    await site.world.at(now + 59_000);
    const rolled = await site.claims();
    expect(rolled).to.have.lengthOf(1);
    expect([three, four]).to.include(rolled[0].id);
    await expectAgreement(site.world);
  });

  it('is freed by the step of a settle that gives units back, where nobody waits', async () => {
    const site = await Site.create();
    await site.world.at(Math.floor(Date.now() / 60_000) * 60_000 + 1_000);
    const allowanceId = await site.allowance(10);
    const quota = { quotas: [{ allowanceId, units: 6 }] };
    const [first, second, third] = [
      await site.queue.sent({ requires: quota }),
      await site.queue.sent({ requires: quota }),
      await site.queue.sent({ requires: quota }),
    ];
    const [claim] = await site.claims();
    expect(claim.id).to.equal(first);
    expect((await site.view(second)).blockedBy).to.deep.equal([{ kind: 'ALLOWANCE', id: allowanceId }]);
    const [{ id, units }] = claim.consumptions;
    expect(units).to.equal(6);
    const settle = (used: number) =>
      site.world.post(`/allowances/${allowanceId}/consumptions/${id}/settle`, { units: used });
    const settled = await settle(2);
    expect(settled.body).to.deep.include({ id, units: 6, settledUnits: 2, availableUnits: 8, replay: false });
    expect([(await site.view(second)).state, (await site.view(third)).state]).to.deep.equal(['READY', 'BLOCKED']);
    expect((await settle(2)).body.replay).to.equal(true);
    expect(codeOf(await settle(3))).to.equal('409 CONSUMPTION_SETTLED');
    expect(idsOf(await site.claims())).to.deep.equal([second]);
    const run = (await site.world.get(`/ops/runs/${site.queue.scopeId}`)).body;
    expect(run.consumptions).to.deep.equal({ count: 2, units: 8 });
    await expectAgreement(site.world);
  });

  it('waits on behind waiters that a settle grants', async () => {
    const site = await Site.create();
    const allowanceId = await site.allowance(10);
    const use = { scopeId: site.queue.scopeId, holder: 'h', units: 10 };
    const { id } = await site.world.mustPost(`/allowances/${allowanceId}/consume`, use);
    const waiter = await site.world.mustPost(`/allowances/${allowanceId}/wait`, { ...use, units: 4 });
    expect(waiter.state).to.equal('WAITING');
    const message = await site.queue.sent({ requires: { quotas: [{ allowanceId, units: 4 }] } });
    expect(await site.claims()).to.deep.equal([]);
    const settle = (used: string, units: number) =>
      site.world.mustPost(`/allowances/${allowanceId}/consumptions/${used}/settle`, { units });
    await settle(id, 4);
    expect((await site.world.get(`/allowance-waiters/${waiter.id}`)).body.state).to.equal('GRANTED');
    expect((await site.view(message)).state).to.equal('BLOCKED');
    await settle(waiter.id, 0);
    expect((await site.view(message)).state).to.equal('READY');
    await expectAgreement(site.world);
  });

  it('is freed window by window, as many as fit into each', async () => {
    const site = await Site.create();
    const now = Math.floor(Date.now() / 60_000) * 60_000 + 1_000;
    await site.world.at(now);
    const allowanceId = await site.allowance(10);
    const ids = [];
    for (let n = 0; n < 5; n++) ids.push(await site.queue.sent({ requires: { quotas: [{ allowanceId, units: 8 }] } }));
    const claimed = [];
    for (let n = 0; n < 5; n++) {
      await site.world.at(now + n * 60_000);
      const claims = await site.claims({ leaseSeconds: 600 });
      expect(claims, `in window ${n}`).to.have.lengthOf(1);
      claimed.push(...idsOf(claims));
    }
    expect(claimed).to.deep.equal(ids);
    await expectAgreement(site.world);
  });

  it('holds nothing while it waits for another thing: a claim takes all or nothing', async () => {
    const site = await Site.create();
    const [a, b] = [await site.pool(), await site.pool()];
    const both = { pools: [{ poolId: a }, { poolId: b }] };
    const held = await site.acquire(b);
    const id = await site.queue.sent({ requires: both });
    const small = await site.queue.sent({ requires: { pools: [{ poolId: a }] } });
    const [claim] = await site.claims();
    expect(claim.id, 'the small one overtakes').to.equal(small);
    await site.queue.act('complete', claim);
    expect(await site.claims()).to.deep.equal([]);
    expect((await site.view(id)).blockedBy).to.deep.equal([{ kind: 'POOL', id: b }]);
    expect(await site.poolOf(a)).to.include({ heldUnits: 0 });
    await site.world.mustPost(`/pool-holds/${held.id}/release`, { token: held.token });
    expect(idsOf(await site.claims())).to.deep.equal([id]);
    await expectAgreement(site.world);
  });

  it('a message that is short of something else by now keeps nobody from units that are free', async () => {
    const site = await Site.create();
    const [a, b] = [await site.pool(), await site.pool()];
    const onA = { pools: [{ poolId: a }] };
    const first = await site.queue.sent({ requires: onA });
    const both = await site.queue.sent({ requires: { pools: [{ poolId: a }, { poolId: b }] } });
    const last = await site.queue.sent({ requires: onA });
    const [claim] = await site.claims();
    expect(claim.id).to.equal(first);
    const held = await site.acquire(b);
    await site.queue.act('complete', claim);
    expect((await site.view(both)).blockedBy).to.deep.equal([{ kind: 'POOL', id: b }]);
    expect((await site.view(last)).state).to.equal('READY');
    await expectAgreement(site.world);
    await site.world.mustPost(`/pool-holds/${held.id}/release`, { token: held.token });
    expect(idsOf(await site.claims())).to.deep.equal([both]);
    await expectAgreement(site.world);
  });

  it('passes units on that it does not take, when it is cancelled or others were faster', async () => {
    const site = await Site.create();
    const poolId = await site.pool(2);
    const held = await site.acquire(poolId, { units: 2 });
    const [first, large, small] = [
      await site.queue.sent({ requires: { pools: [{ poolId, units: 2 }] } }),
      await site.queue.sent({ requires: { pools: [{ poolId, units: 2 }] } }),
      await site.queue.sent({ requires: { pools: [{ poolId }] } }),
    ];
    expect(await site.claims()).to.deep.equal([]);
    await site.world.mustPost(`/pool-holds/${held.id}/release`, { token: held.token });
    expect((await site.view(large)).state).to.equal('BLOCKED');
    await site.world.mustPost(`/messages/${first}/cancel`);
    await workOff(site.world);
    expect([(await site.view(large)).state, (await site.view(small)).state]).to.deep.equal(['READY', 'BLOCKED']);
    await site.acquire(poolId);
    expect(await site.claims()).to.deep.equal([]);
    await workOff(site.world);
    expect(idsOf(await site.claims()), 'one unit is left').to.deep.equal([small]);
    await expectAgreement(site.world);
  });

  it('a message that requires several pools is READY in the step of a claim that gives all back', async () => {
    const site = await Site.create();
    const pools = [{ poolId: await site.pool() }, { poolId: await site.pool() }];
    const ids = [await site.queue.sent({ requires: { pools } }), await site.queue.sent({ requires: { pools } })];
    const [claim] = await site.claims();
    await site.queue.act('complete', claim);
    expect((await site.view(ids[1] as string)).state).to.equal('READY');
  });

  it('gives units to holds as of the end of its lease, however late that is swept', async () => {
    const site = await Site.create();
    const now = Date.now();
    await site.world.at(now);
    const poolId = await site.pool();
    await site.queue.sent({ requires: { pools: [{ poolId }] } });
    await site.claims({ leaseSeconds: 10 });
    const hold = await site.acquire(poolId, { ttlSeconds: 20, leaseSeconds: 600 });
    expect(hold.state).to.equal('WAITING');
    await site.world.at(now + 60_000);
    expect(await site.claims()).to.deep.equal([]);
    const { state, heldAt } = (await site.world.get(`/pool-holds/${hold.id}`)).body;
    expect([state, Date.parse(heldAt)]).to.deep.equal(['HELD', now + 10_000]);
    await expectAgreement(site.world);
  });

  it('keeps its pools from being deleted while it is live, and is not requeued once one is gone', async () => {
    const site = await Site.create();
    const poolId = await site.pool();
    const id = await site.queue.sent({ requires: { pools: [{ poolId }] } });
    const remove = () => site.world.call('DELETE', `/pools/${poolId}`);
    const refused = await remove();
    expect(codeOf(refused)).to.equal('409 POOL_NOT_EMPTY');
    expect(refused.body.error.message).to.match(/^1 unfinished messages require the pool/);
    const claim = await site.queue.claim();
    expect(codeOf(await remove())).to.equal('409 POOL_NOT_EMPTY');
    await site.queue.act('nack', claim, { retry: false });
    await site.world.mustPost(`/messages/${id}/requeue`);
    expect(codeOf(await remove())).to.equal('409 POOL_NOT_EMPTY');
    await site.world.mustPost(`/messages/${id}/cancel`);
    expect((await remove()).status).to.equal(204);
    expect(codeOf(await site.world.post(`/messages/${id}/requeue`))).to.equal('409 POOL_NOT_FOUND');
    const { passedOver } = await site.world.mustPost(`/mailboxes/${site.queue.id}/requeue`, { state: 'CANCELLED' });
    expect(passedOver).to.deep.equal({ POOL_NOT_FOUND: 1 });
  });

  it('counts as held by its receiver where a circle is looked for', async () => {
    const site = await Site.create();
    const [a, b] = [await site.pool(), await site.pool()];
    await site.queue.sent({ requires: { pools: [{ poolId: a }] } });
    const [claim] = await site.claims({ holder: 'agent', holderSession: 's' });
    expect(claim.holds).to.have.lengthOf(1);
    const other = { holder: 'other', holderSession: 's' };
    await site.acquire(b, other);
    await site.acquire(a, other);
    const body = { scopeId: site.queue.scopeId, holder: 'agent', holderSession: 's' };
    const refused = await site.world.post(`/pools/${b}/acquire`, body);
    expect(codeOf(refused)).to.equal('409 DEADLOCK');
    expect(refused.text).to.include('agent (s)').and.include('other (s)');
  });

  it('a cancelled run and a decided group give everything back', async () => {
    const site = await Site.create();
    const poolId = await site.pool();
    const run = randomUUID();
    const requires = { pools: [{ poolId }] };
    await site.queue.sent({ scopeId: run, requires });
    const waits = await site.queue.sent({ scopeId: run, requires });
    const last = await site.queue.sent({ requires });
    expect(await site.claims({ scopeId: '*' })).to.have.lengthOf(1);
    expect((await site.view(waits)).state).to.equal('BLOCKED');
    await site.world.mustPost(`/scopes/${run}/cancel`);
    await workOff(site.world);
    expect(idsOf(await site.claims())).to.deep.equal([last]);
    await expectAgreement(site.world);
  });

  it('is freed where the run of a hold is cancelled, be it HELD or WAITING', async () => {
    const site = await Site.create();
    const poolId = await site.pool(2);
    const requires = { pools: [{ poolId }] };
    const [keeps, waits] = [randomUUID(), randomUUID()];
    await site.acquire(poolId, { scopeId: keeps, units: 1 });
    const held = await site.acquire(poolId, { scopeId: randomUUID(), units: 1 });
    const id = await site.queue.sent({ requires });
    expect(await site.claims()).to.deep.equal([]);
    await site.world.mustPost(`/scopes/${held.scopeId}/cancel`);
    await workOff(site.world);
    const [claim] = await site.claims();
    expect(claim.id).to.equal(id);
    await site.acquire(poolId, { scopeId: waits, units: 2 });
    await site.queue.act('complete', claim);
    const last = await site.queue.sent({ requires });
    expect(await site.claims(), 'one unit is free, but somebody waits').to.deep.equal([]);
    await site.world.mustPost(`/scopes/${waits}/cancel`);
    await workOff(site.world);
    expect(idsOf(await site.claims())).to.deep.equal([last]);
    await expectAgreement(site.world);
  });

  it('with a key keeps its turn while it waits for units', async () => {
    const site = await Site.create({ perKey: 1 });
    const poolId = await site.pool();
    const held = await site.acquire(poolId);
    const first = await site.queue.sent({ key: 'a', requires: { pools: [{ poolId }] } });
    const second = await site.queue.sent({ key: 'a' });
    expect(await site.claims()).to.deep.equal([]);
    expect((await site.view(first)).blockedBy).to.deep.equal([{ kind: 'POOL', id: poolId }]);
    expect((await site.view(second)).blockedBy).to.deep.equal([{ kind: 'KEY', id: first }]);
    await site.world.mustPost(`/messages/${first}/cancel`);
    expect(idsOf(await site.claims())).to.deep.equal([second]);
    await site.world.mustPost(`/pool-holds/${held.id}/release`, { token: held.token });
    await expectAgreement(site.world);
  });

  it('leaves no timer behind in a pool that is deleted', async () => {
    const { queue, world } = await Site.create();
    const { id: poolId } = await world.mustPost('/pools', { name: 'p', units: 3 });
    const hold = await world.mustPost(`/pools/${poolId}/acquire`, { scopeId: queue.scopeId, holder: 'h', units: 2 });
    const large = await queue.sent({ requires: { pools: [{ poolId, units: 2 }] } });
    expect((await queue.recv()).status).to.equal(204);
    const small = await queue.sent({ requires: { pools: [{ poolId }] } });
    for (const id of [small, large]) await world.mustPost(`/messages/${id}/cancel`);
    await world.mustPost(`/pool-holds/${hold.id}/release`, { token: hold.token });
    expect((await world.call('DELETE', `/pools/${poolId}`)).status).to.equal(204);
    await workOff(world);
    expect(await world.service.store.zcard(`muster:{${world.org}}:backgroundTimers`)).to.equal(0);
    await expectAgreement(world);
  });
});
