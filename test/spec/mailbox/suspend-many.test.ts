import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { codeOf } from '../../support/world.ts';
import { stepByStep, wideQueue } from './many.ts';
import type { Queue } from './queue.ts';

/** How many an end frees in its own step. */
const atOnce = 50;

describe('An end that many suspended messages wait for', () => {
  let queue: Queue;
  beforeEach(async () => {
    queue = await wideQueue();
  });
  const count = async (name: string): Promise<number> => (await queue.record()).counts[name];
  const kinds = ['messageId', 'scopeId', 'note'] as const;

  type Claims = readonly { id: string; token: string }[];
  async function claimed(messages: number): Promise<Claims> {
    const send = { call: 'message.send', mailboxId: queue.id, scopeId: queue.scopeId, payload: 1 };
    await queue.world.mustPost('/batch', { calls: Array(messages).fill(send) });
    return (await queue.claim({ max: messages })).messages;
  }

  async function suspend(claims: Claims, what: object): Promise<string[]> {
    const calls = claims.map(({ id, token }) => ({ call: 'message.suspend', messageId: id, token, ...what }));
    const { results } = await queue.world.mustPost('/batch', { calls });
    for (const { status } of results) expect(status).to.equal(201);
    return claims.map(({ id }) => id);
  }

  for (const kind of kinds)
    it(`frees fifty at once and has workers free the rest, in order, whoever waits anew: ${kind}`, async () => {
      const scopeId = randomUUID();
      const end = async (): Promise<void> => {
        if (kind !== 'note') await queue.act('complete', await queue.claim({ scopeId }));
        else await queue.world.call('PUT', `/scopes/${scopeId}/notes/go`, { value: 1 });
      };
      const child = await queue.sent({ scopeId });
      const waits = { messageId: { after: [{ messageId: child }] }, scopeId: { after: [{ scopeId }] } };
      const what = kind === 'note' ? { note: { scopeId, key: 'go', sinceVersion: 0 } } : waits[kind];
      const [some, others] = [await claimed(80), await claimed(10)];
      const first = await suspend(some, what);
      await end();
      expect([await count('ready'), await count('blocked')].map((n) => n % 100)).to.deep.equal([
        atOnce + (kind === 'note' ? 1 : 0),
        80 - atOnce,
      ]);
      await expectAgreement(queue.world);
      if (kind === 'note') await queue.world.call('DELETE', `/scopes/${scopeId}/notes/go`);
      else await queue.sent({ scopeId });
      const anew = kind === 'messageId' ? [] : await suspend(others, what);
      const steps = await stepByStep(queue.world, () => count('blocked'));
      expect(Math.max(...steps.map(({ changed }) => changed))).to.be.at.most(atOnce);
      expect(await count('blocked')).to.equal(anew.length);
      await expectAgreement(queue.world);
      const { messages } = await queue.claim({ max: 100 });
      expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal(first);
      await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
      await workOff(queue.world);
      expect(await count('blocked')).to.equal(0);
      const left = await queue.world.service.store.keys(`${queue.world.prefix}:wait*`);
      expect(left, 'sets of those that wait').to.deep.equal([]);
      await expectAgreement(queue.world);
    });

  it('is woken once by two hundred ends at once, and by the last of fifty conditions', async () => {
    const parent = await queue.sent();
    const claim = await queue.claim();
    const scopeId = randomUUID();
    const children = await Promise.all(Array.from({ length: 200 }, () => queue.sent({ scopeId })));
    const after = children.slice(0, 49).map((messageId) => ({ messageId }));
    const { status } = await queue.world.post(`/messages/${claim.id}/suspend`, {
      token: claim.token,
      after: [...after, { scopeId }],
    });
    expect(status).to.equal(201);
    const claims = [
      ...(await queue.claim({ scopeId, max: 100 })).messages,
      ...(await queue.claim({ scopeId, max: 100 })).messages,
    ];
    await Promise.all(claims.map((one: { id: string; token: string }) => queue.act('complete', one)));
    expect(await queue.claim()).to.deep.include({ id: parent, attempt: 1 });
    expect((await queue.recv()).status).to.equal(204);
    await expectAgreement(queue.world);
  });

  it('is never missed by a suspension that comes at the same moment, in two hundred races', async () => {
    const pairs = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const [run, below] = [randomUUID(), randomUUID()];
        await queue.sent({ scopeId: run });
        const parent = await queue.claim({ scopeId: run });
        await queue.sent({ scopeId: below });
        return { parent, child: await queue.claim({ scopeId: below }), below };
      }),
    );
    const acts = pairs.flatMap(({ parent, child, below }, index) => {
      const after = index % 2 === 0 ? [{ messageId: child.id }] : [{ scopeId: below }];
      const suspends = () =>
        queue.world.mustPost(`/messages/${parent.id}/suspend`, { token: parent.token, after: after });
      const ends = () => queue.act('complete', child);
      return index % 4 < 2 ? [suspends, ends] : [ends, suspends];
    });
    await Promise.all(acts.map((act) => act()));
    for (const { parent } of pairs)
      expect((await queue.world.get(`/messages/${parent.id}`)).body).to.deep.include({ state: 'READY', attempts: 0 });
    await expectAgreement(queue.world);
  });

  it('is waited for by at most ten thousand, sends and suspended messages together', async () => {
    const child = await queue.sent({ scopeId: randomUUID() });
    const { store } = queue.world.service;
    await queue.sent();
    const claim = await queue.claim();
    await store.rpush(`${queue.world.prefix}:dependents:${child}`, ...Array<string>(10_000).fill(randomUUID()));
    const full = await queue.world.post(`/messages/${claim.id}/suspend`, {
      token: claim.token,
      after: [{ messageId: child }],
    });
    expect(codeOf(full)).to.equal('409 DEPENDENTS_FULL');
    await store.del(`${queue.world.prefix}:dependents:${child}`);
  });
});
