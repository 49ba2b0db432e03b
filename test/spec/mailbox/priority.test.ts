import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('Messages with a priority', () => {
  let queue: Queue;
  let now: number;

  beforeEach(async () => {
    now = Date.now();
    queue = await Queue.create();
    await queue.world.at(now);
  });

  const sent = async (priorities: readonly number[], fields: object = {}): Promise<string[]> => {
    const ids = [];
    for (const priority of priorities) ids.push(await queue.sent({ priority, ...fields }));
    return ids;
  };

  it('are received highest first, and within one priority first in, first out', async () => {
    const [a, b, c, d, e] = await sent([0, 9, 3, 9, 0]);
    const { messages } = await queue.claim({ max: 5 });
    expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal([b, d, c, a, e]);
    expect(messages.map(({ priority }: { priority: number }) => priority)).to.deep.equal([9, 9, 3, 0, 0]);
  });

  it('have it in their record for ever, 0 where none was sent, and refuse others', async () => {
    const [urgent = ''] = await sent([7]);
    const plain = await queue.sent();
    const priorityOf = async (id: string): Promise<number> => (await queue.world.get(`/messages/${id}`)).body.priority;
    expect(await Promise.all([urgent, plain].map(priorityOf))).to.deep.equal([7, 0]);
    await queue.act('complete', await queue.claim());
    expect(await priorityOf(urgent)).to.equal(7);
    for (const priority of [-1, 10, 1.5, '3']) {
      const reply = await queue.send({ priority });
      expect(codeOf(reply)).to.equal('400 VALIDATION_FAILED');
      expect(reply.text).to.include('priority');
    }
  });

  it('keep it when they are given back, delayed, requeued or lapse: they go to the back of their own priority', async () => {
    const [first, second, low] = await sent([5, 5, 1]);
    const received = async (): Promise<string> => {
      const claim = await queue.claim({ leaseSeconds: 5 });
      await queue.act('nack', claim, { retry: true });
      return claim.id;
    };
    expect([await received(), await received(), await received()]).to.deep.equal([first, second, first]);
    await queue.claim({ leaseSeconds: 5 });
    await queue.claim({ leaseSeconds: 5 });
    await queue.world.at(now + 5_000);
    const { messages } = await queue.claim({ max: 3 });
    expect(messages.map(({ id }: { id: string }) => id).slice(2)).to.deep.equal([low]);
    for (const claim of messages) await queue.act('nack', claim, { retry: false });
    for (const id of [low, first]) await queue.world.mustPost(`/messages/${id}/requeue`, { delaySeconds: 10 });
    await queue.sent();
    await queue.world.at(now + 60_000);
    const again = (await queue.claim({ max: 3 })).messages;
    expect(again.map(({ id }: { id: string }) => id).slice(0, 2)).to.deep.equal([first, low]);
  });

  it('come before READY ones as soon as their delay has ended, however many end with it', async () => {
    for (let n = 0; n < 40; n++) await queue.sent({ delaySeconds: 10 });
    const urgent = await queue.sent({ delaySeconds: 10, priority: 1 });
    const ready = await queue.sent({ priority: 0 });
    await queue.world.at(now + 10_000);
    const { messages } = await queue.claim({ max: 2 });
    expect(messages[0].id).to.equal(urgent);
    expect(messages[1].id).to.equal(ready);
  });

  it('change nothing of the turns of runs', async () => {
    const runs = [randomUUID(), randomUUID()];
    const low = await queue.sent({ scopeId: runs[0], priority: 0 });
    const high = await queue.sent({ scopeId: runs[1], priority: 9 });
    const higher = await queue.sent({ scopeId: runs[1], priority: 9 });
    const order = [];
    for (let i = 0; i < 3; i++) order.push((await queue.claim({ scopeId: '*' })).id);
    expect(order.indexOf(low)).to.be.below(2);
    expect(order.filter((id) => id !== low)).to.deep.equal([high, higher]);
  });

  it('hide nothing of how old the oldest is, in the mailbox and in the space', async () => {
    const oldestOf = async (): Promise<number> =>
      now + 100_000 - Date.parse((await queue.world.get(`/mailboxes/${queue.id}`)).body.oldestReadyAt);
    const ageOf = async (): Promise<number> => (await queue.world.get('/backlog')).body.oldestReadyAgeSeconds;
    await queue.sent();
    await queue.world.at(now + 50_000);
    await sent([9, 9, 2]);
    await queue.world.at(now + 100_000);
    expect([await oldestOf(), await ageOf()]).to.deep.equal([100_000, 100]);
    await queue.claim({ leaseSeconds: 600 });
    expect([await oldestOf(), await ageOf()]).to.deep.equal([100_000, 100]);
    const [, , low] = (await queue.claim({ max: 3, leaseSeconds: 600 })).messages;
    expect(low.priority).to.equal(0);
    expect((await queue.world.get(`/mailboxes/${queue.id}`)).body.oldestReadyAt).to.equal(null);
    await sent([4]);
    await queue.world.at(now + 160_000);
    await sent([0, 9]);
    expect(await ageOf()).to.equal(60);
    const { waitingTasks } = (await queue.world.get('/ops/waits')).body;
    expect(waitingTasks.map(({ position, waitsFor }: Record<string, unknown>) => [position, waitsFor])).to.deep.equal([
      [1, 'RECEIVER'],
      [2, 'HEAD_OF_LINE'],
      [3, 'HEAD_OF_LINE'],
    ]);
    expect(waitingTasks[1].waitingSince).to.equal(new Date(now + 100_000).toISOString());
  });

  it('are listed, purged and cancelled like others', async () => {
    const ids = await sent([9, 0, 5]);
    const listed = (await queue.list('?state=READY')).body.messages.map(({ id }: { id: string }) => id);
    expect(listed).to.deep.equal(ids);
    await queue.world.mustPost(`/messages/${ids[0]}/cancel`);
    const { cancelled } = await queue.world.mustPost(`/mailboxes/${queue.id}/purge`);
    expect(cancelled).to.equal(2);
    expect((await queue.recv()).status).to.equal(204);
  });

  it('priorities of members of groups and of schedules count likewise', async () => {
    const { world } = queue;
    const group = await world.mustPost('/task-groups', {
      mailboxId: queue.id,
      parentScopeId: queue.scopeId,
      condition: 'ALL_TERMINAL',
    });
    await world.mustPost(`/task-groups/${group.groupId}/tasks`, { taskKey: 'low' });
    await world.mustPost(`/task-groups/${group.groupId}/tasks`, { taskKey: 'high', priority: 2 });
    const timing = { name: randomUUID(), mailboxId: queue.id, scopeId: queue.scopeId, payload: 1, everySeconds: 60 };
    const schedule = await world.mustPost('/schedules', { ...timing, priority: 3, key: 'k' });
    expect(schedule).to.include({ priority: 3, key: 'k' });
    await world.mustPost(`/schedules/${schedule.id}/trigger`);
    const patched = await world.call('PATCH', `/schedules/${schedule.id}`, { priority: 0, key: 'other' });
    expect(patched.body).to.include({ priority: 0, key: 'other' });
    const { messages } = await queue.claim({ max: 3 });
    expect(messages.map((one: Record<string, unknown>) => one['taskKey'] ?? one['key'])).to.deep.equal([
      'k',
      'high',
      'low',
    ]);
  });

  it('are counted and sent by 200 at once without losing any, in a space where all is paused and resumed', async () => {
    const world = await World.create();
    const other = await Queue.create({}, world);
    await world.mustPost(`/mailboxes/${other.id}/pause`);
    await Promise.all(Array.from({ length: 200 }, (_, n) => other.sent({ priority: n % 10 })));
    expect((await other.recv({ max: 100 })).status).to.equal(204);
    await world.mustPost(`/mailboxes/${other.id}/resume`);
    const priorities = [];
    for (let n = 0; n < 2; n++)
      priorities.push(
        ...(await other.claim({ max: 100 })).messages.map(({ priority }: { priority: number }) => priority),
      );
    expect(priorities).to.deep.equal(Array.from({ length: 200 }, (_, n) => 9 - Math.floor(n / 20)));
  });
});
