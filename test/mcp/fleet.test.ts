import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';

const tasks = 20;
const leaseSeconds = 30;

for (const version of versions)
  describe(`Agents that know only MCP ${version}`, () => {
    let world: World;
    let scopeId: string;
    let mailboxId: string;
    beforeEach(async () => {
      world = await World.create();
      scopeId = randomUUID();
      mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
    });
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
      expect((await waiting).id).to.equal(id);
      await Promise.all([worker.close(), boss.close()]);
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
