import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { channelOf } from '../../../src/primitives/space/keys.ts';
import { topicsOf } from '../../support/held-reads.ts';
import { Queue } from './queue.ts';

/** The topics that wake reads waiting for a message, a mailbox or a scope. */
describe('a finished message', () => {
  let queue: Queue;
  beforeEach(async () => {
    queue = await Queue.create();
  });
  const published = async (action: () => Promise<unknown>): Promise<string[]> => {
    const { world } = queue;
    const topics = await topicsOf(world, channelOf(world.org, world.spaceId), action);
    return topics.filter((topic) => !topic.includes('/'));
  };

  it('publishes its id, however it ended; claims and retries publish nothing', async () => {
    const ids = [await queue.sent(), await queue.sent()];
    let claim = await queue.claim();
    expect(await published(async () => (await queue.act('nack', claim, { retry: true })).status)).to.deep.equal([]);
    claim = await queue.claim();
    expect(await published(() => queue.act('complete', claim))).to.deep.equal([claim.id]);
    const last = await queue.claim();
    const ends = await published(() => queue.act('nack', last, { retry: false }));
    expect(ends).to.have.members([last.id, queue.scopeId, queue.id]);
    expect([claim.id, last.id]).to.have.members(ids);
  });

  it("publishes its mailbox's id if it was the last there, and its scope's id if it was the last there", async () => {
    await queue.sent();
    const elsewhere = { scopeId: randomUUID() };
    await queue.sent(elsewhere);
    const [first, second] = [await queue.claim(), await queue.claim(elsewhere)];
    expect(await published(() => queue.act('complete', first))).to.have.members([first.id, queue.scopeId]);
    expect(await published(() => queue.act('complete', second))).to.have.members([
      second.id,
      elsewhere.scopeId,
      queue.id,
    ]);
  });

  it("publishes when a deadline or a group's decision ends it, too", async () => {
    const { world } = queue;
    const start = Date.now();
    await world.at(start);
    const id = await queue.sent({ deadline: new Date(start + 60_000).toISOString() });
    await world.at(start + 60_000);
    expect(await published(() => world.service.due.drain(world.org))).to.have.members([id, queue.id, queue.scopeId]);
    const group = await world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'FIRST_ACCEPTED' });
    const path = `/task-groups/${group.groupId}`;
    const [one, two] = [
      await world.mustPost(`${path}/tasks`, { taskKey: 'a' }),
      await world.mustPost(`${path}/tasks`, { taskKey: 'b' }),
    ];
    await queue.act('complete', await queue.claim({ scopeId: group.scopeId }));
    expect(await published(() => world.mustPost(`${path}/tasks/${one.taskId}/accept`))).to.have.members([
      group.groupId,
      two.messageId,
      group.scopeId,
      queue.id,
    ]);
  });
});
