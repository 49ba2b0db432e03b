import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

const url = 'http://127.0.0.1:1/';
const guardMs = 25_000;

/** These tests dispatch by themselves, and nobody makes the attempts. */
describe('the dispatcher', () => {
  let service: MusterService;
  before(async () => {
    service = await delivering({ role: 'api' });
  });
  after(() => service.stop());

  async function begin() {
    const world = await World.create({ on: service });
    const now = Date.now();
    await world.at(now);
    const { id } = await world.made('/destinations', { url, eventTypes: ['mailbox.created'] });
    const happen = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) await world.made('/mailboxes', { name: 'jobs' });
    };
    const dispatch = async (maxEntries: number) => {
      const args = { spaceId: world.spaceId, requestId: '', maxEntries, opened: '' };
      const [more, attempts, nextInMs] = await service.scripts.run('webhook/dispatch', world.org, args);
      return { more, attempts: attempts as string[][], nextInMs };
    };
    const outbox = async () => (await world.get('/backlog')).body.outbox;
    return {
      world,
      now,
      id,
      happen,
      dispatch,
      outbox,
      key: `${world.prefix}:destination:${id}`,
    };
  }

  it('reads the journal in steps, each entry once, for every destination except DISABLED ones', async () => {
    const { world, happen, dispatch, outbox } = await begin();
    const disabled = await world.made('/destinations', { url });
    await world.call('PATCH', `/destinations/${disabled.id}`, { state: 'DISABLED' });
    await world.made('/destinations', { url, eventTypes: ['budget.*'] });
    await dispatch(10);
    await happen(5);
    const named: string[] = [];
    for (const [more, UNREAD, PENDING] of [
      [1, 6, 2],
      [1, 2, 4],
      [0, 0, 5],
      [0, 0, 5],
    ]) {
      const step = await dispatch(2);
      expect([step.more, step.nextInMs]).to.deep.equal([more, guardMs]);
      expect(await outbox()).to.include({ UNREAD, PENDING });
      for (const [, entryId = '', number] of step.attempts) named.push(`${number} ${entryId}`);
    }
    expect(named).to.have.length(5);
    expect(new Set(named).size).to.equal(5);
  });

  it('stops reading at 1,000 unfinished deliveries of a destination', async () => {
    const { now, happen, dispatch, outbox, key } = await begin();
    const others = Array.from({ length: 999 }, (_, i) => [`${now + 1_000_000}`, `1-${i}`]).flat();
    await service.store.zadd(`${key}:unfinished`, ...others);
    await happen(3);
    for (let i = 0; i < 2; i++) {
      await dispatch(10);
      expect(await outbox()).to.include({ UNREAD: 2, PENDING: 1 });
    }
  });

  it('returns up to 16 attempts of a destination at once, 2 of a failing one, and again those whose worker was lost', async () => {
    const { world, now, happen, dispatch, key } = await begin();
    await happen(20);
    const named = async () => (await dispatch(100)).attempts.length;
    expect([await named(), await named()]).to.deep.equal([16, 0]);
    await world.at(now + guardMs);
    expect([await named(), await named()]).to.deep.equal([16, 0]);
    await service.store.hset(key, 'consecutiveFailures', 1);
    await world.at(now + 2 * guardMs);
    expect([await named(), await named()]).to.deep.equal([2, 0]);
  });
});
