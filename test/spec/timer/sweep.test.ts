import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { idsOf } from '../mailbox/site.ts';
import { row } from '../mailbox/steps.ts';
import { TestPool } from '../pool/holds.ts';

const iso = (at: number): string => new Date(at).toISOString();

describe('A sweep', () => {
  let world: World;
  let now: number;
  const pass = (ms: number): Promise<void> => {
    now += ms;
    return world.at(now);
  };
  const begin = async (...choice: Parameters<typeof World.create>): Promise<void> => {
    world = await World.create(...choice);
    now = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
    await pass(0);
  };
  /** The next moment that it announces, whether more is due, and how much it has changed. */
  const sweep = async (maxChanges = 50, script = 'sweep'): Promise<unknown[]> => {
    const args = { spaceId: '', requestId: '', maxChanges, ...(script === 'background' && { name: '' }) };
    const [, ...rest] = await world.service.scripts.execute(`timer/${script}`, world.org, args);
    return rest.map(String);
  };

  it('makes at most so many changes, says whether more are due, and announces the next moment, if there is one', async () => {
    await begin();
    const queue = await Queue.create({}, world);
    for (const ms of [1000, 1000, 1000, 5000]) await queue.sent({ deadline: iso(now + ms) });
    expect(await sweep()).to.deep.equal([String(now + 1000), '0', '0']);
    await pass(1000);
    expect(await sweep(2)).to.deep.equal([String(now), '1', '2']);
    expect(await sweep(2)).to.deep.equal([String(now + 4000), '0', '1']);
    await pass(4000);
    expect(await sweep()).to.deep.equal(['', '0', '1']);
  });

  it('leaves an organization that is listed but was never created as it is', async () => {
    await begin();
    const org = `nobody-${randomUUID().slice(0, 8)}`;
    await world.service.due.drain(org);
    expect(await world.service.store.exists(`muster:{${org}}`)).to.equal(0);
  });

  it('in the background that arms a later timer leaves the earliest one where calls look', async () => {
    await begin({ plan: 'enterprise', figures: { agents: '1' } });
    const queue = await Queue.create({ backlogLimit: 1 }, world);
    await queue.sent();
    const claim = await queue.claim({ leaseSeconds: 600 });
    const pool = await TestPool.create(world);
    const waiting = await pool.acquire({ leaseSeconds: 600 });
    await queue.act('complete', claim);
    await queue.sent({ deadline: iso(now + 60_000) });
    await pass(1000);
    await sweep(50, 'background');
    expect((await pool.hold(waiting.id)).state, 'with a lease, which ends later').to.equal('HELD');
    expect(codeOf(await queue.send())).to.equal('409 BACKLOG_FULL');
    await pass(60_000);
    expect((await queue.send()).status, 'the message that expired makes room').to.equal(201);
  });

  it('is made at once of a background timer that a call depends on, armed or not', async () => {
    await begin();
    const queue = await Queue.create({}, world);
    const ids = await row(queue, 2);
    // Nobody has received from all runs of this mailbox before, so its turns are yet to be made.
    const { body } = await queue.recv({ scopeId: '*', max: 2 });
    expect(idsOf(body.messages)).to.deep.equal(ids);
  });
});
