import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Listening } from '../../src/engine/redis/wake.ts';
import { channelOf } from '../../src/primitives/space/keys.ts';
import { World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';

const tasks = 20;
const leaseSeconds = 30;

for (const version of versions)
  describe(`Agents that know only MCP ${version}`, () => {
    let world: World;
    let scopeId: string;
    let mailboxId: string;
    let listening: Listening;
    beforeEach(async () => {
      world = await World.create();
      scopeId = randomUUID();
      mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
      // With the subscription there, a receive that is held has taken its second look before a later request is read.
      listening = world.service.wake.listen(channelOf(world.org, world.spaceId), () => undefined);
      await listening.ready;
    });
    afterEach(() => listening.stop());
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await sleep(5);
    };

    /** An agent with a connection that can be cut off: no answer gets through any more, nor any request. */
    async function connected() {
      const line = new AbortController();
      const fetch: typeof globalThis.fetch = (input, init) => {
        const signals = [line.signal, ...(init?.signal ? [init.signal] : [])];
        return globalThis.fetch(input, { ...init, signal: AbortSignal.any(signals) });
      };
      const agent = await Agent.connect(world, { version, fetch });
      return { agent, cutOff: () => line.abort() };
    }

    it('share a mailbox of 20 tasks; one is cut off in the middle, and yet each is done once', async () => {
      const start = Date.UTC(2026, 0, 1);
      await world.at(start);
      const boss = await Agent.connect(world, { version });
      const sent = new Map<string, number>();
      for (let n = 0; n < tasks; n++) {
        const { id } = await boss.mustCall('message_send', { mailboxId, scopeId, payload: { n }, workKey: `n-${n}` });
        sent.set(id, n);
      }
      /** What was done outside, by message. */
      const effects: string[] = [];
      const [first, second] = [await connected(), await connected()];
      const recv = (agent: Agent) =>
        agent.mustCall('message_recv', { mailboxId, scopeId, holder: agent.name, holderSession: '1', leaseSeconds });
      async function work(agent: Agent, maxTasks = Number.POSITIVE_INFINITY): Promise<void> {
        for (let done = 0; done < maxTasks; done++) {
          const { mailboxes } = await agent.mustCall('mailbox_list', { name: 'jobs' });
          expect(mailboxes[0].id).to.equal(mailboxId);
          const claim = await recv(agent);
          if (claim === null) return;
          effects.push(claim.id);
          const result = { payload: { n: claim.payload.n, by: agent.name } };
          await agent.mustCall('message_complete', { messageId: claim.id, token: claim.token, result });
        }
      }
      // The first one stops after 6, with two claims: of one the answer reached it, of the other it did not.
      const both = Promise.all([work(first.agent, 6), work(second.agent, 6)]);
      await both;
      const held = await recv(first.agent);
      await recv(first.agent);
      first.cutOff();
      expect(await recv(first.agent).then(String, () => 'cut off')).to.equal('cut off');
      await work(second.agent);
      const { counts } = await world.get(`/mailboxes/${mailboxId}`).then(({ body }) => body);
      expect(counts).to.include({ ready: 0, claimed: 2 });
      await world.at(start + leaseSeconds * 1000 + 1);
      const again = await connected();
      await work(again.agent);

      expect([...effects].sort()).to.deep.equal([...sent.keys()].sort());
      const late = { messageId: held.id, token: held.token };
      expect(await again.agent.refused('message_complete', late)).to.equal('CLAIM_LOST');
      for (const [messageId, n] of sent) {
        const { state, result, attempts } = await boss.mustCall('message_view', { messageId });
        expect([state, result.n]).to.deep.equal(['ACKED', n]);
        expect(attempts).to.be.within(1, 2);
      }
      const acked: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const args = { types: 'message.acked', limit: 500, ...(cursor !== undefined && { cursor }) };
        const { events, nextCursor } = await boss.mustCall('event_watch', args);
        if (events.length === 0) break;
        acked.push(...events.map(({ aggregateId }: { aggregateId: string }) => aggregateId));
        cursor = nextCursor;
      }
      expect(acked.sort()).to.deep.equal([...sent.keys()].sort());
      for (const agent of [boss, second.agent, again.agent]) await agent.close();
    });

    it('wait for work: held until there is some, at once', async () => {
      const [worker, boss] = [await Agent.connect(world, { version }), await Agent.connect(world, { version })];
      const asked = { mailboxId, scopeId: '*', holder: 'h', holderSession: 's', waitSeconds: 30 };
      const waiting = worker.mustCall('message_recv', asked);
      await until(() => world.service.wake.size === 1);
      const { id } = await boss.mustCall('message_send', { mailboxId, scopeId, payload: 1 });
      const answer = await waiting;
      // Who may have given up meanwhile is told to call again.
      if (version < '2026') expect(answer).to.equal(null);
      const claim = answer ?? (await worker.mustCall('message_recv', asked));
      expect([claim.id, claim.attempt]).to.deep.equal([id, 1]);
      await Promise.all([worker.close(), boss.close()]);
    });

    for (const way of ['cancels it', 'has its own time-out', 'says nothing'] as const)
      it(`a client that gives up a receive and keeps the connection burns no attempt: it ${way}`, async () => {
        // Its receive is told to nobody: a cancellation may come to another process, or never.
        const deaf = way === 'says nothing' && version < '2026';
        const fetch: typeof globalThis.fetch = (input, init) =>
          deaf && String(init?.body).includes('notifications/cancelled')
            ? Promise.resolve(new Response(null, { status: 202 }))
            : globalThis.fetch(input, init);
        const agent = await Agent.connect(world, { version, fetch });
        const giveUp = new AbortController();
        const asked = { mailboxId, scopeId, holder: 'h', holderSession: 's', waitSeconds: 30 };
        const options = way === 'cancels it' ? { signal: giveUp.signal } : { timeout: 200 };
        const waiting = agent.client
          .callTool({ name: 'message_recv', arguments: asked }, options)
          .then(String, () => 'gave up');
        await until(() => world.service.wake.size === 1);
        giveUp.abort();
        expect(await waiting).to.equal('gave up');

        const { id } = await world.mustPost(`/mailboxes/${mailboxId}/messages`, {
          scopeId,
          payload: 1,
          maxAttempts: 1,
        });
        await until(() => world.service.wake.size === 0);
        const { body } = await world.get(`/messages/${id}`);
        expect([body.state, body.attempts]).to.deep.equal(['READY', 0]);
        const claim = await agent.mustCall('message_recv', { ...asked, waitSeconds: 0 });
        expect([claim.id, claim.attempt]).to.deep.equal([id, 1]);
        await agent.close();
      });

    it('a client that may have given up holds nobody up: the next receive gets the message at once', async () => {
      const agent = await Agent.connect(world, { version });
      const asked = { scopeId, holder: 'h', holderSession: 's', waitSeconds: 30 };
      const first = agent.call('message_recv', { ...asked, mailboxId });
      await until(() => world.service.wake.size === 1);
      const second = world.call('POST', `/mailboxes/${mailboxId}/recv`, asked);
      await until(() => world.service.wake.size === 2);
      const { id } = await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
      if (version >= '2026') {
        expect((await first).value.id, 'it has waited longest').to.equal(id);
        await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 2 });
      } else expect((await first).value).to.equal(null);
      expect((await second).status).to.equal(200);
      await agent.close();
    });

    if (version < '2026')
      it('a client that may give up is refused at once where the plan has no claim left', async () => {
        // Less than the wait.
        const small = await World.create({ figures: { agents: '1' } });
        const box = (await small.mustPost('/mailboxes', { name: 'jobs' })).id;
        for (const payload of [1, 2]) await small.mustPost(`/mailboxes/${box}/messages`, { scopeId, payload });
        const agent = await Agent.connect(small, { version });
        const asked = { mailboxId: box, scopeId, holder: 'h', holderSession: 's', waitSeconds: 30 };
        await agent.mustCall('message_recv', asked);
        expect(await agent.refused('message_recv', asked)).to.equal('CONCURRENCY_LIMITED');
        await agent.close();
      });

    it('a message that comes while a receive begins is never missed', async () => {
      listening.stop();
      const agent = await Agent.connect(world, { version });
      const asked = { mailboxId, scopeId, holder: 'h', holderSession: 's', waitSeconds: 30 };
      for (let turn = 0; turn < 40; turn++) {
        const [{ value }, { id }] = await Promise.all([
          agent.call('message_recv', asked),
          world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: turn }),
        ]);
        const claim = value ?? (await agent.mustCall('message_recv', asked));
        expect(claim.id).to.equal(id);
        await agent.mustCall('message_complete', { messageId: id, token: claim.token });
      }
      await agent.close();
    });

    it('a held receive ends when its caller goes, and takes nothing', async () => {
      for (const go of ['the line', 'the client'] as const) {
        const { agent, cutOff } = await connected();
        const asked = { mailboxId, scopeId, holder: 'h', holderSession: 's', waitSeconds: 30 };
        const waiting = agent.call('message_recv', asked).then(String, () => 'gone');
        await until(() => world.service.wake.size === 1);
        if (go === 'the line') cutOff();
        else await agent.close();
        expect(await waiting, go).to.equal('gone');
        await until(() => world.service.wake.size === 0);
        await agent.close();
      }
      await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
      expect((await world.get(`/mailboxes/${mailboxId}`)).body.counts).to.include({ ready: 1, claimed: 0 });
    });
  });
