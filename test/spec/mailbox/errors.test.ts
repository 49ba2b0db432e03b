import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

const day = 86_400_000;
const noon = Date.UTC(2026, 0, 31, 12);

interface Counted {
  readonly error: string;
  readonly count: number;
  readonly lastAt: string;
}

const errorsOf = async (queue: Queue, query = ''): Promise<Counted[]> =>
  (await queue.world.get(`/mailboxes/${queue.id}/errors${query}`)).body.errors;
const counts = async (queue: Queue): Promise<Record<string, number>> =>
  Object.fromEntries((await errorsOf(queue)).map(({ error, count }) => [error, count]));

/** A queue with a message that may fail often. */
async function begin(): Promise<Queue> {
  const world = await World.create();
  await world.at(noon);
  return Queue.create({ maxAttempts: 100 }, world);
}

async function fail(queue: Queue, error: string | undefined, fields: object = {}): Promise<void> {
  const scopeId = randomUUID();
  await queue.sent({ scopeId });
  const claim = await queue.claim({ scopeId });
  const body = { retry: true, ...(error !== undefined && { error }), ...fields };
  expect((await queue.act('nack', claim, body)).status).to.equal(200);
}

const writesOf = async ({ service }: World, act: () => Promise<void>): Promise<number> => {
  const writes = async () =>
    Number(/cmdstat_zadd:calls=(\d+)/.exec(await service.store.info('commandstats'))?.[1] ?? 0);
  const before = await writes();
  await act();
  return (await writes()) - before;
};

describe('GET /mailboxes/{id}/errors', () => {
  it('counts attempts by error, the most frequent first, and says when each came last', async () => {
    const queue = await begin();
    for (let n = 0; n < 3; n++) await fail(queue, 'the model is busy');
    await queue.world.at(noon + 5_000);
    await fail(queue, 'not a picture', { retry: false });
    const at = (seconds: number) => new Date(noon + seconds * 1000).toISOString();
    expect(await errorsOf(queue)).to.deep.equal([
      { error: 'the model is busy', count: 3, lastAt: at(0) },
      { error: 'not a picture', count: 1, lastAt: at(5) },
    ]);
    await fail(queue, 'the model is busy');
    expect((await errorsOf(queue))[0]).to.deep.equal({ error: 'the model is busy', count: 4, lastAt: at(5) });
    await expectAgreement(queue.world);
  });

  it('counts leases that ended, and neither untried nor successful attempts, nor nacks without an error', async () => {
    const queue = await begin();
    await fail(queue, undefined);
    await fail(queue, 'no quota', { countsAttempt: false });
    for (const holder of ['ann', 'bob']) {
      const scopeId = randomUUID();
      await queue.sent({ scopeId });
      await queue.claim({ scopeId, holder, leaseSeconds: 5 });
    }
    await queue.world.at(noon + 5_000);
    await queue.world.service.due.drain(queue.world.org);
    const scopeId = randomUUID();
    await queue.sent({ scopeId });
    await queue.act('complete', await queue.claim({ scopeId }));
    expect(await counts(queue)).to.deep.equal({ 'the lease ended': 2 });
  });

  it('leaves out ids and numbers, quoted or not, and cuts a long error', async () => {
    const queue = await begin();
    const same = [
      ['timeout after … ms', 'timeout after 31 ms', 'timeout after 42.5 ms', 'timeout after 1,200 ms'],
      ['no order …', `no order ${randomUUID()}`, `no order ${randomUUID().toUpperCase()}`],
      ['bad pointer … at …', 'bad pointer 0x1f at 7', 'bad pointer 9c550c1f6b2d at 12'],
      ['user \'…\' of "…" is gone', 'user \'ann-7\' of "t_4/x" is gone', 'user \'bob-19\' of "t_5/y" is gone'],
      ['a b c', 'a\nb\tc', 'a b  c'],
      ['add a face to "name"', 'add a face to "name"'],
    ];
    for (const [, ...errors] of same) for (const error of errors) await fail(queue, error);
    const expected = Object.fromEntries(same.map(([text, ...errors]) => [text, errors.length]));
    expect(await counts(queue)).to.deep.equal(expected);
    await fail(queue, 'ü'.repeat(300));
    expect(await counts(queue)).to.deep.equal({ ...expected, ['ü'.repeat(99)]: 1 });
  });

  it('has a day of its own for each UTC day, and keeps seven', async () => {
    const queue = await begin();
    await fail(queue, 'old');
    await queue.world.at(noon + day);
    await fail(queue, 'new');
    expect(await counts(queue)).to.deep.equal({ new: 1 });
    expect((await errorsOf(queue, '?date=2026-01-31')).map(({ error }) => error)).to.deep.equal(['old']);
    expect(await errorsOf(queue, '?date=2025-12-31')).to.deep.equal([]);
    await queue.world.at(noon + 7 * day);
    expect(await errorsOf(queue), 'the place of another day').to.deep.equal([]);
    await fail(queue, 'newest');
    expect(await counts(queue)).to.deep.equal({ newest: 1 });
    expect(await errorsOf(queue, '?date=2026-01-31')).to.deep.equal([]);
    for (const date of ['2026-02-30', 'today', ''])
      expect(codeOf(await queue.world.get(`/mailboxes/${queue.id}/errors?date=${date}`))).to.equal(
        '400 VALIDATION_FAILED',
      );
    expect(codeOf(await queue.world.get(`/mailboxes/${randomUUID()}/errors`))).to.equal('404 MAILBOX_NOT_FOUND');
  });

  it('keeps 100 errors of a day, finds frequent ones whenever they begin, and counts every failure', async () => {
    const queue = await begin();
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    const rare = (n: number): string => `${letters[n % 26]}${letters[Math.floor(n / 26)]}-error`;
    for (let n = 0; n < 150; n++) await fail(queue, rare(n));
    for (let n = 0; n < 20; n++) await fail(queue, 'the disk is full');
    const [first, ...others] = await errorsOf(queue);
    expect(first?.error).to.equal('the disk is full');
    expect(first?.count).to.be.within(20, 22);
    expect(others).to.have.length(19);
    const key = `${queue.world.prefix}:mailbox:${queue.id}:errors:${Math.floor(noon / day) % 7}`;
    const stored = await queue.world.service.store.zrange(key, '0', '+inf', 'BYSCORE', 'WITHSCORES');
    expect(stored).to.have.length(200);
    const sum = stored.reduce((all, text, i) => (i % 2 === 1 ? all + Math.floor(Number(text) / 131_072) : all), 0);
    expect(sum).to.equal(170);
  });

  it('counts each of 200 failures at once', async () => {
    const queue = await begin();
    const ids = await Promise.all(Array.from({ length: 200 }, () => queue.sent()));
    const claims = await Promise.all(ids.map(() => queue.claim()));
    await Promise.all(claims.map((claim, n) => queue.act('nack', claim, { retry: false, error: `no. ${n}` })));
    expect(await counts(queue)).to.deep.equal({ 'no. …': 200 });
  });

  it('costs a failure one write, and an attempt without an error none', async () => {
    const queue = await begin();
    await fail(queue, 'first of the day');
    const failing = await writesOf(queue.world, () => fail(queue, 'no'));
    const silent = await writesOf(queue.world, () => fail(queue, undefined));
    expect(failing - silent).to.equal(1);
  });

  it('goes with its mailbox', async () => {
    const queue = await begin();
    await fail(queue, 'no', { retry: false });
    await queue.world.call('DELETE', `/mailboxes/${queue.id}`);
    expect(codeOf(await queue.world.get(`/mailboxes/${queue.id}/errors`))).to.equal('404 MAILBOX_NOT_FOUND');
    expect(await queue.world.service.store.keys(`${queue.world.prefix}:mailbox:${queue.id}:errors:*`)).to.deep.equal(
      [],
    );
  });
});
