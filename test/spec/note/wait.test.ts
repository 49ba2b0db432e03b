import { expect } from 'chai';
import { heldRead } from '../../support/held-reads.ts';
import { codeOf } from '../../support/world.ts';
import { Sheet } from './sheet.ts';

describe('GET /scopes/{id}/notes/{key} with waitSeconds', () => {
  let sheet: Sheet;
  beforeEach(async () => {
    sheet = await Sheet.create();
  });
  const hold = (query = '', waitSeconds?: number, key = 'n') =>
    heldRead(sheet.world, sheet.path(key, query), waitSeconds);

  it('accepts 0 to 30, and a sinceVersion from 0', async () => {
    await sheet.mustPut('n', 1);
    for (const query of ['?waitSeconds=31', '?sinceVersion=-1', '?sinceVersion=x', '?sinceVersion=1234567890123456'])
      expect(codeOf(await sheet.get('n', query)), query).to.equal('400 VALIDATION_FAILED');
    for (const query of ['?sinceVersion=1', '?sinceVersion=0&waitSeconds=5', '?sinceVersion=7&waitSeconds=5'])
      expect((await sheet.get('n', query)).body.version, query).to.equal(1);
  });

  it('answers once the note has another version; a put of another note does not end it', async () => {
    await sheet.mustPut('n', 1);
    const [since, present] = [await hold('?sinceVersion=1'), await hold()];
    await sheet.mustPut('m', 1);
    await new Sheet(sheet.world).mustPut('n', 1);
    expect(sheet.world.service.wake.reads).to.equal(2);
    const { version } = await sheet.mustPut('n', 2);
    for (const { answer } of [since, present]) expect((await answer).body).to.include({ version, value: 2 });
  });

  it('waits with 0 for the making of the note, and of its scope', async () => {
    const [zero, absent] = [await hold('?sinceVersion=0'), await hold()];
    await sheet.mustPut('n', 'made');
    for (const { answer } of [zero, absent]) expect((await answer).body).to.include({ version: 1, value: 'made' });
  });

  it('answers 404 at once where there was a note, and as soon as it is deleted', async () => {
    expect(codeOf(await sheet.get('n', '?sinceVersion=3&waitSeconds=30'))).to.equal('404 NOTE_NOT_FOUND');
    await sheet.mustPut('n', 1);
    const [since, present] = [await hold('?sinceVersion=1'), await hold()];
    await sheet.delete('n');
    for (const { answer } of [since, present]) expect(codeOf(await answer)).to.equal('404 NOTE_NOT_FOUND');
  });

  it('answers with the same version when the time is up, or with 404', async () => {
    await sheet.mustPut('a,b/c', 1);
    const [present, absent] = [await hold('?sinceVersion=1', 1, 'a,b/c'), await hold('?sinceVersion=0', 1)];
    expect((await present.answer).body).to.include({ version: 1 });
    expect(codeOf(await absent.answer)).to.equal('404 NOTE_NOT_FOUND');
    expect(sheet.world.service.wake.size).to.equal(0);
  });
});
