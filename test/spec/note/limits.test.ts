import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Sheet } from './sheet.ts';

describe('the limits of notes', () => {
  it('are maxPayloadBytes for a value', async () => {
    const sheet = await Sheet.create({ limits: { maxPayloadBytes: 1024 } });
    const refused = await sheet.put('n', 'x'.repeat(1023));
    expect(codeOf(refused)).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(refused.body.error.message).to.match(/^value is larger than the space's maxPayloadBytes of 1024 bytes/);
    expect((await sheet.world.get(`/scopes/${sheet.scopeId}`)).status, 'no scope is made').to.equal(404);
    expect((await sheet.put('n', 'x'.repeat(1022))).status).to.equal(201);
    expect(await sheet.retainedBytes()).to.equal(1024);
  });

  it('are 16 MiB in a scope, for what makes it larger; pages have 4 MiB of values', async () => {
    const sheet = await Sheet.create({ limits: { maxPayloadBytes: 65_536 } });
    const value = 'x'.repeat(65_534);
    for (let n = 0; n < 256; n += 32)
      await Promise.all(Array.from({ length: 32 }, (_, i) => sheet.mustPut(`k${n + i}`, value)));
    expect(await sheet.retainedBytes()).to.equal(16 * 1024 * 1024);
    const refused = await sheet.put('one more', 1);
    expect(codeOf(refused)).to.equal('409 NOTES_FULL');
    expect(refused.body.error.message).to.match(/^the notes of a scope have at most 16777216 bytes together/);
    expect((await sheet.put('k0', 'y'.repeat(65_534))).status).to.equal(200);
    expect((await new Sheet(sheet.world).put('n', 1)).status, 'another scope').to.equal(201);
    const page = await sheet.list('?values=true&limit=200');
    expect(page.body.notes).to.have.length(64);
    expect(page.body.nextCursor).to.be.a('string');
    expect(new Set(await sheet.keys('&values=true&limit=200')).size).to.equal(256);
    expect((await sheet.list('?limit=200')).body.notes).to.have.length(200);
    await sheet.delete('k7');
    expect((await sheet.put('one more', 'x'.repeat(65_534))).status).to.equal(201);
    expect(codeOf(await sheet.put('k8', 0))).to.equal('200');
    await expectAgreement(sheet.world);
  });

  it("are the plan's operations and active runs", async () => {
    const sheet = await Sheet.create({ figures: { runs: '1' } });
    const { id } = await sheet.world.mustPost('/mailboxes', { name: 'm' });
    await sheet.world.mustPost(`/mailboxes/${id}/messages`, { scopeId: sheet.scopeId, payload: 1 });
    expect((await sheet.put('n', 1)).status).to.equal(201);
    expect(codeOf(await new Sheet(sheet.world).put('n', 1))).to.equal('409 ACTIVE_RUNS_LIMITED');
    const free = await Sheet.create({ plan: 'free' });
    await free.mustPut('n', 1);
    await free.world.service.store.hset(`muster:{${free.world.org}}`, { usedOperations: 1_000_000_000 });
    expect(codeOf(await free.put('n', 1))).to.equal('402 OPERATIONS_EXHAUSTED');
    expect(codeOf(await free.delete('n'))).to.equal('402 OPERATIONS_EXHAUSTED');
    expect((await free.get('n')).status).to.equal(200);
  });
});
