import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

describe('census', () => {
  it('counts every state of a new space as 0', async () => {
    const world = await World.create();
    const begun = Date.now();
    const { status, body } = await world.get('/census');
    expect(status).to.equal(200);
    const { asOf, ...kinds } = body;
    expect(Date.parse(asOf)).to.be.within(begun - 1, Date.now() + 1);
    expect(kinds).to.deep.equal({
      scopes: { ACTIVE: 0, IDLE: 0, CANCELLED: 0 },
      claims: { HELD: 0 },
      timers: { ARMED: 0 },
      messages: {
        READY: 0,
        DELAYED: 0,
        BLOCKED: 0,
        CLAIMED: 0,
        ACKED: 0,
        REJECTED: 0,
        FAILED: 0,
        EXPIRED: 0,
        CANCELLED: 0,
      },
      tasks: { PENDING: 0, RUNNING: 0, SUCCEEDED: 0, FAILED: 0, EXPIRED: 0, CANCELLED: 0 },
      groups: { OPEN: 0, SEALED: 0, DECIDED: 0 },
      waiters: { WAITING: 0, GRANTED: 0, CANCELLED: 0, EXPIRED: 0 },
      holds: { WAITING: 0, HELD: 0, RELEASED: 0, LAPSED: 0, CANCELLED: 0, EXPIRED: 0 },
      questions: { OPEN: 0, ANSWERED: 0, EXPIRED: 0, WITHDRAWN: 0 },
      barriers: { OPEN: 0, RELEASED: 0, CANCELLED: 0 },
      bulks: { RUNNING: 0, DONE: 0, CANCELLED: 0 },
      reservations: { ACTIVE: 0, SETTLED: 0, VOIDED: 0 },
      events: {
        'budget.overdrawn': 0,
        'scope.cancelled': 0,
        'message.rejected': 0,
        'message.failed': 0,
        'message.expired': 0,
        'message.cancelled': 0,
        'message.requeued': 0,
        'task.cancelled': 0,
        'task.requeued': 0,
      },
      schedules: { ACTIVE: 0, PAUSED: 0, ENDED: 0 },
    });
  });

  it('counts cancelled and requeued messages, whichever call did it, and cancelled runs', async () => {
    const world = await World.create();
    const traffic = await Traffic.on(world);
    const counted = async () => {
      const { body } = await world.get('/census');
      const {
        'message.rejected': rejected,
        'message.failed': failed,
        'message.expired': expired,
        'budget.overdrawn': overdrawn,
        ...others
      } = body.events;
      expect([rejected, failed, expired, overdrawn]).to.deep.equal([0, 0, 0, 0]);
      return others;
    };
    const cancel = (id: string) => world.mustPost(`/messages/${id}/cancel`);
    const scopeId = traffic.scope();
    const { id } = await traffic.send(scopeId);
    await cancel(id);
    await cancel(id);
    await world.mustPost(`/messages/${id}/requeue`, { delaySeconds: 60 });
    await traffic.note(scopeId);
    await world.mustPost(`/mailboxes/${traffic.work}/purge`);
    await world.mustPost(`/mailboxes/${traffic.inbox}/purge`);
    const before = { 'scope.cancelled': 0, 'task.cancelled': 0, 'task.requeued': 0 };
    expect(await counted()).to.deep.equal({ ...before, 'message.cancelled': 3, 'message.requeued': 1 });
    for (const mailbox of [traffic.work, traffic.inbox]) {
      const body = { state: 'CANCELLED' };
      expect((await world.mustPost(`/mailboxes/${mailbox}/requeue`, body)).requeued).to.equal(1);
    }
    // One member is cancelled by the decision, the other earlier and then requeued.
    const group = await world.mustPost('/task-groups', { mailboxId: traffic.work, condition: 'FIRST_ACCEPTED' });
    const submit = (taskKey: string) => world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey });
    const { messageId } = await submit('x');
    await cancel(messageId);
    await world.mustPost(`/messages/${messageId}/requeue`);
    const claim = await traffic.claim(group.scopeId);
    await submit('y');
    await traffic.complete(claim);
    await world.mustPost(`/task-groups/${group.id}/tasks/${claim.taskId}/accept`);
    const tasks = { 'task.cancelled': 2, 'task.requeued': 1 };
    const messages = { 'message.cancelled': 5, 'message.requeued': 4 };
    expect(await counted()).to.deep.equal({ 'scope.cancelled': 0, ...tasks, ...messages });
    // Both are requeued into the run that is then cancelled.
    await world.mustPost(`/scopes/${scopeId}/cancel`);
    await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect(await counted()).to.deep.equal({ 'scope.cancelled': 1, ...tasks, ...messages, 'message.cancelled': 7 });
    await expectAgreement(world);
  });

  it('counts a deadline as an armed timer from send to finish, claimed or not, but not a lease', async () => {
    const world = await World.create();
    const traffic = await Traffic.on(world);
    const scopeId = traffic.scope();
    const armed = async (): Promise<number> => (await world.get('/census')).body.timers.ARMED;
    await traffic.send(scopeId, { deadline: inAnHour() });
    await traffic.send(scopeId);
    expect(await armed()).to.equal(1);
    const claim = await traffic.claim(scopeId);
    await traffic.claim(scopeId);
    expect(await armed()).to.equal(1);
    await traffic.complete(claim);
    expect(await armed()).to.equal(0);
  });

  it('agrees with a recount of the store after traffic of every kind, before and after its due moments', async () => {
    const world = await World.create();
    const start = Date.now();
    await world.at(start);
    const traffic = await Traffic.on(world);
    const deadline = new Date(start + 120_000).toISOString();
    await traffic.messages(deadline);
    await expectAgreement(world);
    await traffic.group();
    await traffic.barrier();
    await traffic.reservation(deadline);
    await traffic.units();
    await expectAgreement(world);
    const scopeId = traffic.scope();
    for (let i = 0; i < 5; i++) await traffic.send(scopeId, { deadline });
    for (let i = 0; i < 4; i++) await traffic.claim(scopeId);
    await world.mustPost('/task-groups', { mailboxId: traffic.work, condition: 'ALL_TERMINAL', deadline });
    await expectAgreement(world);
    for (const seconds of [30, 60, 90, 121]) {
      await world.at(start + seconds * 1000);
      await world.service.due.drain(world.org);
      await expectAgreement(world);
    }
    const { body } = await world.get('/census');
    expect(body.timers.ARMED).to.equal(0);
    expect(body.messages.EXPIRED).to.equal(6);
  });

  it('agrees with a recount after 200 parallel requests', async () => {
    const world = await World.create();
    const traffic = await Traffic.on(world);
    const scopes = Array.from({ length: 10 }, () => traffic.scope());
    const recv = (i: number) =>
      world.post(`/mailboxes/${traffic.work}/recv`, { scopeId: scopes[i % 10], holder: 'h', holderSession: 's' });
    const send = (i: number) => traffic.send(scopes[i % 10] ?? '', i % 3 ? {} : { deadline: inAnHour() });
    await Promise.all(Array.from({ length: 100 }, (_, i) => Promise.all([send(i), recv(i)])));
    await expectAgreement(world);
    const claims = (await Promise.all(Array.from({ length: 100 }, (_, i) => recv(i)))).filter(
      ({ status }) => status === 200,
    );
    await Promise.all(claims.map(({ body }, i) => (i % 2 ? traffic.complete(body) : traffic.nack(body, i % 4 === 0))));
    await expectAgreement(world);
  });
});
