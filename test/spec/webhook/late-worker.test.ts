import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { delivering, rows } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

describe('a worker that was considered lost', () => {
  let service: MusterService;
  before(async () => {
    // No worker runs: the tests make its steps.
    service = await delivering({ role: 'api' });
  });
  after(() => service.stop());

  /** A destination with one event to deliver, and the steps of its workers. */
  async function oneToGet() {
    const world = await World.create({ on: service });
    const now = Date.now();
    await world.at(now);
    await world.made('/destinations', { url: 'http://127.0.0.1:1/' });
    await world.made('/mailboxes', { name: 'jobs' });
    const of = { spaceId: world.spaceId, requestId: '' };
    const run = (name: string, args: Record<string, string | number>) =>
      service.scripts.run(`webhook/${name}`, world.org, { ...of, ...args });
    const dispatch = async () => (await run('dispatch', { maxEntries: 10, opened: '' }))[1] as string[][];
    const [[destinationId = '', entryId = ''] = []] = await dispatch();
    const begin = async () => (await run('begin', { destinationId, entryId, opened: '' }))[0];
    const finish = (attempt: number, attemptedAt: unknown) => {
      const answer = { responseStatus: '204', errorCode: '', durationMs: 10, pauseMs: 0, scale: 1 };
      const args = { destinationId, entryId, eventType: 'mailbox.created', attempt, attemptedAt: String(attemptedAt) };
      return run('finish', { ...args, ...answer });
    };
    const key = world.prefix;
    return { world, now, key, entryId, destinationId, dispatch, begin, finish };
  }

  it('adds no second row for its attempt, which was INTERRUPTED but no failure, when it resumes after another worker delivered', async () => {
    const { world, now, key, destinationId, dispatch, begin, finish } = await oneToGet();
    await world.at(now + 20_000);
    const first = await begin();
    await world.at(now + 44_999);
    expect([await dispatch(), await begin()]).to.deep.equal([[], undefined]);
    expect(await service.store.zcard(`${key}:destination:${destinationId}:running`)).to.equal(1);
    await world.at(now + 45_000);
    const second = await begin();
    const [interrupted] = await rows(world);
    expect(interrupted?.nextAttemptAt).to.equal(new Date(now + 45_000).toISOString());
    expect((await world.get(`/destinations/${destinationId}`)).body.consecutiveFailures).to.equal(0);
    await finish(1, first);
    // Although the clock goes back a little, this row follows the one before it.
    await world.at(now + 44_999);
    await finish(2, second);
    await world.at(now + 45_000);
    await finish(1, first);
    expect(await begin()).to.equal(undefined);
    const found = (await rows(world)).map(({ attempt, state, errorCode }) => [attempt, state, errorCode]);
    expect(found).to.deep.equal([
      [2, 'SUCCEEDED', null],
      [1, 'FAILED', 'INTERRUPTED'],
    ]);
  });

  it('records its attempt even if the destination was disabled meanwhile', async () => {
    const { world, destinationId, begin, finish } = await oneToGet();
    const attemptedAt = await begin();
    await world.call('PATCH', `/destinations/${destinationId}`, { state: 'DISABLED' });
    await finish(1, attemptedAt);
    expect((await rows(world)).map(({ attempt, state }) => [attempt, state])).to.deep.equal([[1, 'SUCCEEDED']]);
    expect((await world.get('/backlog')).body.outbox).to.include({ PENDING: 0, DELIVERED: 0, EXHAUSTED: 1 });
  });

  it('sends nothing if the journal was trimmed meanwhile: EXHAUSTED', async () => {
    const { world, key, entryId, begin } = await oneToGet();
    await service.store.xdel(`${key}:events`, entryId);
    expect(await begin()).to.equal(undefined);
    expect((await world.get('/backlog')).body.outbox).to.include({ PENDING: 0, DELIVERED: 0, EXHAUSTED: 1 });
  });
});
