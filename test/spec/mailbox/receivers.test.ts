import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { connect } from '../../../src/engine/redis/connection.ts';
import { channelOf } from '../../../src/primitives/space/keys.ts';
import { type MusterService, startService } from '../../../src/service.ts';
import { redisUrl } from '../../support/store.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('Who waits for a message', () => {
  let other: MusterService;
  let queue: Queue;
  /** The same queue, by the other process. */
  let there: Queue;
  let held: Promise<Reply>[];

  before(async () => {
    const log = pino({ level: 'silent' });
    other = await startService({ redisUrl: await redisUrl(), role: 'api', host: '127.0.0.1', port: 0, log });
  });
  after(() => other.stop());
  beforeEach(async () => {
    queue = await Queue.create();
    const { org, spaceId, apiKey } = queue.world;
    there = new Queue(new World(other, org, spaceId, apiKey), queue.id);
    held = [];
  });
  // A message for each of them.
  afterEach(async () => {
    for (const _ of held) await queue.sent();
    await Promise.all(held);
  });

  const receive = (by: Queue, fields: object): void => {
    held.push(by.recv({ scopeId: '*', waitSeconds: 20, ...fields }));
  };
  const shown = async (query = '', by = queue) => (await by.world.get(`/ops/receivers${query}`)).body;
  /** Once so many are shown. */
  async function receivers(count: number, query = ''): Promise<Record<string, string | null>[]> {
    for (;;) {
      const found = (await shown(query)).receivers;
      if (found.length >= count) return found;
      await sleep(10);
    }
  }

  it('is shown by every process, for the receives that all of them hold, longest first', async () => {
    const begun = Date.now();
    receive(queue, { holder: 'ann', holderSession: 'a1' });
    await receivers(1);
    receive(there, { holder: 'bob', holderSession: 'b1' });
    await receivers(2);
    receive(there, { holder: 'cyd', holderSession: 'c1', scopeId: queue.scopeId });
    const found = await receivers(3);
    const at = { mailboxId: queue.id };
    expect(found.map(({ since: _, ...rest }) => rest)).to.deep.equal([
      { ...at, scopeId: '*', holder: 'ann', holderSession: 'a1' },
      { ...at, scopeId: '*', holder: 'bob', holderSession: 'b1' },
      { ...at, scopeId: queue.scopeId, holder: 'cyd', holderSession: 'c1' },
    ]);
    for (const { since } of found) expect(Date.parse(since ?? '')).to.be.within(begun, Date.now());
    expect((await shown('', there)).receivers).to.deep.equal(found);
    expect(await shown('?limit=2')).to.deep.include({ receivers: found.slice(0, 2), truncated: true });
    expect((await shown()).truncated).to.equal(false);
  });

  it('is no longer shown once it has a message', async () => {
    receive(there, { holder: 'ann' });
    await receivers(1);
    await queue.sent();
    const [received] = await Promise.all(held.splice(0));
    expect(received?.body.holder).to.equal('ann');
    expect(await shown()).to.deep.include({ receivers: [], truncated: false });
  });

  it('is shown by mailbox, and not to another space', async () => {
    receive(queue, { holder: 'ann' });
    await receivers(1);
    const idle = await queue.world.mustPost('/mailboxes', { name: 'idle' });
    expect(await receivers(1, `?mailboxId=${queue.id}`)).to.have.length(1);
    expect((await shown(`?mailboxId=${idle.id}`)).receivers).to.deep.equal([]);
    const space = await queue.world.anotherSpace();
    expect((await space.get('/ops/receivers')).body.receivers).to.deep.equal([]);
    expect(codeOf(await queue.world.get(`/ops/receivers?mailboxId=${randomUUID()}`))).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await queue.world.get('/ops/receivers?limit=0'))).to.equal('400 VALIDATION_FAILED');
  });

  it('is cut, and says so, if a process does not answer', async () => {
    receive(queue, { holder: 'ann' });
    await receivers(1);
    // As a build without this call: it hears the question and does not answer.
    const silent = await connect(await redisUrl(), 'patient');
    await silent.ssubscribe(channelOf(queue.world.org, queue.world.spaceId));
    const { receivers: found, truncated } = await shown();
    expect([found.length, truncated]).to.deep.equal([1, true]);
    silent.disconnect();
  });

  it('ends the receives that a session holds, at any process, without a message, and no others', async () => {
    receive(queue, { holder: 'ann', holderSession: 'a1' });
    receive(there, { holder: 'ann', holderSession: 'a1', scopeId: queue.scopeId });
    receive(there, { holder: 'ann', holderSession: 'a2' });
    await receivers(3);
    const [here, elsewhere] = held.splice(0, 2);
    const left = await there.world.post(`/mailboxes/${queue.id}/leave`, { holderSession: 'a1' });
    expect([left.status, (await here)?.status, (await elsewhere)?.status]).to.deep.equal([204, 204, 204]);
    expect(
      (await shown()).receivers.map(({ holderSession }: { holderSession: string }) => holderSession),
    ).to.deep.equal(['a2']);
    // A message sent now goes to the receive that is left.
    await queue.sent();
    expect((await Promise.all(held.splice(0))).map(({ body }) => body.holderSession)).to.deep.equal(['a2']);
  });

  it('leaves a mailbox alone that is not named, or of another space', async () => {
    receive(queue, { holder: 'ann', holderSession: 'a1' });
    await receivers(1);
    const idle = await queue.world.mustPost('/mailboxes', { name: 'idle' });
    const leave = (mailboxId: string, world = queue.world) =>
      world.post(`/mailboxes/${mailboxId}/leave`, { holderSession: 'a1' });
    expect((await leave(idle.id)).status).to.equal(204);
    expect(codeOf(await leave(queue.id, await queue.world.anotherSpace()))).to.equal('404 MAILBOX_NOT_FOUND');
    expect(codeOf(await queue.world.post(`/mailboxes/${queue.id}/leave`, {}))).to.equal('400 VALIDATION_FAILED');
    expect((await shown()).receivers).to.have.length(1);
  });
});
