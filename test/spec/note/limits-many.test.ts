import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { many } from '../../support/long.ts';
import { codeOf } from '../../support/world.ts';
import { Sheet } from './sheet.ts';

describe('The notes of a scope', () => {
  it('are 10,000 at most', async () => {
    const sheet = await Sheet.create();
    const most = 10_000;
    /** Only the long tests put all of them. */
    const count = many(300, most);
    const keys = Array.from({ length: count }, (_, n) => `k${n}`);
    const { scopeId } = sheet;
    for (let n = 0; n < keys.length; n += 100)
      await sheet.world.mustPost('/batch', {
        calls: keys.slice(n, n + 100).map((key) => ({ call: 'note.put', scopeId, key, value: 1 })),
      });
    const record = `${sheet.world.prefix}:scope:${scopeId}`;
    const asIf = (notes: number) => sheet.world.service.store.hincrby(record, 'notes', notes);
    await asIf(most - count);
    const refused = await sheet.put('one more', 1);
    expect(codeOf(refused)).to.equal('409 NOTES_FULL');
    expect(refused.body.error.message).to.match(/^the scope has the maximum of 10000 notes/);
    expect((await sheet.put('k0', 2)).status).to.equal(200);
    await sheet.delete('k1');
    expect((await sheet.put('one more', 1)).status).to.equal(201);
    await asIf(count - most);
    expect(new Set(await sheet.keys('&limit=200')).size).to.equal(count);
    await expectAgreement(sheet.world);
  });
});
