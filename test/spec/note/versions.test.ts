import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { Sheet } from './sheet.ts';

describe('the version of a note', () => {
  let sheet: Sheet;
  beforeEach(async () => {
    sheet = await Sheet.create();
  });

  it('counts the puts of the scope, so it never comes twice, even if the note is deleted and made again', async () => {
    expect((await sheet.mustPut('a', 1)).version).to.equal(1);
    expect((await sheet.mustPut('b', 1)).version).to.equal(2);
    expect((await sheet.mustPut('a', 1)).version).to.equal(3);
    expect((await sheet.delete('a')).status).to.equal(204);
    expect(codeOf(await sheet.get('a'))).to.equal('404 NOTE_NOT_FOUND');
    expect(codeOf(await sheet.delete('a'))).to.equal('404 NOTE_NOT_FOUND');
    const again = await sheet.put('a', 1);
    expect([again.status, again.body.version]).to.deep.equal([201, 4]);
    await expectAgreement(sheet.world);
  });

  it('must be ifVersion, where it is given; 0: there must be no note', async () => {
    const put = async (ifVersion: number) => codeOf(await sheet.put('n', ifVersion, { ifVersion }));
    expect(await put(1)).to.equal('409 VERSION_CONFLICT');
    expect((await sheet.put('n', 1, { ifVersion: 7 })).body.error.message).to.equal(
      'there is no such note: ifVersion must be 0 to make it',
    );
    expect(await put(0)).to.equal('201');
    for (const wrong of [0, 2]) {
      const refused = await sheet.put('n', 1, { ifVersion: wrong });
      expect(codeOf(refused)).to.equal('409 VERSION_CONFLICT');
      expect(refused.body.error.message).to.equal("ifVersion must be the note's version, which is 1: read it again");
    }
    expect(await put(1)).to.equal('200');
    for (const wrong of [0, 1])
      expect(codeOf(await sheet.delete('n', `?ifVersion=${wrong}`))).to.equal('409 VERSION_CONFLICT');
    expect(codeOf(await sheet.delete('n', '?ifVersion=2'))).to.equal('204');
    expect(await put(2)).to.equal('409 VERSION_CONFLICT');
    expect(await put(0)).to.equal('201');
    expect((await sheet.get('n')).body).to.include({ version: 3, value: 0 });
  });

  it('lets one of 200 concurrent puts through', async () => {
    const race = async (ifVersion: number) => {
      const puts = await Promise.all(Array.from({ length: 200 }, (_, n) => sheet.put('n', n, { ifVersion })));
      const won = puts.flatMap((reply, n) => (reply.status < 300 ? [n] : []));
      expect(won).to.have.length(1);
      for (const reply of puts) expect(codeOf(reply)).to.be.oneOf(['200', '201', '409 VERSION_CONFLICT']);
      expect((await sheet.get('n')).body).to.include({ value: won[0], version: ifVersion + 1 });
    };
    await race(0);
    await race(1);
    const puts = await Promise.all(Array.from({ length: 200 }, (_, n) => sheet.mustPut(`k${n % 20}`, n)));
    expect(new Set(puts.map(({ version }) => version)).size).to.equal(200);
    await expectAgreement(sheet.world);
  });
});

describe('a note that is put with a claim', () => {
  let queue: Queue;
  let sheet: Sheet;
  beforeEach(async () => {
    queue = await Queue.create();
    sheet = new Sheet(queue.world, queue.scopeId);
  });

  it('names its holder, and is put only while the claim is live', async () => {
    await queue.world.at(Date.UTC(2027, 0, 1));
    await queue.sent();
    const { id: messageId, token } = await queue.claim({ holder: 'ann', leaseSeconds: 10 });
    const fence = { messageId, token };
    expect((await sheet.mustPut('n', 1, fence)).holder).to.equal('ann');
    expect((await sheet.mustPut('n', 1)).holder).to.equal(null);
    expect((await new Sheet(queue.world).mustPut('n', 1, fence)).holder, 'in any scope').to.equal('ann');
    await queue.world.at(Date.UTC(2027, 0, 1) + 10_000);
    for (const fields of [{}, { ifVersion: 9 }])
      expect(codeOf(await sheet.put('n', 2, { ...fence, ...fields }))).to.equal('409 CLAIM_LOST');
    const next = await queue.claim({ holder: 'bob' });
    expect(codeOf(await sheet.put('n', 2, fence))).to.equal('409 CLAIM_LOST');
    expect(codeOf(await sheet.put('n', 3, { messageId, token: next.token, ifVersion: 9 }))).to.equal(
      '409 VERSION_CONFLICT',
    );
    expect((await sheet.mustPut('n', 3, { messageId, token: next.token })).holder).to.equal('bob');
    await queue.act('complete', next);
    expect(codeOf(await sheet.put('n', 4, { messageId, token: next.token }))).to.equal('409 CLAIM_LOST');
    expect((await sheet.get('n')).body).to.include({ value: 3, holder: 'bob' });
    await expectAgreement(queue.world);
  });

  it('is CLAIM_LOST in a cancelled run, and where the message is not claimed', async () => {
    const id = await queue.sent();
    expect(codeOf(await sheet.put('n', 1, { messageId: id, token: 'x' }))).to.equal('409 CLAIM_LOST');
    const { token } = await queue.claim();
    await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
    expect(codeOf(await sheet.put('n', 1, { messageId: id, token }))).to.equal('409 CLAIM_LOST');
    const unknown = await sheet.put('n', 1, { messageId: sheet.scopeId, token });
    expect(codeOf(unknown)).to.equal('409 MESSAGE_NOT_FOUND');
  });

  it('is CLAIM_LOST for a message that is packed', async () => {
    const start = Date.UTC(2027, 0, 1);
    await queue.world.at(start);
    await queue.sent();
    const claim = await queue.claim();
    await queue.act('complete', claim);
    await queue.world.at(start + 7_200_000);
    const { service, org, spaceId } = queue.world;
    await service.packing.packMessages(org, spaceId, undefined, {
      sealAfterMs: 3_600_000,
      isAll: true,
      size: 10,
      patienceMs: 0,
    });
    expect(codeOf(await sheet.put('n', 1, { messageId: claim.id, token: claim.token }))).to.equal('409 CLAIM_LOST');
  });
});
