import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listAudit, listSpaces } from '../../../src/primitives/org/admin.ts';
import { World } from '../../support/world.ts';

const start = Date.UTC(2031, 0, 1);

describe('The number of a space', () => {
  it('counts up in the organization, and lists follow it even if the clock was set back', async () => {
    const first = await World.create();
    const spaces = [first];
    for (const at of [start, start - 3_600_000, start - 7_200_000]) {
      await first.at(at);
      spaces.push(await first.anotherSpace());
    }
    expect(spaces.map(({ spaceNumber }) => spaceNumber)).to.deep.equal(['1', '2', '3', '4']);
    const ids = spaces.map(({ spaceId }) => spaceId);
    expect(ids).to.not.deep.equal([...ids].sort());
    expect((await listSpaces(first.service, first.org)).map(({ spaceId }) => spaceId)).to.deep.equal(ids);
    const { entries } = await listAudit(first.service, first.org);
    const created = entries
      .filter(({ action }) => action === 'space.created')
      .map(({ actor, target }) => [actor, target]);
    expect(created, 'in the audit trail').to.have.deep.members(ids.map((id) => ['cli', id]));
    const { scripts } = first.service;
    const from = { spaceId: '', requestId: '', cursor: ids[1] ?? '', limit: 1 };
    expect(JSON.stringify(await scripts.execute('space/list', first.org, from)))
      .to.contain(ids[2])
      .and.not.contain(ids[3]);
  });

  it('begins the names of its keys, and leads from a due moment back to the space', async () => {
    const one = await World.create();
    const two = await one.anotherSpace({ requestsPerMinute: 100_000 });
    await one.at(start);
    const scopeId = randomUUID();
    const deadline = new Date(start + 1000).toISOString();
    const sent: [World, string][] = [];
    for (const world of [two, one, two]) {
      const { id: mailbox } = await world.mustPost('/mailboxes', { name: 'q' });
      const { id } = await world.mustPost(`/mailboxes/${mailbox}/messages`, { scopeId, payload: 1, deadline });
      expect(await one.service.store.exists(`${world.prefix}:message:${id}`)).to.equal(1);
      sent.push([world, id]);
    }
    await one.at(start + 1000);
    await one.mustPost('/mailboxes', { name: 'another' });
    for (const [world, id] of sent) {
      expect(await world.service.store.hget(`${world.prefix}:message:${id}`, 'state')).to.equal('EXPIRED');
      const { body } = await world.get('/events?limit=500');
      const types = body.events.filter((event: { aggregateId: string }) => event.aggregateId === id);
      expect(types.map(({ type }: { type: string }) => type)).to.deep.equal(['message.sent', 'message.expired']);
    }
  });

  it('does not exist for an unknown space: nothing is written, and due work elsewhere still runs', async () => {
    const world = await World.create();
    const { scripts, store } = world.service;
    const { org, prefix } = world;
    const names = async () => (await store.keys(`muster:{${org}}*`)).filter((name) => !name.includes('clock')).sort();
    await world.at(start);
    const { id: mailbox } = await world.mustPost('/mailboxes', { name: 'q' });
    const deadline = new Date(start + 2000).toISOString();
    const { id } = await world.mustPost(`/mailboxes/${mailbox}/messages`, {
      scopeId: randomUUID(),
      payload: 1,
      deadline,
    });
    const before = await names();

    const nowhere = { spaceId: randomUUID(), requestId: '' };
    const delivery = { ...nowhere, destinationId: randomUUID(), entryId: '1-1' };
    const row = { eventType: 'mailbox.created', attempt: 1, responseStatus: '204', errorCode: '', durationMs: 1 };
    expect((await scripts.execute('webhook/dispatch', org, { ...nowhere, maxEntries: 9, opened: '' }))[0]).to.equal(-1);
    await scripts.execute('webhook/begin', org, { ...delivery, opened: '' });
    await scripts.execute('webhook/finish', org, { ...delivery, ...row, attemptedAt: start, pauseMs: 0, scale: 1 });
    const elsewhere = new World(world.service, org, nowhere.spaceId, world.apiKey);
    expect((await elsewhere.post('/mailboxes', { name: 'x' })).body.error.code).to.equal('SPACE_NOT_FOUND');
    expect(await names()).to.deep.equal(before);

    await store.zadd(`muster:{${org}}:timers`, start + 1000, `mailbox:message:99:${id}`);
    await store.zadd(`muster:{${org}}:finished`, start, `scope:scope:99:${randomUUID()}`);
    await world.at(start + 2000);
    await scripts.execute('timer/sweep', org, { spaceId: '', requestId: '', maxChanges: 100 });
    await scripts.execute('retention/records', org, { spaceId: '', requestId: '', maxRecords: 100 });
    expect(await store.hget(`${prefix}:message:${id}`, 'state')).to.equal('EXPIRED');
    expect(await store.keys(`muster:{${org}}:99:*`)).to.deep.equal([]);
  });
});
