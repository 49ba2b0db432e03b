import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { delivering, rows } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

describe('a worker that was thought lost', () => {
  let service: MusterService;
  before(async () => {
    // The test is the workers.
    service = await delivering({ role: 'api' });
  });
  after(() => service.stop());

  it('adds no second row to its attempt, which was INTERRUPTED and no failure, when it goes on after another one delivered', async () => {
    const world = await World.create({ on: service });
    const now = Date.now();
    await world.at(now);
    await world.made('/destinations', { url: 'http://127.0.0.1:1/' });
    await world.made('/mailboxes', { name: 'jobs' });
    const of = { spaceId: world.spaceId, requestId: '' };
    const run = (name: string, args: Record<string, string | number>) =>
      service.scripts.run(`webhook/${name}`, world.org, { ...of, ...args });
    const [, attempts] = await run('dispatch', { most: 10 });
    const [[destinationId = '', entryId = ''] = []] = attempts as string[][];
    const begin = async () => String((await run('begin', { destinationId, entryId }))[0]);
    const finish = (attempt: number, attemptedAt: string) => {
      const answer = { responseStatus: '204', errorCode: '', durationMs: 10, pauseMs: 0, scale: 1 };
      return run('finish', { destinationId, entryId, eventType: 'mailbox.created', attempt, attemptedAt, ...answer });
    };
    const first = await begin();
    await world.at(now + 26_000);
    const second = await begin();
    const [interrupted] = await rows(world);
    expect(interrupted?.nextAttemptAt).to.equal(new Date(now + 26_000).toISOString());
    expect((await world.get(`/destinations/${destinationId}`)).body.consecutiveFailures).to.equal(0);
    // The clock goes back a little; the row comes after the one before it all the same.
    await world.at(now + 25_999);
    await finish(2, second);
    await finish(1, first);
    const found = (await rows(world)).map(({ attempt, state, errorCode }) => [attempt, state, errorCode]);
    expect(found).to.deep.equal([
      [2, 'SUCCEEDED', null],
      [1, 'FAILED', 'INTERRUPTED'],
    ]);
  });
});
