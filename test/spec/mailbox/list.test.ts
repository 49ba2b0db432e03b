import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { codeOf } from '../../support/world.ts';
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

  it('returns every message once in pages of any limit; nextCursor is null at the end', async () => {
    for (const limit of [1, 2, 3, 5]) {
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const { body } = await queue.list(`?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect(body.messages.length).to.be.at.most(limit);
        for (const { id } of body.messages) seen.push(id);
        cursor = body.nextCursor;
      }
      expect(seen).to.deep.equal(Object.values(ids));
    }
  });

  it('fills a page if the filter finds enough, and continues from where it stopped', async () => {
    const { body } = await queue.list('?state=ACKED,READY&limit=2');
    expect(body.messages.map(({ id }: { id: string }) => id)).to.deep.equal([ids['acked'], ids['ready']]);
    expect(await listed(`?state=ACKED,READY&limit=2&cursor=${body.nextCursor}`)).to.deep.equal(['other']);
  });

  it('examines at most 1,000 records per page: a page may be empty while nextCursor is not null', async () => {
    const many = await Queue.create({ backlogLimit: 2000 }, undefined);
    await many.world.call('PUT', '/limits', { maxBacklog: 2000 });
    for (let i = 0; i < 11; i++) await Promise.all(Array.from({ length: 100 }, () => many.sent()));
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

  it('lists the same by every filter, whichever index it reads', async () => {
    const own = await Queue.create({ maxAttempts: 3 });
    const { world } = own;
    const beside = await Queue.create({}, world);
    const [run, other] = [own.scopeId, randomUUID()];
    await own.sent();
    const gate: string = (await world.made('/scopes', { parentScopeId: run })).id;
    const scopes = [run, gate, other];
    const steps = fc.array(fc.tuple(fc.nat(9), fc.nat(2)), { minLength: 150, maxLength: 150 });
    const claims: { id: string; token: string }[] = [];
    for (const [step, nth] of fc.sample(steps, { numRuns: 1, seed: 7 }).flat()) {
      const scopeId = scopes[nth] as string;
      const [one] = claims;
      if (step < 3) await own.sent({ scopeId });
      else if (step < 4) await own.sent({ scopeId, delaySeconds: 600 });
      else if (step < 6) claims.push(...((await own.recv({ scopeId, max: 2 })).body?.messages ?? []));
      else if (step < 7) await beside.sent({ scopeId }).then(() => beside.claim({ scopeId }));
      else if (one) await own.act(step === 7 ? 'complete' : 'nack', one, step === 7 ? {} : { retry: step === 8 });
      if (step > 6) claims.shift();
    }
    type Row = { id: string; state: string; scopeId: string };
    const every = async (query: string, limit: number): Promise<Row[]> => {
      const rows: Row[] = [];
      for (let cursor = ''; cursor !== null; ) {
        const { body } = await own.list(`?limit=${limit}${query}${cursor && `&cursor=${cursor}`}`);
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
        for (const limit of [2, 200]) expect(await every(query, limit), query).to.deep.equal(wanted);
      }
    }
  });

  it('bounds a page at 4 MiB', async () => {
    const large = await Queue.create();
    for (let i = 0; i < 8; i++) {
      await Promise.all(Array.from({ length: 10 }, () => large.sent({ payload: 'x'.repeat(65_000) })));
    }
    const { text, body } = await large.list('?limit=200');
    expect(Buffer.byteLength(text)).to.be.below(4.5 * 1024 * 1024);
    const rest = await large.list(`?limit=200&cursor=${body.nextCursor}`);
    expect(body.messages.length + rest.body.messages.length).to.equal(80);
    const { service, prefix } = large.world;
    const first = `${prefix}:message:${body.messages[0].id}`;
    await service.store.hset(first, 'result', `"${'x'.repeat(4_200_000)}"`);
    expect((await large.list('?limit=200')).body.messages, 'results count too').to.have.lengthOf(1);
  });
});
