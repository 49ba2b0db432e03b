import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listAudit, setPlan } from '../../../src/primitives/org/admin.ts';
import { defaultLimits, spaceLimits } from '../../support/limits.ts';
import { codeOf, World } from '../../support/world.ts';

describe('Per-space limits', () => {
  const create = () => World.create({ limits: { requestsPerMinute: 600 } });
  const put = (world: World, body: object) => world.call('PUT', '/limits', body);

  it('are seven fields, flat, in GET; unset ones have defaults', async () => {
    const reply = await (await create()).get('/limits');
    expect(reply.body).to.deep.equal(defaultLimits);
  });

  it('can be set in any subset by PUT, which answers the effective limits; null restores the default', async () => {
    const world = await create();
    const reply = await put(world, { maxBacklog: 5, maxLeaseSeconds: 60 });
    expect(reply.body).to.deep.equal({ ...defaultLimits, maxBacklog: 5, maxLeaseSeconds: 60 });
    expect((await put(world, { maxBacklog: null, maxArmedTimers: 7 })).body).to.deep.equal({
      ...defaultLimits,
      maxLeaseSeconds: 60,
      maxArmedTimers: 7,
    });
    expect((await world.get('/limits')).body).to.include({ maxBacklog: 1000, maxLeaseSeconds: 60, maxArmedTimers: 7 });
  });

  it('emit limits.updated with what changed; the audit entry names the key', async () => {
    const world = await create();
    await put(world, { maxBacklog: 5, maxLeaseSeconds: 600 });
    const { events } = (await world.get('/events')).body;
    expect(events).to.have.lengthOf(1);
    expect(events[0]).to.include({
      type: 'limits.updated',
      aggregate: 'limits',
      aggregateId: world.spaceId,
      scopeId: null,
    });
    expect(events[0].payload).to.deep.equal({ limitsId: world.spaceId, maxBacklog: 5 });
    const { entries } = await listAudit(world.service, world.org);
    const entry = entries.find(({ action }) => action === 'limits.updated');
    expect(entry).to.deep.include({ target: world.spaceId, detail: { maxBacklog: 5 } });
    expect(entry?.actor).to.match(/^[0-9a-f-]{36}$/);
  });

  it('change nothing on {} or the present values: 200, no event, no audit entry', async () => {
    const world = await create();
    for (const body of [{}, { maxBacklog: 1000 }, { maxBacklog: null }]) {
      expect((await put(world, body)).body).to.deep.equal(defaultLimits);
    }
    expect(await world.eventTypes()).to.deep.equal([]);
    const { entries } = await listAudit(world.service, world.org);
    expect(entries.map(({ action }) => action)).to.not.include('limits.updated');
  });

  it('accept exactly the specified ranges, bounds included; otherwise 400 and nothing is set', async () => {
    const world = await create();
    for (const [name, { min, max }] of Object.entries(spaceLimits)) {
      for (const value of [min, max]) {
        const reply = await put(world, { [name]: value });
        expect(reply.body[name], `${name} ${value}`).to.equal(value);
      }
      const over = name === 'maxPayloadBytes' ? [] : [max + 1];
      for (const value of [min - 1, 1.5, '600', ...over]) {
        const reply = await put(world, { maxBacklog: 77, [name]: value });
        expect(codeOf(reply), `${name} ${value}`).to.equal('400 VALIDATION_FAILED');
        if (Number.isInteger(value))
          expect(reply.body.error.message).to.equal(`${name} must be a whole number from ${min} to ${max}`);
      }
    }
    expect((await world.get('/limits')).body.maxBacklog).to.equal(1_000_000);
    expect(codeOf(await put(world, { maxbacklog: 5 }))).to.equal('400 VALIDATION_FAILED');
  });

  it('refuse maxPayloadBytes over 65,536 with 409 ENTITLEMENT_EXCEEDED', async () => {
    const world = await create();
    for (const value of [65_537, 10_000_000]) {
      const reply = await put(world, { maxBacklog: 5, maxPayloadBytes: value });
      expect(codeOf(reply)).to.equal('409 ENTITLEMENT_EXCEEDED');
      expect(reply.body.error.message).to.contain('maxPayloadBytes').and.to.contain('65536');
    }
    expect((await world.get('/limits')).body).to.deep.equal(defaultLimits);
  });

  it("refuse requestsPerMinute over the plan's figure with 409 ENTITLEMENT_EXCEEDED, but accept the figure itself", async () => {
    const world = await World.create({ figures: { rpm: '700' }, limits: { requestsPerMinute: 600 } });
    expect((await put(world, { requestsPerMinute: 700 })).status).to.equal(200);
    for (const value of [701, 100_001]) {
      const reply = await put(world, { requestsPerMinute: value });
      expect(codeOf(reply), `${value}`).to.equal('409 ENTITLEMENT_EXCEEDED');
      expect(reply.body.error.message).to.contain('requestsPerMinute').and.to.contain('700');
    }
  });

  it('accept the default on a plan below it: the effective value is min(stored, plan)', async () => {
    const world = await World.create({ figures: { rpm: '100' }, limits: { requestsPerMinute: 50 } });
    expect((await put(world, { maxBacklog: 5 })).body.requestsPerMinute).to.equal(50);
    const reply = await put(world, { requestsPerMinute: null });
    expect([reply.status, reply.body.requestsPerMinute]).to.deep.equal([200, 100]);
    expect((await world.get('/limits')).body.requestsPerMinute).to.equal(100);
  });

  it('are min(stored, plan) after a plan change, and rise again with a larger plan', async () => {
    const world = await World.create({ limits: { requestsPerMinute: 5000 } });
    const effective = async () => (await world.get('/limits')).body.requestsPerMinute;
    await setPlan(world.service, { org: world.org, plan: 'free' });
    expect(await effective()).to.equal(600);
    expect((await world.get('/limits')).headers.get('RateLimit-Policy')).to.equal(
      '"space";q=600;w=60, "org";q=600;w=60',
    );
    await setPlan(world.service, { org: world.org, plan: 'team' });
    expect(await effective()).to.equal(3000);
    await setPlan(world.service, { org: world.org, plan: 'enterprise' });
    expect(await effective()).to.equal(5000);
  });

  it('apply at once; a limit below what is in use only stops new work', async () => {
    const world = await create();
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const send = () => world.post(`/mailboxes/${id}/messages`, { scopeId: randomUUID(), payload: 'four' });
    await send();
    await send();
    await put(world, { maxBacklog: 1, maxPayloadBytes: 6 });
    expect(codeOf(await send())).to.equal('409 BACKLOG_FULL');
    await put(world, { maxBacklog: 3, maxPayloadBytes: 5 });
    expect(codeOf(await send())).to.equal('413 PAYLOAD_TOO_LARGE');
    const scopeId = randomUUID();
    const { id: budgetId } = await world.mustPost('/budgets', {
      name: 'b',
      currency: 'EUR',
      scale: 2,
      limitMinor: '9',
    });
    const { id: allowanceId } = await world.mustPost('/allowances', {
      name: 'a',
      unitsLimit: 1,
      windowSeconds: 86_400,
    });
    const one = { scopeId, holder: 'h', units: 1 };
    await world.mustPost(`/allowances/${allowanceId}/consume`, one);
    const wait = () => world.post(`/allowances/${allowanceId}/wait`, one);
    const timed = { scopeId, holder: 'h', amountMinor: '1', settleBy: '2999-01-01T00:00:00Z' };
    const reserve = () => world.post(`/budgets/${budgetId}/reserve`, timed);
    for (const more of [wait, wait, reserve, reserve]) expect((await more()).status).to.equal(201);
    await put(world, { maxPendingWaiters: 1, maxArmedTimers: 1 });
    expect([codeOf(await wait()), codeOf(await reserve())]).to.deep.equal(['409 WAITERS_FULL', '409 TIMERS_FULL']);
  });

  it('replay the values of the first PUT for the same Idempotency-Key', async () => {
    const world = await create();
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await world.call('PUT', '/limits', { maxBacklog: 5 }, key);
    await put(world, { maxBacklog: 9 });
    const again = await world.call('PUT', '/limits', { maxBacklog: 5 }, key);
    expect(again.text).to.equal(first.text);
    expect((await world.get('/limits')).body.maxBacklog).to.equal(9);
  });
});
