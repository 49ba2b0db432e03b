import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { sendMany } from '../mailbox/many.ts';
import { Queue } from '../mailbox/queue.ts';
import { Run } from '../scope/run.ts';
import { queueMany } from './script.ts';

const scopeId = randomUUID();
const hour = 3_600_000;

describe('PATCH /allowances/{id}', () => {
  let world: World;
  let start: number;
  let id: string;
  let path: string;
  /** A window of 60 s with five units, three of them used. */
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    id = (await world.mustPost('/allowances', { name: 'calls', unitsLimit: 5, windowSeconds: 60 })).id;
    path = `/allowances/${id}`;
    await world.mustPost(`${path}/consume`, { scopeId, units: 3, holder: 'first' });
  });

  const patch = (body: unknown): Promise<Reply> => world.call('PATCH', path, body);
  const consume = (units: number) => world.post(`${path}/consume`, { scopeId, units, holder: 'agent' });
  const queue = async (units: number): Promise<string> =>
    (await world.mustPost(`${path}/wait`, { scopeId, units, holder: 'agent', ttlSeconds: 3600 })).id;
  const states = (ids: string[]) =>
    Promise.all(ids.map(async (one) => (await world.get(`/allowance-waiters/${one}`)).body.state));

  it('changes the present window too: 200 with the allowance', async () => {
    const { status, body } = await patch({ unitsLimit: 9 });
    expect(status).to.equal(200);
    expect(body).to.include({ id, unitsLimit: 9, usedUnits: 3, availableUnits: 6, waiting: 0 });
    expect(body).to.deep.equal((await world.get(path)).body);
    expect((await consume(6)).body).to.include({ availableUnits: 0 });
    expect(codeOf(await consume(1))).to.equal('429 ALLOWANCE_EXHAUSTED');
    await world.at(start + 60_000);
    expect((await consume(9)).status).to.equal(201);
    for (const none of [{}, { unitsLimit: null }]) expect(codeOf(await patch(none))).to.equal('400 VALIDATION_FAILED');
  });

  it('may go below what is used: availableUnits is then 0 until the next window', async () => {
    expect((await patch({ unitsLimit: 2 })).body).to.include({ usedUnits: 3, availableUnits: 0 });
    expect((await world.get('/allowances')).body.allowances[0]).to.include({ unitsLimit: 2, availableUnits: 0 });
    expect(codeOf(await consume(1))).to.equal('429 ALLOWANCE_EXHAUSTED');
    expect(codeOf(await consume(3))).to.equal('400 UNITS_EXCEED_LIMIT');
    await world.at(start + 60_000);
    expect((await consume(2)).body).to.include({ availableUnits: 0 });
  });

  it('grants the waiters that now fit at once, in order; the others keep waiting', async () => {
    const waiters = [await queue(4), await queue(5), await queue(5)];
    const { body } = await patch({ unitsLimit: 12 });
    expect(body).to.include({ usedUnits: 12, availableUnits: 0, waiting: 1 });
    expect(await states(waiters)).to.deep.equal(['GRANTED', 'GRANTED', 'WAITING']);
    expect((await world.eventTypes()).slice(-3)).to.deep.equal([
      'allowance.limit_changed',
      'waiter.granted',
      'waiter.granted',
    ]);
    await world.at(start + 60_000);
    expect(codeOf(await consume(12))).to.equal('429 ALLOWANCE_EXHAUSTED');
    expect(await states(waiters.slice(2))).to.deep.equal(['GRANTED']);
  });

  it('grants nobody during a cooldown', async () => {
    const waiter = await queue(5);
    await world.mustPost(`${path}/cooldown`, { seconds: 30 });
    await patch({ unitsLimit: 100 });
    expect(await states([waiter])).to.deep.equal(['WAITING']);
    await world.at(start + 30_000);
    expect(codeOf(await consume(90))).to.equal('201');
    expect(await states([waiter])).to.deep.equal(['GRANTED']);
  });

  it('answers 409 LIMIT_BELOW_USE with the units of the largest waiter when set below them', async () => {
    const [, second] = [await queue(3), await queue(5), await queue(4)];
    const refused = await patch({ unitsLimit: 4 });
    expect(codeOf(refused)).to.equal('409 LIMIT_BELOW_USE');
    expect(refused.body.error.message).to.contain('at least 5');
    await world.mustPost(`/allowance-waiters/${second}/cancel`);
    expect(codeOf(await patch({ unitsLimit: 3 }))).to.equal('409 LIMIT_BELOW_USE');
    expect((await patch({ unitsLimit: 4 })).status).to.equal(200);
    await world.at(start + 60_000);
    await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
    expect((await patch({ unitsLimit: 3 })).status, 'the one of four units waits on').to.equal(409);
    await world.at(start + 120_000);
    await world.post(`/allowance-waiters/${randomUUID()}/cancel`);
    expect((await patch({ unitsLimit: 1 })).status).to.equal(200);
    expect(await world.service.store.exists(`${world.prefix}:allowance:${id}:units`)).to.equal(0);
  });

  it('ignores and ends waiters of a cancelled run, even before its steps have reached them', async () => {
    const [run, runPath] = [randomUUID(), `${path}/wait`];
    await world.mustPost('/scopes', { scopeId: run });
    const { id: inner } = await world.mustPost('/scopes', { parentScopeId: run });
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const wait = (units: number) => world.mustPost(runPath, { scopeId: run, units, holder: 'a', ttlSeconds: 3600 });
    const stopped = [(await wait(5)).id, (await wait(4)).id];
    const waiting = await queue(3);
    // More messages than the first step ends; scopes below end first.
    await sendMany(new Queue(world, mailboxId), 260, { scopeIds: [inner] });
    expect((await world.mustPost(`/scopes/${run}/cancel`)).cancelled.waiters).to.equal(0);
    const refused = await patch({ unitsLimit: 2 });
    expect(codeOf(refused)).to.equal('409 LIMIT_BELOW_USE');
    expect(refused.body.error.message).to.contain('at least 3');
    expect((await patch({ unitsLimit: 3 })).body).to.include({ unitsLimit: 3, waiting: 1 });
    expect(await states([...stopped, waiting])).to.deep.equal(['CANCELLED', 'CANCELLED', 'WAITING']);
    await workOff(world);
    expect((await world.mustPost(`/scopes/${run}/cancel`)).cancelled).to.include({ messages: 260, waiters: 2 });
    await world.at(start + 60_000);
    expect(codeOf(await consume(1))).to.equal('429 ALLOWANCE_EXHAUSTED');
    expect(await states([waiting])).to.deep.equal(['GRANTED']);
    await expectAgreement(world);
  });

  it('ends them in one call, however many a cancelled run has left', async () => {
    await world.call('PUT', '/limits', { maxPendingWaiters: 10_000, maxArmedTimers: 10_000 });
    const run = await Run.create(world);
    await (await run.below()).fill(260);
    const waiting = await queue(3);
    const more = 2_600;
    await queueMany(world, id, more, 3600, { scopes: [run.scopeId], units: 4 });
    expect((await run.cancel()).body.cancelled.waiters).to.equal(0);
    expect((await patch({ unitsLimit: 3 })).body).to.include({ unitsLimit: 3, waiting: 1 });
    expect(await states([waiting])).to.deep.equal(['WAITING']);
    expect((await run.cancel()).body.cancelled.waiters).to.equal(more);
  });

  it('grants more waiters than fit one step, in order, and nobody jumps the queue', async () => {
    await world.mustPost(`${path}/consume`, { scopeId, units: 2, holder: 'first' });
    await queueMany(world, id, 120, 3600);
    const { store } = world.service;
    const ids = await store.lrange(`${world.prefix}:allowance:${id}:queue`, '0', '-1');
    expect((await patch({ unitsLimit: 105 })).body.waiting).to.equal(95);
    expect(codeOf(await consume(1))).to.equal('429 ALLOWANCE_EXHAUSTED');
    const stored = await Promise.all(ids.map((one) => store.hget(`${world.prefix}:waiter:${one}`, 'state')));
    expect(stored).to.deep.equal(ids.map((_, i) => (i < 100 ? 'GRANTED' : 'WAITING')));
    expect((await world.get(path)).body).to.include({ usedUnits: 105, waiting: 20 });
  });

  it('a new limit emits allowance.limit_changed, is audited and counts once; the same limit does not', async () => {
    await patch({ unitsLimit: 7 });
    expect((await patch({ unitsLimit: 7 })).body.unitsLimit).to.equal(7);
    const { events } = (await world.get('/events?limit=500')).body;
    const emitted = events.filter(({ type }: { type: string }) => type === 'allowance.limit_changed');
    expect(emitted.map(({ aggregateId, payload }: Reply['body']) => [aggregateId, payload])).to.deep.equal([
      [id, { allowanceId: id, unitsLimit: 7 }],
    ]);
    const { store } = world.service;
    expect(await store.hget(`muster:{${world.org}}:${world.spaceId}`, 'op:allowance.update')).to.equal('1');
    const [[, entry]] = (await store.xrevrange(`muster:{${world.org}}:audit`, '+', '-', 'COUNT', 1)) as [
      [string, string[]],
    ];
    expect(entry.slice(0, 2)).to.deep.equal(['action', 'allowance.limit_changed']);
    expect(entry.slice(4)).to.deep.equal(['target', id, 'detail', '{"unitsLimit":7}']);
  });
});
