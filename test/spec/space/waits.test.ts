import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

const iso = (at: number): string => new Date(at).toISOString();

async function begin(): Promise<{ world: World; traffic: Traffic; start: number }> {
  const world = await World.create();
  const start = (Math.ceil(Date.now() / 600_000) + 1) * 600_000;
  await world.at(start);
  return { world, traffic: await Traffic.on(world), start };
}

describe('waits', () => {
  it('is empty for a space where nothing waits', async () => {
    const { world } = await begin();
    const { asOf, ...rest } = (await world.get('/ops/waits')).body;
    const nothing = {
      waiters: [],
      heldGrants: [],
      waitingHolds: [],
      heldHolds: [],
      heldClaims: [],
      waitingTasks: [],
      schedules: [],
    };
    expect(rest).to.deep.equal({ ...nothing, truncated: false });
  });

  it('shows who holds which claim until when, also after a renewal, until it is given up', async () => {
    const { world, traffic, start } = await begin();
    const scopeId = traffic.scope();
    await traffic.send(scopeId);
    await traffic.note(scopeId);
    const claim = await traffic.claim(scopeId);
    await world.at(start + 1000);
    const note = await traffic.claim(scopeId, traffic.inbox);
    const held = async () => (await world.get('/ops/waits')).body.heldClaims;
    const [first, second] = await held();
    expect(first).to.deep.equal({
      messageId: claim.id,
      mailboxId: traffic.work,
      taskId: claim.id,
      scopeId,
      holder: 'agent',
      holderSession: 's',
      attempt: 1,
      claimedAt: iso(start),
      leaseExpiresAt: iso(start + 60_000),
      holds: [],
    });
    expect(second).to.include({ messageId: note.id, taskId: null, mailboxId: traffic.inbox });
    await world.mustPost(`/messages/${claim.id}/renew`, { token: claim.token, leaseSeconds: 600 });
    expect((await held())[1]).to.include({ messageId: claim.id, leaseExpiresAt: iso(start + 601_000) });
    const group = await world.mustPost('/task-groups', { mailboxId: traffic.work, condition: 'ALL_TERMINAL' });
    const { taskId } = await world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: 'a' });
    const waiting = {
      taskId,
      groupId: group.id,
      mailboxId: traffic.work,
      waitingSince: iso(start + 1000),
      readyAt: null,
      position: 1,
      waitsFor: 'RECEIVER',
      blockedBy: [],
    };
    const { waitingTasks } = (await world.get('/ops/waits')).body;
    expect(waitingTasks, 'a member by its own id').to.deep.equal([{ ...waiting, scopeId: group.scopeId }]);
    const member = await traffic.claim(group.scopeId);
    const rows = (await held()).map((row: Record<string, string>) => [row['messageId'], row['taskId']]);
    expect(rows).to.deep.include([member.id, taskId]);
    await traffic.complete(member);
    await traffic.complete(claim);
    expect(await held()).to.have.length(1);
    await world.at(start + 61_000);
    await world.service.due.drain(world.org);
    expect(await held()).to.have.length(0);
  });

  it('shows the earlier end of a lease that was shortened by a renewal', async () => {
    const { world, traffic, start } = await begin();
    const scopeId = traffic.scope();
    await traffic.send(scopeId);
    await traffic.send(scopeId);
    await traffic.claim(scopeId);
    const claim = await traffic.claim(scopeId);
    await world.mustPost(`/messages/${claim.id}/renew`, { token: claim.token, leaseSeconds: 5 });
    await world.at(start + 5000);
    await world.service.due.drain(world.org);
    const work = { mailboxId: traffic.work, condition: 'ALL_TERMINAL' };
    const { id: groupId, scopeId: gate } = await world.mustPost('/task-groups', work);
    await world.at(start + 5001);
    const { taskId } = await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 'a' });
    const { heldClaims, waitingTasks } = (await world.get('/ops/waits')).body;
    expect(heldClaims).to.have.length(1);
    const next = { readyAt: null, position: 1, waitsFor: 'RECEIVER', blockedBy: [] };
    expect(waitingTasks).to.deep.equal([
      {
        taskId: claim.id,
        groupId: null,
        mailboxId: traffic.work,
        scopeId,
        waitingSince: iso(start + 5000),
        ...next,
      },
      { taskId, groupId, mailboxId: traffic.work, scopeId: gate, waitingSince: iso(start + 5001), ...next },
    ]);
  });

  it('shows why each task waits: others of its run, a delay, a retry delay, or no receiver', async () => {
    const { world, traffic, start } = await begin();
    const retrying = await world.mustPost('/mailboxes', { name: 'retrying', retryDelaySeconds: 30 });
    const [scopeId, other] = [traffic.scope(), traffic.scope()];
    const failing = await traffic.send(scopeId, {}, retrying.id);
    await traffic.nack(await traffic.claim(scopeId, retrying.id), true);
    const sent = [await traffic.send(scopeId)];
    await world.at(start + 1);
    sent.push(await traffic.send(other), await traffic.send(scopeId), await traffic.send(scopeId, {}, retrying.id));
    const delayed = await traffic.send(scopeId, { delaySeconds: 60 });
    const shown = async () =>
      (await world.get('/ops/waits')).body.waitingTasks.map((row: Record<string, unknown>) =>
        ['taskId', 'position', 'waitsFor', 'readyAt'].map((name) => row[name]),
      );
    const [first, ofOther, second, elsewhere] = sent.map(({ id }) => id);
    const ready = [
      [first, 1, 'RECEIVER', null],
      [ofOther, 1, 'RECEIVER', null],
      [second, 2, 'HEAD_OF_LINE', null],
      [elsewhere, 1, 'RECEIVER', null],
    ];
    const rows = await shown();
    expect(rows.slice(0, 4)).to.have.deep.members(ready);
    expect(rows.slice(4)).to.deep.equal([
      [failing.id, null, 'RETRY', iso(start + 30_000)],
      [delayed.id, null, 'DELAY', iso(start + 60_001)],
    ]);
    await world.mustPost(`/messages/${first}/cancel`);
    expect(await shown()).to.deep.include([second, 1, 'RECEIVER', null]);
    // A requeue gives it all its attempts, so this is no retry but a delay.
    await world.mustPost(`/messages/${failing.id}/cancel`);
    await world.mustPost(`/messages/${failing.id}/requeue`, { delaySeconds: 10 });
    expect(await shown()).to.deep.include([failing.id, null, 'DELAY', iso(start + 10_001)]);
  });

  it('lists the oldest task first within one second, even if the first ones of its queue are gone', async () => {
    const { world, traffic, start } = await begin();
    const [a, b, c] = [traffic.scope(), traffic.scope(), traffic.scope()];
    for (const [index, scopeId] of [a, b, c, a, b].entries()) {
      await world.at(start + index);
      await traffic.send(scopeId);
    }
    for (const scopeId of [a, b]) await traffic.claim(scopeId);
    const { waitingTasks } = (await world.get('/ops/waits')).body;
    expect(waitingTasks.map((row: { scopeId: string }) => row.scopeId)).to.deep.equal([c, a, b]);
  });

  it('lists the oldest 200 waiting tasks of all mailboxes and scopes, oldest first, and reports if there are more', async () => {
    const { world, traffic, start } = await begin();
    const second = await world.mustPost('/mailboxes', { name: 'more' });
    const sent: string[] = [];
    for (let i = 0; i < 210; i += 10) {
      await world.at(start + i * 500);
      const scopeId = randomUUID();
      const batch = Array.from({ length: 10 }, (_, j) => traffic.send(scopeId, {}, j % 2 ? traffic.work : second.id));
      for (const { id } of await Promise.all(batch)) sent.push(id);
      await traffic.note(scopeId);
    }
    const { waitingTasks, truncated } = (await world.get('/ops/waits')).body;
    expect([waitingTasks.length, truncated]).to.deep.equal([200, true]);
    const ids = new Set(sent.slice(0, 200));
    expect(waitingTasks.filter((row: { taskId: string }) => !ids.has(row.taskId))).to.deep.equal([]);
    const moments = waitingTasks.map((row: { waitingSince: string }) => row.waitingSince);
    expect(moments).to.deep.equal([...moments].sort());
    for (let i = 0; i < 10; i++) await traffic.claim(waitingTasks[0].scopeId, i % 2 ? traffic.work : second.id);
    expect((await world.get('/ops/waits')).body.truncated).to.equal(false);
    // One message in each of 201 scopes.
    const wide = await begin();
    await Promise.all(Array.from({ length: 201 }, () => wide.traffic.send(wide.traffic.scope())));
    const { body } = await wide.world.get('/ops/waits');
    expect([body.waitingTasks.length, body.truncated]).to.deep.equal([200, true]);
    await Promise.all(wide.traffic.scopes.map((scopeId) => wide.traffic.claim(scopeId)));
    const { heldClaims, ...rest } = (await wide.world.get('/ops/waits')).body;
    expect([heldClaims.length, rest.waitingTasks.length, rest.truncated]).to.deep.equal([200, 0, true]);
  });

  it('searches some 1,000 mailboxes for waiting tasks, and reports if there may be more', async () => {
    const { world, traffic, start } = await begin();
    // Ids that are no WORK mailboxes stand in for inboxes.
    const others = (at: number, count: number) =>
      world.service.store.zadd(
        `${world.prefix}:oldestReady`,
        ...Array.from({ length: count }, () => [at, randomUUID()]).flat(),
      );
    const scopeId = traffic.scope();
    const shown = async () => {
      const { waitingTasks, truncated } = (await world.get('/ops/waits')).body;
      return [waitingTasks.length, truncated];
    };
    await others(start, 130);
    await world.at(start + 1000);
    await Promise.all(Array.from({ length: 199 }, () => traffic.send(scopeId)));
    expect(await shown()).to.deep.equal([199, false]);
    await others(start + 2000, 900);
    const { id } = await world.mustPost('/mailboxes', { name: 'last' });
    await world.at(start + 3000);
    await traffic.send(scopeId, {}, id);
    expect(await shown()).to.deep.equal([199, true]);
    await traffic.send(scopeId);
    expect(await shown()).to.deep.equal([200, true]);
  });
});
