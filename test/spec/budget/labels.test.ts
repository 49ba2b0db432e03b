import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

const start = Date.UTC(2030, 0, 1);
const spent = async (purse: Purse): Promise<unknown> => (await purse.view()).spentByLabel;

describe('settle with a label', () => {
  it('sums up by label what was spent, along the line; what has no label is in no sum', async () => {
    const world = await World.create();
    const root = await Purse.create('100', world);
    const child = await Purse.create('50', world, { parentBudgetId: root.id });
    expect(await spent(root)).to.deep.equal({});
    const { id } = (await child.reserve('50')).body;
    for (const [amount, label] of [
      ['3', 'search'],
      ['4', 'writing'],
      ['5', 'search'],
      ['6', undefined],
    ])
      await child.settle(id, amount ?? '', undefined, { label });
    await child.settle(id, '3', 'w', { label: 'search' });
    expect((await child.settle(id, '3', 'w', { label: 'other' })).body.replay).to.equal(true);
    const { id: own } = (await root.reserve('10')).body;
    await root.settle(own, '3', undefined, { label: 'a "quoted" \\ one' });
    await root.settle(own, '7', undefined, { label: '__proto__' });
    expect(await spent(child)).to.deep.equal({ search: '11', writing: '4' });
    expect(JSON.stringify(await spent(root))).to.equal(
      '{"__proto__":"7","a \\"quoted\\" \\\\ one":"3","search":"11","writing":"4"}',
    );
  });

  it('counts what an overrun has cost in full', async () => {
    const purse = await Purse.create('10');
    const { id } = (await purse.reserve('10')).body;
    await purse.settle(id, '25', undefined, { label: 'late', overrun: true });
    expect(await spent(purse)).to.deep.equal({ late: '25' });
  });

  it('keeps the 50 labels that were used first; all others are `other`', async () => {
    const purse = await Purse.create('1000');
    const { id } = (await purse.reserve('1000')).body;
    const settles = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) => purse.settle(id, '2', undefined, { label: `label ${from + i}` })),
      );
    await purse.settle(id, '1', undefined, { label: 'other' });
    await settles(0, 50);
    await settles(0, 60);
    const sums = (await spent(purse)) as Record<string, string>;
    expect(Object.keys(sums)).to.have.lengthOf(51);
    expect(sums['other']).to.equal('21');
    expect(sums['label 0']).to.equal('4');
    expect(sums).not.to.have.property('label 50');
  });

  it('begins anew with each window, and leaves nothing of earlier ones', async () => {
    const world = await World.create();
    await world.at(start);
    const purse = await Purse.create('100', world, { windowSeconds: 60 });
    const { id } = (await purse.reserve('100')).body;
    await purse.settle(id, '7', undefined, { label: 'a' });
    await world.at(start + 60_000);
    expect(await spent(purse)).to.deep.equal({});
    await Promise.all(['b', 'b', 'c'].map((label) => purse.settle(id, '1', undefined, { label })));
    expect(await spent(purse)).to.deep.equal({ b: '2', c: '1' });
    const keys = await world.service.store.exists(`${world.prefix}:budget:${purse.id}:labels:${start}`);
    expect(keys).to.equal(0);
  });

  it('is 1 to 64 characters', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('10')).body;
    for (const label of ['', 'x'.repeat(65), 7, 'a\u0007'])
      expect(codeOf(await purse.settle(id, '1', undefined, { label }))).to.equal('400 VALIDATION_FAILED');
    expect((await purse.settle(id, '1', undefined, { label: '💶'.repeat(64) })).status).to.equal(200);
  });
});
