import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../support/agree.ts';
import { World } from '../support/world.ts';
import { Queue } from '../spec/mailbox/queue.ts';

const idsOf = (messages: readonly { readonly id: string }[]): string[] => messages.map(({ id }) => id);
const receive = async (queue: Queue, fields: object = {}): Promise<any[]> => {
  const reply = await queue.recv({ max: 100, leaseSeconds: 600, ...fields });
  if (![200, 204].includes(reply.status)) throw new Error(reply.text);
  return reply.status === 204 ? [] : reply.body.messages;
};
const view = async (queue: Queue, id: string): Promise<any> => (await queue.world.get(`/messages/${id}`)).body;

describe('attack', () => {
  it('1 an end elsewhere frees behind a due delayed one', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const other = await Queue.create({}, queue.world);
    const p = await other.sent();
    const b = await queue.sent({ key: 'k', delaySeconds: 10 });
    const c = await queue.sent({ key: 'k', after: [{ messageId: p }] });
    await queue.world.at(now + 20_000);
    await other.act('complete', await other.claim());
    const [got] = await receive(queue);
    expect(got.id).to.equal(b);
    expect((await view(queue, c)).blockedBy).to.deep.equal([{ kind: 'KEY', id: b }]);
    await expectAgreement(queue.world);
  });
  it('2 moment of readiness after a late ripening', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const a = await queue.sent({ key: 'k' });
    const [claim] = await receive(queue);
    expect(claim.id).to.equal(a);
    const b = await queue.sent({ key: 'k', delaySeconds: 10 });
    await queue.world.at(now + 15_000);
    const x = await queue.sent();
    await queue.world.at(now + 20_000);
    await queue.act('complete', claim);
    expect(idsOf(await receive(queue))).to.deep.equal([x, b]);
  });
  it('3 lowering perKey after a due delay', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 2 });
    await queue.world.at(now);
    const a = await queue.sent({ key: 'k' });
    const b = await queue.sent({ key: 'k', delaySeconds: 10 });
    await queue.world.at(now + 20_000);
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 1 });
    expect(idsOf(await receive(queue))).to.deep.equal([a, b].sort((x) => (x === a ? -1 : 1)));
  });
  it('3b raising perKey with a due delay', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const a = await queue.sent({ key: 'k' });
    const b = await queue.sent({ key: 'k', delaySeconds: 10 });
    await queue.world.at(now + 15_000);
    const x = await queue.sent();
    await queue.world.at(now + 20_000);
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 2 });
    expect(idsOf(await receive(queue))).to.deep.equal([a, x, b]);
  });
  it('4 view of a due delayed one whose key is taken', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const a = await queue.sent({ key: 'k' });
    const b = await queue.sent({ key: 'k', delaySeconds: 10, workKey: 'w' });
    await queue.world.at(now + 20_000);
    console.log((await view(queue, b)).state, (await queue.send({ workKey: 'w' })).body, a);
  });
  it('5 lapses: moment of freed', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const a = await queue.sent({ key: 'k', maxAttempts: 1 });
    const b = await queue.sent({ key: 'k' });
    const y = await queue.sent({});
    expect(idsOf(await receive(queue, { leaseSeconds: 10, max: 1 }))).to.deep.equal([a]);
    expect(idsOf(await receive(queue, { leaseSeconds: 15, max: 1 }))).to.deep.equal([y]);
    await queue.world.at(now + 20_000);
    expect(idsOf(await receive(queue))).to.deep.equal([b, y]);
  });
  it('5b lapse with due delayed', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const a = await queue.sent({ key: 'k', maxAttempts: 1 });
    const b = await queue.sent({ key: 'k', delaySeconds: 5 });
    expect(idsOf(await receive(queue, { leaseSeconds: 10, max: 1 }))).to.deep.equal([a]);
    await queue.world.at(now + 7_000);
    const x = await queue.sent({});
    await queue.world.at(now + 20_000);
    expect(idsOf(await receive(queue))).to.deep.equal([x, b]);
  });
  it('6 odd keys', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const keys = ['a b', 'a:b', '{x}', '}{', '😀'.repeat(512), 'ü', ' ', '-', '+', '(a', '[a', '*', 'active:1', 'CANCEL', '"', "'", '\\', '%41', 'a/b?c=d&e#f'];
    for (const key of keys) {
      const one = await queue.sent({ key });
      const two = await queue.sent({ key });
      expect((await view(queue, two)).blockedBy, key).to.deep.equal([{ kind: 'KEY', id: one }]);
      const { messages } = (await queue.list(`?key=${encodeURIComponent(key)}`)).body;
      expect(idsOf(messages)).to.deep.equal([one, two]);
    }
    await expectAgreement(queue.world);
    const held = await receive(queue);
    expect(held).to.have.length(keys.length);
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: null });
    await queue.world.service.due.drain(queue.world.org, '*');
    expect(await receive(queue)).to.have.length(keys.length);
    await expectAgreement(queue.world);
  });
  it('7 nack not counted with delay', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const a = await queue.sent({ key: 'k' });
    const b = await queue.sent({ key: 'k' });
    const [c] = await receive(queue);
    await queue.act('nack', c, { retry: true, countsAttempt: false, delaySeconds: 10 });
    await expectAgreement(queue.world);
    await queue.world.mustPost(`/messages/${a}/cancel`);
    expect(idsOf(await receive(queue))).to.deep.equal([b]);
    await expectAgreement(queue.world);
  });
  it('8 batch and delete', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const send = (key: string, more: object = {}) => ({ call: 'message.send', mailboxId: queue.id, scopeId: queue.scopeId, payload: 1, key, ...more });
    const patch = (perKey: number | null) => ({ call: 'mailbox.update', mailboxId: queue.id, perKey });
    const { results } = await queue.world.mustPost('/batch', { calls: [
      send('a'), send('a'), send('b'), send('a', { priority: 9 }), patch(3), send('b'), send('a'), patch(null), send('a'), patch(1), send('a'), send('b'),
      { call: 'message.recv', mailboxId: queue.id, scopeId: queue.scopeId, holder: 'h', holderSession: 's', max: 100 },
      { call: 'mailbox.purge', mailboxId: queue.id },
    ] });
    console.log(results.map((r: any) => [r.status, r.body?.state ?? r.body?.error?.code ?? r.body?.messages?.length ?? r.body?.cancelled ?? r.body?.counts]));
    await queue.world.service.due.drain(queue.world.org, '*');
    await expectAgreement(queue.world);
    for (const r of results) if (r.body?.messages) for (const m of r.body.messages) await queue.act('complete', m);
    await queue.world.service.due.drain(queue.world.org, '*');
    for (let n = 0; n < 5; n++) { for (const m of await receive(queue)) await queue.act('complete', m); }
    await expectAgreement(queue.world);
    expect((await queue.world.call('DELETE', `/mailboxes/${queue.id}`)).status).to.equal(204);
    const left = await queue.world.service.store.keys(`${queue.world.prefix}:mailbox:${queue.id}*`);
    console.log(left.map((k) => k.slice(queue.world.prefix.length + 45)));
  });
  it('9 group of keys', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const { world } = queue;
    const { groupId } = await world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'FIRST_ACCEPTED' });
    const other = await queue.sent({ key: 'a' });
    void other;
    for (let n = 0; n < 5; n++) await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: `${n}`, key: n % 2 ? 'a' : 'b', priority: n });
    const tail = await queue.sent({ key: 'b' });
    const tail2 = await queue.sent({ key: 'a' });
    await world.mustPost(`/task-groups/${groupId}/seal`);
    await expectAgreement(world);
    const claims = await receive(queue, { scopeId: '*' });
    const member = claims.find((c: any) => c.groupId);
    await queue.act('complete', member);
    await world.mustPost(`/tasks/${member.taskId}/verdict`, { verdict: 'ACCEPT' });
    await expectAgreement(world);
    const rest = await receive(queue, { scopeId: '*' });
    expect(idsOf(rest)).to.deep.equal([tail]);
    await queue.act('complete', claims.find((c: any) => !c.groupId));
    expect(idsOf(await receive(queue, { scopeId: '*' }))).to.deep.equal([tail2]);
    await expectAgreement(world);
  });
  it('10 many requests of one world at once, of two mailboxes', async () => {
    const world = await World.create();
    const queues = [await Queue.create({ perKey: 2 }, world), await Queue.create({ perKey: 1 }, world)];
    let n = 0;
    const rnd = (k: number) => Math.floor(Math.random() * k);
    const claims: any[] = [];
    const step = async () => {
      const q = queues[rnd(2)] as Queue;
      const what = rnd(10);
      n++;
      if (what < 3) await q.send({ key: `k${rnd(3)}`, priority: rnd(3), ...(rnd(4) === 0 && { delaySeconds: 1 }) });
      else if (what < 6) claims.push(...(await receive(q, { max: 1 + rnd(4), leaseSeconds: 5 + rnd(5) })).map((c) => ({ ...c, q })));
      else if (what < 9) {
        const c = claims.splice(rnd(claims.length), 1)[0];
        if (c) await (rnd(2) ? c.q.act('complete', c) : c.q.act('nack', c, { retry: rnd(3) > 0, ...(rnd(2) && {}) }));
      } else if (rnd(3) === 0) await world.call('PATCH', `/mailboxes/${q.id}`, { perKey: [1, 2, 3, null][rnd(4)] });
      else await world.post(`/mailboxes/${q.id}/requeue`, { state: ['REJECTED', 'FAILED'][rnd(2)], max: 5 });
    };
    await Promise.all(Array.from({ length: 24 }, async () => { while (n < 900) await step().catch((e) => { n = 9999; throw e; }); }));
    await world.service.due.drain(world.org, '*');
    await expectAgreement(world);
  });
});
