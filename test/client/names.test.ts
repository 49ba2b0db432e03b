import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createMuster, type Muster, MusterError, runId } from '../../src/clients/typescript/index.ts';
import { World } from '../support/world.ts';

/** The same by Node's own hash. */
function expected(name: string): string {
  const namespace = Buffer.from('0f6e0b5a5d0e4b6e9b3c6d7573746572', 'hex');
  const hash = createHash('sha1').update(namespace).update(name).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

describe('names in the typed client', () => {
  let world: World;
  let muster: Muster;
  before(async () => {
    world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });
  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error) => error,
    );

  it('have ids that are the same everywhere, and differ with each part', () => {
    // test/python/calls_test.py has the same id.
    expect(runId('desk', '2026-01-31', 7)).to.equal('16dc3fa9-746b-5734-ad19-e0f12aa133e6');
    const part = fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => !text.includes('\0'));
    fc.assert(fc.property(part, part, (a, b) => runId(a, b) === expected(`${a}\0${b}`)));
    expect(new Set([runId('a', 'b'), runId('a/b'), runId('ab'), runId('b', 'a'), runId('a', 'b', '')]).size).to.equal(
      5,
    );
    for (const odd of [1.5, 'a\0b']) expect(() => runId(odd)).to.throw(TypeError, 'whole numbers');
  });

  it('make a run that whoever knows its name finds', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: 'finds' });
    await muster.message.send({ mailboxId, scopeId: runId('desk', 'today'), payload: 1 });
    expect((await muster.run.view({ scopeId: runId('desk', 'today') })).messages).to.have.length(1);
  });

  it('make what there is not yet, once, whoever asks at the same moment', async () => {
    const budget = { name: randomUUID(), currency: 'eur', scale: 2, limitMinor: '0500' };
    const budgets = await Promise.all(Array.from({ length: 8 }, () => muster.budget.ensure(budget)));
    expect(new Set(budgets.map(({ id }) => id)).size).to.equal(1);
    expect(budgets[0]?.limitMinor).to.equal('500');
    const allowance = { name: randomUUID(), unitsLimit: 5, windowSeconds: 60 };
    expect((await muster.allowance.ensure(allowance)).id).to.equal((await muster.allowance.ensure(allowance)).id);
    const pool = { name: randomUUID(), units: 3 };
    expect((await muster.pool.ensure(pool)).id).to.equal((await muster.pool.ensure({ ...pool })).id);
    const more = { ...budget, name: randomUUID(), alertPercents: [50, 90], windowSeconds: null };
    expect((await muster.budget.ensure(more)).id).to.equal((await muster.budget.ensure(more)).id);
  });

  it('say how what stands differs from what was asked', async () => {
    const budget = { name: 'llm', currency: 'EUR', scale: 2, limitMinor: '500' };
    const { id } = await muster.budget.ensure(budget);
    await muster.budget.update({ budgetId: id, limitMinor: '700' });
    const error = (await failure(muster.budget.ensure({ ...budget, scale: 3 }))) as MusterError;
    expect(error).to.be.instanceOf(MusterError);
    expect([error.code, error.status]).to.deep.equal(['BUDGET_EXISTS', 409]);
    expect(error.message).to.equal(
      'the budget llm has scale 2, not 3 and limitMinor "700", not "500": ask for the existing values, or change them with budget.update',
    );
    expect((await muster.budget.ensure({ ...budget, limitMinor: '700' })).id).to.equal(id);
  });

  it('need no permission to configure where everything stands', async () => {
    const pool = { name: 'deploys', units: 2 };
    const { id } = await muster.pool.ensure(pool);
    const reader = await world.key(['coordination_read']);
    const client = createMuster({ url: world.url, key: reader, spaceId: world.spaceId });
    expect((await client.pool.ensure(pool)).id).to.equal(id);
    expect(((await failure(client.pool.ensure({ ...pool, name: 'others' }))) as MusterError).code).to.equal(
      'PERMISSION_DENIED',
    );
  });
});
