import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { channelOf } from '../../../src/space/keys.ts';
import { topicsOf } from '../../support/held-reads.ts';
import { Queue } from './queue.ts';

/** What reads that wait for a message, a mailbox or a scope are woken by. */
describe('the end of messages', () => {
  let queue: Queue;
  beforeEach(async () => {
    queue = await Queue.create();
  });
  const told = async (action: () => Promise<unknown>): Promise<string[]> => {
    const { world } = queue;
    const topics = await topicsOf(world, channelOf(world.org, world.spaceId), action);
    return topics.filter((topic) => !topic.includes('/'));
  };

  it('publishes the id of each that ends, in whatever way; claims and retries publish none', async () => {
    const ids = [await queue.sent(), await queue.sent()];
    let claim = await queue.claim();
    expect(await told(async () => (await queue.act('nack', claim, { retry: true })).status)).to.deep.equal([]);
    claim = await queue.claim();
    expect(await told(() => queue.act('complete', claim))).to.deep.equal([claim.id]);
    const last = await queue.claim();
    const ends = await told(() => queue.act('nack', last, { retry: false }));
    expect(ends).to.have.members([last.id, queue.scopeId, queue.id]);
    expect([claim.id, last.id]).to.have.members(ids);
  });

  it("publishes the mailbox's id with the last of its messages, the scope's with the last of the scope's", async () => {
    await queue.sent();
    const elsewhere = { scopeId: randomUUID() };
    await queue.sent(elsewhere);
    const [first, second] = [await queue.claim(), await queue.claim(elsewhere)];
    expect(await told(() => queue.act('complete', first))).to.have.members([first.id, queue.scopeId]);
    expect(await told(() => queue.act('complete', second))).to.have.members([second.id, elsewhere.scopeId, queue.id]);
  });

  it('a deadline and a decided group do, too', async () => {
    const { world } = queue;
    const start = Date.now();
    await world.at(start);
    const id = await queue.sent({ deadline: new Date(start + 60_000).toISOString() });
    await world.at(start + 60_000);
    expect(await told(() => world.service.due.drain(world.org))).to.have.members([id, queue.id, queue.scopeId]);
    const group = await world.made('/task-groups', { mailboxId: queue.id, condition: 'FIRST_ACCEPTED' });
    const path = `/task-groups/${group.groupId}`;
    const [one, two] = [
      await world.made(`${path}/tasks`, { taskKey: 'a' }),
      await world.made(`${path}/tasks`, { taskKey: 'b' }),
    ];
    await queue.act('complete', await queue.claim({ scopeId: group.scopeId }));
    expect(await told(() => world.made(`${path}/tasks/${one.taskId}/accept`))).to.have.members([
      group.groupId,
      two.messageId,
      group.scopeId,
      queue.id,
    ]);
  });
});
