import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { Queue } from './queue.ts';
import { row, step } from './steps.ts';

describe('POST /mailboxes/{id}/purge with finished', () => {
  /** Sends so many messages and completes them. */
  const finished = async (queue: Queue, count: number): Promise<string[]> => {
    const ids = await row(queue, count);
    for (let n = 0; n < count; n++) await queue.act('complete', await queue.claim(), { result: { payload: 'done' } });
    return ids;
  };
  const ids = async (queue: Queue): Promise<string[]> =>
    (await queue.list('?limit=200')).body.messages.map(({ id }: { id: string }) => id);
  const retainedBytes = async ({ world }: Queue) => (await world.get('/usage')).body.days.at(-1).retainedBytes;

  it('removes what has ended, oldest first, in steps of max; live messages stay', async () => {
    const queue = await Queue.create();
    const done = await finished(queue, 4);
    const live = await row(queue, 2);
    const claimed = await queue.claim();
    const first = await step(queue, 'purge', { finished: true, max: 3 });
    expect(first.body).to.deep.equal({ removed: 3, nextCursor: first.body.nextCursor });
    expect(await ids(queue)).to.deep.equal([done[3], ...live]);
    expect(await queue.counts()).to.deep.equal({ ready: 1, claimed: 1, acked: 1 });
    const second = await step(queue, 'purge', { finished: true, max: 3, cursor: first.body.nextCursor });
    expect(second.body).to.deep.equal({ removed: 1, nextCursor: null });
    expect(await ids(queue)).to.deep.equal(live);
    expect(await retainedBytes(queue)).to.equal(2);
    expect((await queue.act('complete', claimed)).status).to.equal(200);
    expect((await queue.world.get('/usage')).body.days.at(-1).byCall['mailbox.purge']).to.equal(2);
    const { census } = { census: (await queue.world.get('/census')).body };
    expect([census.messages.ACKED, census.tasks.SUCCEEDED]).to.deep.equal([1, 5]);
    await expectAgreement(queue.world);
  });

  it('frees the workKey of a message, and makes its id unknown', async () => {
    const queue = await Queue.create();
    const id = await queue.sent({ workKey: 'once' });
    const claim = await queue.claim();
    await queue.act('nack', claim, { retry: false });
    expect((await step(queue, 'purge', { finished: true })).body.removed).to.equal(1);
    expect((await queue.world.get(`/messages/${id}`)).status).to.equal(404);
    expect(codeOf(await queue.world.post(`/messages/${id}/requeue`))).to.equal('404 MESSAGE_NOT_FOUND');
    expect((await queue.send({ workKey: 'once' })).status).to.equal(201);
    await expectAgreement(queue.world);
  });

  it('keeps to a scope and those below it, and to members of decided groups', async () => {
    const queue = await Queue.create();
    const [outside = ''] = await finished(queue, 1);
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, queue);
    await team.submit('one');
    await team.submit('two');
    const claim = await queue.claim({ scopeId: team.gate });
    await queue.act('complete', claim);
    const within = () => step(queue, 'purge', { finished: true, scopeId: team.gate });
    expect((await within()).body.removed).to.equal(0);
    await queue.act('complete', await queue.claim({ scopeId: team.gate }));
    await team.seal();
    expect((await within()).body.removed).to.equal(2);
    expect(await ids(queue)).to.deep.equal([outside]);
    await expectAgreement(queue.world);
  });

  it('is one operation with any other purge: a cursor of one is refused by the other', async () => {
    const queue = await Queue.create();
    await finished(queue, 2);
    const { nextCursor } = (await step(queue, 'purge', { finished: true, max: 1 })).body;
    expect(codeOf(await step(queue, 'purge', { cursor: nextCursor }))).to.equal('400 INVALID_CURSOR');
  });

  it('20 purges at once remove each message once', async () => {
    const queue = await Queue.create();
    await finished(queue, 30);
    const steps = await Promise.all(Array.from({ length: 20 }, () => step(queue, 'purge', { finished: true, max: 7 })));
    const removed = steps.map(({ body }) => body.removed as number);
    expect(removed.reduce((sum, one) => sum + one, 0)).to.equal(30);
    await expectAgreement(queue.world);
  });
});
