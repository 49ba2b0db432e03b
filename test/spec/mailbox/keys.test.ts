import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { codeOf, World } from '../../support/world.ts';
import { printSteps, sendMany, stepByStep, wideQueue } from './many.ts';
import { Queue } from './queue.ts';

interface Received {
  readonly id: string;
  readonly token: string;
  readonly key: string;
}

/** The messages that a receive of up to 100 gets. */
const receive = async (queue: Queue, fields: object = {}): Promise<Received[]> => {
  const reply = await queue.recv({ max: 100, leaseSeconds: 600, ...fields });
  return reply.status === 204 ? [] : reply.body.messages;
};
const idsOf = (messages: readonly { readonly id: string }[]): string[] => messages.map(({ id }) => id);
// biome-ignore lint/suspicious/noExplicitAny: as in Reply.
const view = async (queue: Queue, id: string): Promise<any> => (await queue.world.get(`/messages/${id}`)).body;

describe('Messages with a key', () => {
  it('are only kept and found by it where the mailbox has no perKey', async () => {
    const queue = await Queue.create();
    const keys = ['a', 'b', 'a', 'ü {x} *', 'a'];
    const ids = [];
    for (const key of keys) ids.push(await queue.sent({ key }));
    const plain = await queue.sent();
    expect((await queue.record()).perKey).to.equal(null);
    const found = async (query: string): Promise<string[]> => idsOf((await queue.list(query)).body.messages);
    expect(await found('?key=a')).to.deep.equal([ids[0], ids[2], ids[4]]);
    expect(await found(`?key=${encodeURIComponent('ü {x} *')}`)).to.deep.equal([ids[3]]);
    expect(await found('?key=none')).to.deep.equal([]);
    const [first] = await receive(queue, { max: 1 });
    expect(first?.key).to.equal('a');
    expect(await found('?key=a&state=READY')).to.deep.equal([ids[2], ids[4]]);
    const page = (await queue.list('?key=a&limit=2')).body;
    expect(idsOf(page.messages)).to.deep.equal([ids[0], ids[2]]);
    expect(await found(`?key=a&limit=2&cursor=${page.nextCursor}`)).to.deep.equal([ids[4]]);
    expect((await view(queue, plain)).key).to.equal(null);
    for (const key of ['', 'x'.repeat(513), 'a\nb', 7]) {
      const reply = await queue.send({ key });
      expect(codeOf(reply)).to.equal('400 VALIDATION_FAILED');
      expect(reply.text).to.include('key');
    }
  });

  it('are worked one at a time with perKey 1, in order, retries included, beside those of other keys', async () => {
    const queue = await Queue.create({ perKey: 1 });
    expect((await queue.record()).perKey).to.equal(1);
    const [a1, a2, b1, a3] = [
      await queue.sent({ key: 'a' }),
      await queue.sent({ key: 'a', priority: 9 }),
      await queue.sent({ key: 'b' }),
      await queue.sent({ key: 'a', scopeId: randomUUID() }),
    ];
    const plain = await queue.sent();
    expect((await queue.record()).counts).to.include({ ready: 3, blocked: 2 });
    expect(await view(queue, a2)).to.deep.include({ state: 'BLOCKED', blockedBy: [{ kind: 'KEY', id: a1 }] });
    const held = await receive(queue);
    expect(idsOf(held)).to.deep.equal([a1, b1, plain]);
    const [first] = held as [Received];
    await queue.act('nack', first, { retry: true, delaySeconds: 30 });
    expect(await receive(queue), 'between attempts it keeps its turn').to.deep.equal([]);
    await queue.world.at(Date.now() + 31_000);
    const [again] = (await receive(queue)) as [Received];
    expect(again.id).to.equal(a1);
    await queue.act('complete', again);
    const [second] = (await receive(queue)) as [Received];
    expect(second.id).to.equal(a2);
    await queue.act('nack', second, { retry: false });
    expect(idsOf(await receive(queue)), 'the next one, whatever run it belongs to').to.deep.equal([]);
    expect(idsOf(await receive(queue, { scopeId: '*' }))).to.deep.equal([a3]);
    await expectAgreement(queue.world);
  });

  it('follow in the order in which prerequisites and delays were out of the way', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    await queue.world.at(now);
    const other = await queue.sent();
    const later = await queue.sent({ key: 'a', delaySeconds: 20 });
    const afterwards = await queue.sent({ key: 'a', after: [{ messageId: other }] });
    const first = await queue.sent({ key: 'a' });
    expect(await view(queue, afterwards)).to.deep.include({ blockedBy: [{ kind: 'MESSAGE', id: other }] });
    await queue.world.at(now + 25_000);
    // Its delay has ended, which nobody has noticed yet: it is in front of what comes now.
    const last = await queue.sent({ key: 'a' });
    await queue.act('complete', await queue.claim());
    expect(await view(queue, afterwards)).to.deep.include({ blockedBy: [{ kind: 'KEY', id: first }] });
    const order = [];
    for (let n = 0; n < 4; n++) {
      const [claim] = (await receive(queue)) as [Received];
      order.push(claim.id);
      await queue.act('complete', claim);
    }
    expect(order).to.deep.equal([first, later, last, afterwards]);
    await expectAgreement(queue.world);
  });

  it('are given places as if delays, leases and deadlines had ended on time, however late that is noticed', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1 });
    const at = (seconds: number) => queue.world.at(now + 1_000 * seconds);
    const received = async (fields = {}): Promise<string[]> => idsOf(await receive(queue, fields));
    const patch = (perKey: number) => queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey });
    await at(0);
    const elsewhere = await Queue.create({}, queue.world);
    const prerequisite = await elsewhere.sent();
    const [ends] = [await elsewhere.claim({ leaseSeconds: 600 })];
    const delayed = await queue.sent({ key: 'a', delaySeconds: 10 });
    const afterwards = await queue.sent({ key: 'a', after: [{ messageId: prerequisite }] });
    const limited = await queue.sent({ key: 'b', maxAttempts: 1 });
    const [waits, due] = [await queue.sent({ key: 'b' }), await queue.sent({ key: 'c', delaySeconds: 12 })];
    const holder = await queue.sent({ key: 'c', maxAttempts: 1 });
    expect(await received({ leaseSeconds: 20 })).to.deep.equal([limited, holder]);
    const plain = await queue.sent({ key: 'd' });
    expect(await received({ leaseSeconds: 25 })).to.deep.equal([plain]);
    await at(15);
    const between = await queue.sent();
    await at(30);
    await elsewhere.act('complete', ends);
    expect(await view(queue, afterwards), 'an end in another mailbox').to.deep.include({
      blockedBy: [{ kind: 'KEY', id: delayed }],
    });
    expect(await received(), 'after leases that ended').to.deep.equal([delayed, between, waits, due, plain]);

    const lowers = await Queue.create({ perKey: 2 }, queue.world);
    const both = [await lowers.sent({ key: 'a' }), await lowers.sent({ key: 'a', delaySeconds: 10 })];
    await at(50);
    await queue.world.call('PATCH', `/mailboxes/${lowers.id}`, { perKey: 1 });
    expect(idsOf(await receive(lowers)), 'both were READY before').to.deep.equal(both);

    const first = await queue.sent({ key: 'e' });
    const second = await queue.sent({ key: 'e', delaySeconds: 10 });
    await at(65);
    const meanwhile = await queue.sent();
    await at(70);
    await patch(2);
    expect(await received(), 'free since perKey was raised').to.deep.equal([first, meanwhile, afterwards, second]);
    await expectAgreement(queue.world);
  });

  it('pass their turn on when they expire, are cancelled or purged, or fail for good', async () => {
    const now = Date.now();
    const queue = await Queue.create({ perKey: 1, maxAttempts: 1 });
    await queue.world.at(now);
    const deadline = new Date(now + 10_000).toISOString();
    const [expires, waits, fails, lapses, last] = [
      await queue.sent({ key: 'a', deadline }),
      await queue.sent({ key: 'a', deadline }),
      await queue.sent({ key: 'a' }),
      await queue.sent({ key: 'a' }),
      await queue.sent({ key: 'a' }),
    ];
    await queue.world.mustPost(`/messages/${last}/cancel`);
    expect((await view(queue, waits)).state).to.equal('BLOCKED');
    await queue.world.at(now + 10_000);
    const [claim] = (await receive(queue)) as [Received];
    expect(claim.id, `after ${expires} and ${waits}`).to.equal(fails);
    await queue.act('nack', claim, { retry: true });
    expect((await view(queue, fails)).state).to.equal('FAILED');
    const [lapsing] = (await receive(queue, { leaseSeconds: 5 })) as [Received];
    expect(lapsing.id).to.equal(lapses);
    const behind = await queue.sent({ key: 'a' });
    await queue.world.at(now + 20_000);
    expect(idsOf(await receive(queue))).to.deep.equal([behind]);
    await queue.world.mustPost(`/messages/${fails}/requeue`);
    expect(await view(queue, fails)).to.deep.include({ state: 'BLOCKED', blockedBy: [{ kind: 'KEY', id: behind }] });
    await queue.sent({ key: 'a' });
    const { cancelled } = await queue.world.mustPost(`/mailboxes/${queue.id}/purge`);
    expect(cancelled).to.equal(2);
    await expectAgreement(queue.world);
  });

  it('count whoever is worked already when perKey is set or lowered, and are freed when it is raised or removed', async () => {
    const queue = await Queue.create();
    const patch = async (perKey: number | null): Promise<number> =>
      (await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey })).body.counts.blocked;
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await queue.sent({ key: 'a' }));
    const held = (await receive(queue)) as [Received, Received, Received];
    expect(await patch(2)).to.equal(0);
    for (let n = 3; n < 8; n++) ids.push(await queue.sent({ key: 'a' }));
    expect((await queue.record()).counts.blocked).to.equal(5);
    expect(await view(queue, ids[3] ?? '')).to.deep.include({ blockedBy: [{ kind: 'KEY', id: null }] });
    await queue.act('complete', held[0]);
    expect(await receive(queue), 'two are worked still').to.deep.equal([]);
    await queue.act('complete', held[1]);
    expect(idsOf(await receive(queue))).to.deep.equal([ids[3]]);
    expect(await patch(4)).to.equal(2);
    expect(await patch(2)).to.equal(2);
    expect(idsOf(await receive(queue))).to.deep.equal([ids[4], ids[5]]);
    expect(await patch(null)).to.equal(0);
    expect(idsOf(await receive(queue))).to.deep.equal([ids[6], ids[7]]);
    expect(codeOf(await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 0 }))).to.equal(
      '400 VALIDATION_FAILED',
    );
    await expectAgreement(queue.world);
  });

  it('keep their order when 200 are sent, received and ended at once', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const sentAs = new Map<string, [key: string, id: string]>();
    const keys = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const key = keys[n % keys.length] as string;
        const id = await queue.sent({ key });
        sentAs.set(id, [key, id]);
      }),
    );
    const active = new Map<string, string>();
    const done = new Map<string, string[]>(keys.map((key) => [key, []]));
    const work = async (): Promise<void> => {
      for (let misses = 0; misses < 10; ) {
        const [claim] = await receive(queue, { max: 1 });
        if (!claim) {
          misses++;
          continue;
        }
        misses = 0;
        expect(active.get(claim.key), `${claim.key} beside`).to.equal(undefined);
        active.set(claim.key, claim.id);
        const isGivenBack = claim.id.charCodeAt(35) % 5 === 0 && !done.get(claim.key)?.includes(`!${claim.id}`);
        await new Promise((resolve) => setImmediate(resolve));
        active.delete(claim.key);
        done.get(claim.key)?.push(isGivenBack ? `!${claim.id}` : claim.id);
        await queue.act(isGivenBack ? 'nack' : 'complete', claim, isGivenBack ? { retry: true } : {});
      }
    };
    await Promise.all(Array.from({ length: 10 }, work));
    for (const key of keys) {
      const order = (done.get(key) ?? []).filter((id) => !id.startsWith('!'));
      expect(order, key).to.have.lengthOf(40);
      expect(order, 'by their ids, which are in the order of sending').to.deep.equal(order.toSorted());
      const all = (done.get(key) ?? []).map((id) => id.replace('!', ''));
      expect(all, 'no other between two attempts').to.deep.equal(all.toSorted());
    }
    await expectAgreement(queue.world);
  });

  it('are freed in bounded steps when perKey is raised, however many wait and for how many keys', async () => {
    const queue = await wideQueue();
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 1 });
    for (let n = 0; n < 20; n++) await sendMany(queue, 4, { key: `k${n}` });
    await sendMany(queue, 100, { key: 'one' });
    const blocked = async (): Promise<number> => (await queue.record()).counts.blocked;
    expect(await blocked()).to.equal(60 + 99);
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 2 });
    expect(await blocked(), 'of 21 keys one each').to.equal(60 + 99 - 21);
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 1_000 });
    expect(await blocked(), 'fifty at once').to.equal(60 + 99 - 21 - 50);
    await expectAgreement(queue.world);
    const steps = await stepByStep(queue.world, blocked);
    expect(steps.every(({ changed }) => changed <= 50)).to.equal(true);
    expect(await blocked()).to.equal(0);
    await expectAgreement(queue.world);
    printSteps('raising perKey', steps);
  });

  it('may have any characters in their keys', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const odd = ['a b', 'a:b', '{x}', '}{', '😀'.repeat(512), ' ', '-', '(a', '[a', '*', '"', '%41', 'a/b?c=d&e#f'];
    const firsts = [];
    for (const key of odd) {
      const [first, second] = [await queue.sent({ key }), await queue.sent({ key })];
      firsts.push(first);
      expect((await view(queue, second)).blockedBy, key).to.deep.equal([{ kind: 'KEY', id: first }]);
      const listed = (await queue.list(`?key=${encodeURIComponent(key)}`)).body.messages;
      expect(idsOf(listed), key).to.deep.equal([first, second]);
    }
    expect(idsOf(await receive(queue))).to.deep.equal(firsts);
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: null });
    expect(await receive(queue)).to.have.length(odd.length);
    await expectAgreement(queue.world);
  });

  it('keep their place when they are given back untried, with a pause or without', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const [first, second] = [await queue.sent({ key: 'a' }), await queue.sent({ key: 'a' })];
    for (const delaySeconds of [0, 10]) {
      const [claim] = (await receive(queue)) as [Received];
      expect(claim.id).to.equal(first);
      await queue.act('nack', claim, { retry: true, countsAttempt: false, delaySeconds });
      await expectAgreement(queue.world);
    }
    expect(await receive(queue)).to.deep.equal([]);
    await queue.world.mustPost(`/messages/${first}/cancel`);
    expect(idsOf(await receive(queue))).to.deep.equal([second]);
  });

  it('messages of a cancelled run pass their turns on to those of other runs', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const stopped = randomUUID();
    await queue.world.mustPost('/scopes', { scopeId: stopped });
    for (let n = 0; n < 3; n++) await queue.sent({ key: 'a', scopeId: stopped });
    const id = await queue.sent({ key: 'a' });
    await queue.world.mustPost(`/scopes/${stopped}/cancel`);
    await workOff(queue.world);
    expect(idsOf(await receive(queue))).to.deep.equal([id]);
    await expectAgreement(queue.world);
  });

  it('appear in the waits and the run view with what they wait for', async () => {
    const queue = await Queue.create({ perKey: 1 });
    const first = await queue.sent({ key: 'a' });
    const second = await queue.sent({ key: 'a' });
    const { waitingTasks } = (await queue.world.get('/ops/waits')).body;
    const blockedBy = [{ kind: 'KEY', id: first }];
    expect(waitingTasks.find(({ taskId }: { taskId: string }) => taskId === second)).to.deep.include({
      waitsFor: 'BLOCKED',
      blockedBy,
    });
    const { messages } = (await queue.world.get(`/ops/runs/${queue.scopeId}`)).body;
    expect(messages.find(({ id }: { id: string }) => id === second)).to.deep.include({ key: 'a', blockedBy });
  });

  it('messages that wait leave those of another space with the same key alone', async () => {
    const [one, other] = [await Queue.create({ perKey: 1 }), await Queue.create({ perKey: 1 }, await World.create())];
    await one.sent({ key: 'a' });
    await other.sent({ key: 'a' });
    expect([await receive(one), await receive(other)].map((found) => found.length)).to.deep.equal([1, 1]);
  });

  it('show in their mailbox since when those are ready that a raised perKey freed', async () => {
    const queue = await Queue.create({ perKey: 1 });
    for (let n = 0; n < 2; n++) await queue.sent({ key: 'k' });
    await queue.claim();
    const { body } = await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 2 });
    expect(body.counts.ready).to.equal(1);
    expect(body.oldestReadyAt).to.be.a('string');
  });
});
