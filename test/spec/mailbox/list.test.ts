import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { codeOf } from '../../support/world.ts';
import { sendMany, uuids, wideQueue } from './many.ts';
import { Queue } from './queue.ts';

describe('GET /mailboxes/{id}/messages', () => {
  let queue: Queue;
  const ids: Record<string, string> = {};
  const otherScope = randomUUID();
  const listed = async (query: string): Promise<string[]> => {
    const reply = await queue.list(query);
    expect(reply.status, reply.text).to.equal(200);
    const names = Object.fromEntries(Object.entries(ids).map(([name, id]) => [id, name]));
    return reply.body.messages.map(({ id }: { id: string }) => names[id]);
  };

  before(async () => {
    queue = await Queue.create();
    for (const name of ['acked', 'rejected', 'claimed', 'ready', 'other']) {
      const scopeId = name === 'other' ? otherScope : queue.scopeId;
      ids[name] = await queue.sent({ workKey: name, payload: { name }, scopeId });
    }
    await queue.act('complete', await queue.claim(), { result: { payload: { fine: true } } });
    await queue.act('nack', await queue.claim(), { retry: false });
    await queue.claim();
  });

  it('lists messages oldest first, in the order they were sent', async () => {
    expect(await listed('')).to.deep.equal(['acked', 'rejected', 'claimed', 'ready', 'other']);
  });

  it('filters by state, one value or a comma-separated list; an unknown state is 400', async () => {
    expect(await listed('?state=READY')).to.deep.equal(['ready', 'other']);
    expect(await listed('?state=CLAIMED,ACKED')).to.deep.equal(['acked', 'claimed']);
    expect(await listed('?state=FAILED,EXPIRED,CANCELLED')).to.deep.equal([]);
    for (const state of ['ready', 'OPEN', '', 'READY,', ',READY', 'READY, ACKED', 'READY&state=ACKED', '.*']) {
      expect(codeOf(await queue.list(`?state=${state}`)), state).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('filters by the subtree of scopeId and by workKey; filters combine', async () => {
    expect(await listed(`?scopeId=${otherScope.toUpperCase()}`)).to.deep.equal(['other']);
    expect(await listed(`?scopeId=${randomUUID()}`)).to.deep.equal([]);
    expect(await listed('?workKey=rejected')).to.deep.equal(['rejected']);
    expect(await listed('?workKey=unknown')).to.deep.equal([]);
    expect(await listed('?workKey=rejected&state=READY')).to.deep.equal([]);
    expect(await listed(`?workKey=rejected&scopeId=${otherScope}`)).to.deep.equal([]);
    expect(await listed(`?scopeId=${queue.scopeId}&state=READY&limit=1`)).to.deep.equal(['ready']);
    for (const query of ['scopeId=x', 'scopeId=', 'workKey=', `workKey=${'x'.repeat(513)}`, 'workKey=%00']) {
      expect(codeOf(await queue.list(`?${query}`)), query).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('examines at most 1,000 records per page: a page may be empty while nextCursor is not null', async () => {
    const many = await wideQueue();
    await sendMany(many, 1100);
    const last = await many.sent({ scopeId: otherScope });
    const claim = await many.claim({ scopeId: otherScope });
    const finds = async (query: string) => {
      const { body } = await many.list(`?${query}`);
      expect(body.messages.map(({ id }: { id: string }) => id)).to.deep.equal([last]);
      expect(body.nextCursor).to.equal(null);
    };
    // Few messages are found at once, by their state or their run.
    for (const query of ['state=CLAIMED', `scopeId=${otherScope}`, `state=CLAIMED,FAILED&scopeId=${otherScope}`])
      await finds(query);
    await many.act('complete', claim);
    await finds(`state=ACKED&scopeId=${otherScope}`);
    const first = await many.list('?state=ACKED');
    expect(first.body.messages).to.deep.equal([]);
    await finds(`state=ACKED&cursor=${first.body.nextCursor}`);
    expect((await many.list(`?state=CANCELLED&cursor=${first.body.nextCursor}`)).status).to.equal(400);
  });

  it('lists the same by every filter, whichever index it reads, in pages of any limit', async () => {
    const queue = await Queue.create({ maxAttempts: 3 });
    const { world } = queue;
    const otherQueue = await Queue.create({}, world);
    const [run, other] = [queue.scopeId, randomUUID()];
    await queue.sent();
    const gate: string = (await world.mustPost('/scopes', { parentScopeId: run })).id;
    const scopes = [run, gate, other];
    const steps = fc.array(fc.tuple(fc.nat(9), fc.nat(2)), { minLength: 150, maxLength: 150 });
    const claims: { id: string; token: string }[] = [];
    for (const [step, nth] of fc.sample(steps, { numRuns: 1, seed: 7 }).flat()) {
      const scopeId = scopes[nth] as string;
      const [one] = claims;
      if (step < 3) await queue.sent({ scopeId });
      else if (step < 4) await queue.sent({ scopeId, delaySeconds: 600 });
      else if (step < 6) claims.push(...((await queue.recv({ scopeId, max: 2 })).body?.messages ?? []));
      else if (step < 7) await otherQueue.sent({ scopeId }).then(() => otherQueue.claim({ scopeId }));
      else if (one) await queue.act(step === 7 ? 'complete' : 'nack', one, step === 7 ? {} : { retry: step === 8 });
      if (step > 6) claims.shift();
    }
    type Row = { id: string; state: string; scopeId: string };
    const every = async (query: string, limit: number): Promise<Row[]> => {
      const rows: Row[] = [];
      for (let cursor = ''; cursor !== null; ) {
        const { body } = await queue.list(`?limit=${limit}${query}${cursor && `&cursor=${cursor}`}`);
        expect(body.messages.length).to.be.at.most(limit);
        rows.push(...body.messages);
        cursor = body.nextCursor;
      }
      return rows;
    };
    const all = await every('', 200);
    const states = ['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'READY,CLAIMED,REJECTED', 'READY,ACKED', ''];
    const filters: [string, string[]][] = [
      ['', scopes],
      [run, [run, gate]],
      [gate, [gate]],
      [other, [other]],
    ];
    for (const state of states) {
      for (const [scopeId, within] of filters) {
        const query = `${state && `&state=${state}`}${scopeId && `&scopeId=${scopeId}`}`;
        const wanted = all.filter(
          (row) => (!state || state.split(',').includes(row.state)) && within.includes(row.scopeId),
        );
        if (scopeId === '') expect(wanted, query).to.not.deep.equal([]);
        for (const limit of [5, 200]) expect(await every(query, limit), query).to.deep.equal(wanted);
      }
    }
  });

  it('lists the same while the space has more claims than a script can read at once', async () => {
    const queue = await Queue.create();
    const { world, id } = queue;
    const [rejected, claimed] = [await queue.sent(), await queue.sent()];
    await queue.act('nack', await queue.claim(), { retry: false });
    const { leaseExpiresAt } = await queue.claim();
    // With packed messages, the indexes of states are all there is to read.
    const packing = { sealAfterMs: 0, isAll: true, size: 1, patienceMs: 0 };
    await world.service.packing.packMessages(world.org, world.spaceId, undefined, packing);
    expect(await world.service.store.exists(`${world.prefix}:mailbox:${id}:segments`)).to.equal(1);
    const others = uuids(10_000);
    const key = `${world.prefix}:claims`;
    await world.service.store.zadd(key, ...others.flatMap((other) => [Date.parse(leaseExpiresAt), other]));
    const { messages } = (await queue.list('?state=REJECTED,CLAIMED')).body;
    await world.service.store.zrem(key, ...others);
    expect(messages.map((row: { id: string }) => row.id)).to.deep.equal([rejected, claimed]);
  });

  it('ends a page after 4 MiB of payloads and results', async () => {
    const large = await Queue.create();
    const [first, second, third] = [await large.sent(), await large.sent(), await large.sent()];
    const { service, prefix } = large.world;
    // As if larger payloads were allowed. The quotes are two bytes.
    const set = (id: string, field: 'payload' | 'result', bytes: number) =>
      service.store.hset(`${prefix}:message:${id}`, field, `"${'x'.repeat(bytes - 2)}"`);
    const pages = async (): Promise<string[][]> => {
      const { body } = await large.list();
      const rest = body.nextCursor && (await large.list(`?cursor=${body.nextCursor}`)).body;
      return [body, ...(rest ? [rest] : [])].map(({ messages }) => messages.map(({ id }: { id: string }) => id));
    };
    const half = 2 * 1024 * 1024;
    await set(first, 'payload', half);
    await set(second, 'payload', half);
    expect(await pages()).to.deep.equal([[first, second, third]]);
    await set(second, 'payload', half + 1);
    expect(await pages()).to.deep.equal([[first, second], [third]]);
    await set(first, 'result', half + 1);
    expect(await pages()).to.deep.equal([[first], [second, third]]);
  });
});
