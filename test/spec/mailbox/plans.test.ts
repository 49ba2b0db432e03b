import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { setPlan, showOrganization } from '../../../src/primitives/org/admin.ts';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('Plan limits of mailboxes', () => {
  it('bound agents at once: CONCURRENCY_LIMITED with Retry-After, checked by recv only when a message is ready', async () => {
    const queue = await Queue.create({}, await World.create({ figures: { agents: '2' } }));
    const other = await Queue.create({}, queue.world);
    for (let i = 0; i < 3; i++) await queue.sent();
    const claim = await queue.claim();
    await queue.claim();
    const refused = await queue.recv();
    expect(codeOf(refused)).to.equal('429 CONCURRENCY_LIMITED');
    expect(refused.headers.get('Retry-After')).to.match(/^[1-9]\d*$/);
    expect(refused.body.error.message).to.contain('2');
    expect((await other.recv()).status, 'nothing is ready there').to.equal(204);
    await queue.act('nack', claim, { retry: true });
    await queue.claim();
    expect((await showOrganization(queue.world.service, queue.world.org)).usage.agents).to.equal(2);
  });

  it('do not count lapsed claims as agents', async () => {
    const queue = await Queue.create({}, await World.create({ figures: { agents: '1' } }));
    const now = Date.now();
    await queue.world.at(now);
    await queue.sent();
    await queue.sent();
    await queue.claim({ leaseSeconds: 5 });
    await queue.world.at(now + 4999);
    expect(codeOf(await queue.recv())).to.equal('429 CONCURRENCY_LIMITED');
    await queue.world.at(now + 5000);
    await queue.claim();
  });

  it('bound active tasks, PENDING + RUNNING: ACTIVE_TASKS_LIMITED, only for a send to a WORK mailbox', async () => {
    const queue = await Queue.create({}, await World.create({ figures: { tasks: '2' } }));
    const inbox = await Queue.create({ mode: 'INBOX' }, queue.world);
    await queue.sent();
    await queue.sent();
    const refused = await queue.send();
    expect(codeOf(refused)).to.equal('409 ACTIVE_TASKS_LIMITED');
    expect(refused.body.error.message).to.match(
      /plan's 2 .*: send again once one has ended, or move to a larger plan$/,
    );
    await inbox.sent();
    const claim = await queue.claim();
    expect(codeOf(await queue.send())).to.equal('409 ACTIVE_TASKS_LIMITED');
    await queue.act('nack', claim, { retry: false });
    await queue.sent();
    expect((await showOrganization(queue.world.service, queue.world.org)).usage.tasks).to.equal(2);
  });

  it('bound active runs: ACTIVE_RUNS_LIMITED, only for a call that would create a new root', async () => {
    const queue = await Queue.create({}, await World.create({ figures: { runs: '2' } }));
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    for (const scopeId of [a, a, b]) await queue.sent({ scopeId });
    expect(codeOf(await queue.send({ scopeId: c }))).to.equal('409 ACTIVE_RUNS_LIMITED');
    await queue.sent({ scopeId: b });
    await queue.act('complete', await queue.claim({ scopeId: a }));
    expect(codeOf(await queue.send({ scopeId: c }))).to.equal('409 ACTIVE_RUNS_LIMITED');
    await queue.act('complete', await queue.claim({ scopeId: a }));
    await queue.sent({ scopeId: c });
    expect((await queue.send({ scopeId: a })).status, 'a is no new root').to.equal(201);
    expect((await showOrganization(queue.world.service, queue.world.org)).usage.runs).to.equal(3);
    expect(codeOf(await queue.send({ scopeId: randomUUID() })), 'of 2').to.equal('409 ACTIVE_RUNS_LIMITED');
  });

  it('stop new work on a smaller plan; existing work above its figures may finish', async () => {
    const queue = await Queue.create();
    const { service, org } = queue.world;
    for (let i = 0; i < 4; i++) await queue.sent();
    const claims = [await queue.claim(), await queue.claim(), await queue.claim()];
    await setPlan(service, { org, plan: 'enterprise', figures: { agents: '2', tasks: '2' } });
    const refused = async () => [codeOf(await queue.recv()), codeOf(await queue.send())];
    for (const claim of claims.slice(0, 2)) {
      expect(await refused()).to.deep.equal(['429 CONCURRENCY_LIMITED', '409 ACTIVE_TASKS_LIMITED']);
      expect((await queue.act('renew', claim)).status).to.equal(200);
      expect((await queue.act('complete', claim)).status).to.equal(200);
    }
    await queue.claim();
    expect((await showOrganization(service, org)).usage).to.include({ agents: 2, tasks: 2 });
  });

  it("accept exactly the plan's tasks out of 100 parallel sends", async () => {
    const queue = await Queue.create({}, await World.create({ figures: { tasks: '30' } }));
    const replies = await Promise.all(Array.from({ length: 100 }, () => queue.send({ scopeId: randomUUID() })));
    expect(replies.filter(({ status }) => status === 201)).to.have.lengthOf(30);
    expect((await showOrganization(queue.world.service, queue.world.org)).usage).to.include({ tasks: 30, runs: 30 });
  });

  it('refuse a receive with OPERATIONS_EXHAUSTED only when a message is ready, and before CONCURRENCY_LIMITED', async () => {
    const queue = await Queue.create({}, await World.create({ plan: 'free' }));
    await queue.sent({ workKey: 'known' });
    await queue.sent();
    await queue.claim();
    const { service, org } = queue.world;
    await service.store.hset(`muster:{${org}}`, { usedOperations: 1_000_000_000, agents: 1 });
    expect(codeOf(await queue.recv())).to.equal('402 OPERATIONS_EXHAUSTED');
    expect((await queue.recv({ scopeId: randomUUID() })).status, 'a poll that finds nothing').to.equal(204);
    expect((await queue.send({ workKey: 'known' })).status, 'a replay').to.equal(200);
  });
});
