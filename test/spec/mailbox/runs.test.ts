import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { background } from '../../../src/engine/redis/due.ts';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('Receiving across runs and in batches', () => {
  it('serves a message of each run with `*` before any has its second, and first in, first out within a run', async () => {
    const queue = await Queue.create();
    const runs = [randomUUID(), randomUUID(), randomUUID()];
    const sent = new Map<string, string>();
    const begun = Date.now();
    for (const [run, count] of [4, 1, 2].entries()) {
      // Runs that become ready in one millisecond are in no order.
      await queue.world.at(begun + run);
      for (let n = 0; n < count; n++) sent.set(await queue.sent({ scopeId: runs[run] }), `${run}.${n}`);
    }
    const order = [];
    for (let i = 0; i < 3; i++) order.push(sent.get((await queue.claim({ scopeId: '*' })).id));
    expect(order).to.deep.equal(['0.0', '1.0', '2.0']);
    // A run that becomes ready joins the back.
    sent.set(await queue.sent({ scopeId: runs[1] }), '1.1');
    for (let i = 0; i < 5; i++) order.push(sent.get((await queue.claim({ scopeId: '*' })).id));
    expect(order.slice(3)).to.deep.equal(['0.1', '2.1', '1.1', '0.2', '0.3']);
    expect((await queue.recv({ scopeId: '*' })).status).to.equal(204);
  });

  it('has all runs take turns, however many wait and whatever happens while the first receive counts them', async () => {
    const queue = await Queue.create({ retryDelaySeconds: 1 });
    const { world, id: mailboxId } = queue;
    const { store, scripts } = world.service;
    const begun = Date.now();
    const runs: string[] = [];
    const send = async (count: number, more: object = {}) => {
      const calls = Array.from({ length: count }, () => {
        const scopeId = randomUUID();
        runs.push(scopeId);
        return { call: 'message.send', mailboxId, scopeId, payload: 1, ...more };
      });
      await world.mustPost('/batch', { calls });
    };
    // Its first message becomes ready as of a moment that will be behind those counted already.
    const early = randomUUID();
    await queue.sent({ scopeId: early, delaySeconds: 1 });
    for (let at = 0; at < 6; at++) {
      await world.at(begun + 2000 + Math.floor(at / 2) * 5);
      await send(20);
    }
    await queue.sent({ scopeId: early });
    const number = world.prefix.slice(world.prefix.lastIndexOf(':') + 1);
    const name = `mailbox:turns:${number}:${mailboxId}`;
    const args = { spaceId: '', requestId: '', maxChanges: 1, name };
    const given: { id: string; token: string }[] = [];
    for (let step = 0; ; step++) {
      const { more } = await scripts.ask(background, world.org, args);
      // Runs get messages, lose their only one, have it back, and have a delayed one become ready.
      await world.at(begun + 2100 + 300 * step);
      await send(2);
      for (const at of [3, 40, 90]) {
        const found = await queue.recv({ scopeId: runs[at + step] });
        if (found.status === 200) given.push(found.body);
      }
      const back = given[step];
      if (back) await queue.act('nack', back, { retry: true, delaySeconds: 0 });
      if (!more) break;
      expect(step).to.be.below(20);
    }
    const members = async (set: string) =>
      (await store.zrange(`${world.prefix}:mailbox:${mailboxId}:${set}`, '0', '-1')).sort();
    expect(await members('turns')).to.deep.equal(await members('heads'));
    const waiting = (await members('heads')).length;
    const { messages } = await queue.claim({ scopeId: '*', max: 50 });
    const more = await queue.claim({ scopeId: '*', max: 100 });
    const served = [...messages, ...more.messages].map(({ scopeId }: { scopeId: string }) => scopeId);
    expect(new Set(served).size).to.equal(Math.min(150, waiting));
    await expectAgreement(world);
  });

  it('wakes a held `*` for a message of any run', async () => {
    const queue = await Queue.create();
    const held = queue.claim({ scopeId: '*', waitSeconds: 20 });
    const id = await queue.sent({ scopeId: randomUUID() });
    expect((await held).id).to.equal(id);
  });

  it('answers max with a list of at least one, each with its own token and operation; 204 if there is none', async () => {
    const queue = await Queue.create();
    const ids = [];
    for (let n = 0; n < 5; n++) ids.push(await queue.sent());
    const { messages } = await queue.claim({ max: 3 });
    expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal(ids.slice(0, 3));
    expect(new Set(messages.map(({ token }: { token: string }) => token)).size).to.equal(3);
    for (const claim of messages) expect((await queue.act('complete', claim)).status).to.equal(200);
    expect((await queue.claim({ max: 100, scopeId: '*' })).messages).to.have.lengthOf(2);
    expect((await queue.recv({ max: 2 })).status).to.equal(204);
    const { byCall } = (await queue.world.get('/usage')).body.days.at(-1);
    expect(byCall['message.recv']).to.equal(5);
    for (const max of [0, 101]) expect(codeOf(await queue.recv({ max }))).to.equal('400 VALIDATION_FAILED');
  });

  it("takes fewer if the plan's claims run short, and is refused only if none is left", async () => {
    const world = await World.create({ plan: 'enterprise', figures: { agents: '2' } });
    const queue = await Queue.create({}, world);
    for (let n = 0; n < 3; n++) await queue.sent();
    expect((await queue.claim({ max: 3 })).messages).to.have.lengthOf(2);
    expect(codeOf(await queue.recv({ max: 3 }))).to.equal('429 CONCURRENCY_LIMITED');
  });

  it('takes fewer if the operations of a free plan run short, too', async () => {
    const world = await World.create({ plan: 'free' });
    const queue = await Queue.create({}, world);
    for (let n = 0; n < 3; n++) await queue.sent();
    const { store } = world.service;
    const org = `muster:{${world.org}}`;
    const granted = Number(await store.hget(org, 'operations'));
    await store.hset(org, { usedOperations: granted - 2 });
    expect((await queue.claim({ max: 3 })).messages).to.have.lengthOf(2);
    expect(codeOf(await queue.recv({ max: 3 }))).to.equal('402 OPERATIONS_EXHAUSTED');
  });

  it('answers at most 4 MiB, the records of its messages included', async () => {
    const queue = await Queue.create();
    // Quotes are escaped.
    const holder = '"'.repeat(256);
    const sends = Array.from({ length: 80 }, (_, n) => ({
      payload: 'x'.repeat(60_000),
      workKey: `${n}`,
      key: '"'.repeat(200),
    }));
    for (const send of sends) await queue.sent(send);
    const { text, body } = await queue.recv({ max: 100, holder, holderSession: holder });
    expect(Buffer.byteLength(text)).to.be.within(4_000_000, 4 * 1024 * 1024);
    expect(body.messages).to.have.length.within(60, 69);
  });

  it('takes fewer if payloads and progress would exceed 4 MiB', async () => {
    const queue = await Queue.create();
    const ids = [await queue.sent(), await queue.sent(), await queue.sent()];
    const { service, prefix } = queue.world;
    // As if larger ones were allowed. The quotes are two bytes.
    const set = (nth: number, fields: Record<string, number>) =>
      service.store.hset(
        `${prefix}:message:${ids[nth]}`,
        Object.fromEntries(Object.entries(fields).map(([name, bytes]) => [name, `"${'x'.repeat(bytes - 2)}"`])),
      );
    // Only what was given back has a progress.
    for (const claim of (await queue.claim({ max: 3 })).messages) await queue.act('nack', claim, { retry: true });
    const mebibyte = 1024 * 1024;
    // With room for three records.
    await set(0, { payload: mebibyte - 16_384 });
    await set(1, { payload: mebibyte, progress: mebibyte });
    await set(2, { payload: mebibyte + 16_384 });
    const { messages } = await queue.claim({ max: 100 });
    expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal(ids.slice(0, 2));
    for (const claim of messages) await queue.act('nack', claim, { retry: true });
    await set(2, { payload: mebibyte });
    expect((await queue.claim({ max: 100 })).messages).to.have.lengthOf(3);
  });

  it('ends the leases of one answer like those of separate receives', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now);
    await queue.sent({ deadline: new Date(now + 7_000).toISOString() });
    await queue.sent();
    await queue.claim({ max: 2, leaseSeconds: 10 });
    await queue.world.at(now + 10_000);
    expect((await queue.claim()).attempt).to.equal(2);
  });
});
