import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { workOff } from '../../support/work-off.ts';
import { codeOf } from '../../support/world.ts';
import { sendMany } from '../mailbox/many.ts';
import { Queue } from '../mailbox/queue.ts';
import { day, iso, minute, start, Timetable } from './timetable.ts';

describe('A schedule and its run', () => {
  let table: Timetable;
  beforeEach(async () => {
    table = await Timetable.create();
  });
  const retain = () => table.world.service.retention.retain(table.world.org);
  const cancel = (scopeId = table.scopeId) => table.world.post(`/scopes/${scopeId}/cancel`);

  it('is refused in a cancelled run', async () => {
    const { id } = await table.created();
    const stopped = randomUUID();
    await table.world.mustPost('/scopes', { scopeId: stopped });
    await cancel(stopped);
    expect(codeOf(await table.post({ scopeId: stopped }))).to.equal('409 SCOPE_CANCELLED');
    expect(codeOf(await table.patch(id, { scopeId: stopped }))).to.equal('409 SCOPE_CANCELLED');
  });

  it('ends with its run, and stays ended', async () => {
    const below = await table.world.mustPost('/scopes', { parentScopeId: table.scopeId });
    const active = await table.created();
    const paused = await table.created({ scopeId: below.id });
    await table.patch(paused.id, { state: 'PAUSED' });
    const other = await table.created({ scopeId: randomUUID() });
    const reply = await cancel();
    expect(reply.body).to.deep.include({ state: 'CANCELLED', done: true });
    expect(reply.body.cancelled).to.have.keys('messages', 'waiters', 'holds', 'questions', 'barriers', 'groups');
    for (const { id } of [active, paused]) {
      expect(await table.view(id)).to.include({ state: 'ENDED', nextAt: null });
      expect(codeOf(await table.patch(id, { state: 'ACTIVE' }))).to.equal('409 SCHEDULE_ENDED');
      expect(codeOf(await table.patch(id, { scopeId: randomUUID() }))).to.equal('409 SCHEDULE_ENDED');
      expect(codeOf(await table.trigger(id))).to.equal('409 SCHEDULE_ENDED');
    }
    const ended = (await table.events('schedule.updated')).filter(({ payload }) => payload.state === 'ENDED');
    expect(ended.map(({ aggregateId }) => aggregateId)).to.have.members([active.id, paused.id]);
    const { requestId } = (await table.events('scope.cancelled'))[0];
    expect(ended.map((event) => event.requestId)).to.deep.equal([requestId, requestId]);
    expect((await table.world.get('/census')).body.schedules).to.deep.equal({ ACTIVE: 1, PAUSED: 0, ENDED: 2 });
    await table.fireAt(start + minute);
    expect(await table.moments(active.id)).to.deep.equal([]);
    expect(await table.moments(other.id)).to.have.length(1);
    expect((await table.remove(active.id)).status).to.equal(204);
  });

  it('has ended from the first step of the cancel on, swept or not', async () => {
    const scopes: string[] = [];
    for (let i = 0; i < 2; i++)
      scopes.push((await table.world.mustPost('/scopes', { parentScopeId: table.scopeId })).id);
    // More than its first step ends.
    await sendMany(new Queue(table.world, table.mailboxId), 260, { scopeIds: scopes.slice(0, 1) });
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push((await table.created({ scopeId: scopes[1] })).id);
    const [first = '', second = '', third = '', fourth = ''] = ids;
    expect((await cancel()).body.done).to.equal(false);
    const { store } = table.world.service;
    expect(await store.hget(`${table.world.prefix}:schedule:${first}`, 'state')).to.equal('ACTIVE');
    expect(await table.view(first)).to.include({ state: 'ENDED', nextAt: null });
    const list = (await table.world.get('/schedules')).body.schedules;
    expect(list.map(({ state }: { state: string }) => state)).to.deep.equal(['ENDED', 'ENDED', 'ENDED', 'ENDED']);
    expect(codeOf(await table.trigger(first))).to.equal('409 SCHEDULE_ENDED');
    expect(codeOf(await table.patch(second, { name: 'x' }))).to.equal('409 SCHEDULE_ENDED');
    expect((await table.remove(third)).status).to.equal(204);
    await table.fireAt(start + minute);
    expect(await table.moments(fourth)).to.deep.equal([]);
    await workOff(table.world);
    expect((await table.world.get('/census')).body.schedules).to.deep.equal({ ACTIVE: 0, PAUSED: 0, ENDED: 3 });
    expect((await table.events('schedule.updated')).length).to.equal(4);
    expect((await table.events('schedule.deleted')).length).to.equal(1);
  });

  it('keeps its scope, even if nothing else uses it', async () => {
    const { id } = await table.created({ everySeconds: 31_536_000, scopeId: table.scopeId });
    await table.patch(id, { state: 'PAUSED' });
    await table.at(start + 500 * day);
    await retain();
    expect((await table.world.get(`/scopes/${table.scopeId}`)).status).to.equal(200);
    expect((await table.view(id)).state).to.equal('PAUSED');

    const other = randomUUID();
    await table.patch(id, { scopeId: other });
    await table.at(start + 1000 * day);
    await retain();
    expect(codeOf(await table.world.get(`/scopes/${table.scopeId}`)), 'left by it').to.equal('404 SCOPE_NOT_FOUND');
    expect((await table.world.get(`/scopes/${other}`)).status).to.equal(200);

    await table.remove(id);
    await table.at(start + 1500 * day);
    await retain();
    expect(codeOf(await table.world.get(`/scopes/${other}`)), 'deleted').to.equal('404 SCOPE_NOT_FOUND');
  });

  it('is kept like other finished work once it has ended, and is then removed with its scope', async () => {
    const timetable = await Timetable.create({ plan: 'free' });
    const { id, name } = await timetable.created();
    await timetable.world.post(`/scopes/${timetable.scopeId}/cancel`);
    const sweep = () => timetable.world.service.retention.retain(timetable.world.org);
    await timetable.at(start + 30 * day - 1);
    await sweep();
    expect((await timetable.view(id)).state).to.equal('ENDED');
    await timetable.at(start + 30 * day);
    await sweep();
    await sweep();
    expect(codeOf(await timetable.world.get(`/schedules/${id}`))).to.equal('404 SCHEDULE_NOT_FOUND');
    expect((await timetable.world.get('/census')).body.schedules).to.deep.equal({ ACTIVE: 0, PAUSED: 0, ENDED: 0 });
    expect(codeOf(await timetable.world.get(`/scopes/${timetable.scopeId}`))).to.equal('404 SCOPE_NOT_FOUND');
    await timetable.created({ name, scopeId: randomUUID() });
  });

  it('waits for nothing once it is deleted, and leaves nothing to remove later if it had ended', async () => {
    const [active, ended] = [await table.created(), await table.created({ scopeId: randomUUID() })];
    await cancel(ended.scopeId);
    for (const { id } of [active, ended]) expect((await table.remove(id)).status).to.equal(204);
    const waits = await table.world.get('/ops/waits');
    expect([waits.status, waits.body.schedules]).to.deep.equal([200, []]);
    const { store } = table.world.service;
    const finished = await store.zrange(`muster:{${table.world.org}}:finished`, '0', '-1');
    expect(finished.filter((member) => member.endsWith(ended.id) || member.endsWith(active.id))).to.deep.equal([]);
    const timers = await store.zrange(`muster:{${table.world.org}}:scheduleTimers`, '0', '-1');
    expect(timers).to.deep.equal([]);
  });

  it('is shown in the view of its run, without payload, and in the waits with its next moment', async () => {
    const one = await table.created({ everySeconds: 120 });
    const two = await table.created({ cron: '1 * * * *' });
    const paused = await table.created();
    await table.patch(paused.id, { state: 'PAUSED' });
    const { body } = await table.world.get(`/ops/runs/${table.scopeId}`);
    const { payload: _payload, ...summary } = await table.view(two.id);
    expect(body.schedules.map(({ id }: { id: string }) => id)).to.deep.equal([paused.id, two.id, one.id]);
    expect(body.schedules[1]).to.deep.equal(summary);
    const { schedules } = (await table.world.get('/ops/waits')).body;
    const row = ({ id, name }: { id: string; name: string }, nextAt: number) => ({
      scheduleId: id,
      name,
      mailboxId: table.mailboxId,
      scopeId: table.scopeId,
      nextAt: iso(nextAt),
      lastAt: null,
      missed: 0,
    });
    expect(schedules).to.deep.equal([row(two, start + minute), row(one, start + 2 * minute)]);
    const sibling = await table.world.anotherSpace();
    expect((await sibling.get('/ops/waits')).body.schedules).to.deep.equal([]);
  });
});
