import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { rawGet } from '../../http/client.ts';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { Sheet } from './sheet.ts';

describe('notes', () => {
  let sheet: Sheet;
  beforeEach(async () => {
    sheet = await Sheet.create();
  });

  it('are put and read, with their scope, version and moments; the put answers without the value', async () => {
    await sheet.world.at(Date.UTC(2027, 0, 1));
    const made = await sheet.put('plan', { steps: [1, 2] });
    const note = {
      scopeId: sheet.scopeId,
      key: 'plan',
      version: 1,
      holder: null,
      createdAt: '2027-01-01T00:00:00.000Z',
      updatedAt: '2027-01-01T00:00:00.000Z',
    };
    expect([made.status, made.body]).to.deep.equal([201, note]);
    await sheet.world.at(Date.UTC(2027, 0, 2));
    const changed = await sheet.put('plan', null);
    const second = { ...note, version: 2, updatedAt: '2027-01-02T00:00:00.000Z' };
    expect([changed.status, changed.body]).to.deep.equal([200, second]);
    expect((await sheet.get('plan')).body).to.deep.equal({ ...second, value: null });
    await expectAgreement(sheet.world);
  });

  it('keep values as they were sent, integers beyond 2^53 and long decimals included', async () => {
    const values = [
      '9007199254740993',
      '0.12345678901234567890123',
      '[]',
      '{}',
      'null',
      '""',
      '"a\\u0000b"',
      '-0',
      '{"a":{"a":1}}',
    ];
    for (const value of values) {
      const headers = { Authorization: `Bearer ${sheet.world.apiKey}`, 'Content-Type': 'application/json' };
      const path = `/v1/spaces/${sheet.world.spaceId}${sheet.path('n')}`;
      const put = await sheet.world.send('PUT', path, `{"value": ${value} }`, headers);
      expect(put.status, put.text).to.be.oneOf([200, 201]);
      expect((await sheet.get('n')).text).to.include(`"value":${value},`);
      expect((await sheet.list('?values=true')).text).to.include(`"value":${value},`);
    }
    await expectAgreement(sheet.world);
  });

  it('need a value, and take nothing else', async () => {
    const put = (body: object) => sheet.world.call('PUT', sheet.path('n'), body);
    expect((await put({})).body.error.message).to.equal('value is missing: it may be any JSON value, including null');
    for (const body of [
      { value: 1, ifVersion: -1 },
      { value: 1, ifVersion: '1' },
      { value: 1, ifVersion: 0.5 },
      { value: 1, messageId: randomUUID() },
      { value: 1, token: 'x' },
      { value: 1, key: 'n' },
      { value: 1, scopeId: randomUUID() },
    ])
      expect(codeOf(await put(body)), JSON.stringify(body)).to.equal('400 VALIDATION_FAILED');
    for (const query of ['?ifVersion=-1', '?ifVersion=x', '?version=1'])
      expect(codeOf(await sheet.delete('n', query)), query).to.equal('400 VALIDATION_FAILED');
    expect((await sheet.put('n', 1, { ifVersion: null, messageId: null, token: null })).status).to.equal(201);
  });

  it('have keys of 1 to 256 characters, percent-encoded, in whatever script', async () => {
    const keys = [
      'a/b',
      'a b',
      '100%',
      '%41',
      '*',
      '?',
      '[x]',
      '...',
      '.a',
      '#',
      '=',
      '=a',
      '#a',
      '"',
      '\\',
      "'",
      '{}',
      '日本',
      '🙂'.repeat(256),
      '\u00e9',
      'e\u0301',
      'x'.repeat(256),
      'constructor',
      '__proto__',
    ];
    for (const key of keys) {
      expect((await sheet.put(key, key)).body.key, key).to.equal(key);
      expect((await sheet.get(key)).body.value, key).to.equal(key);
    }
    const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    expect(await sheet.keys()).to.deep.equal(keys.toSorted(byCodePoint));
    const { events } = (await sheet.world.get('/watch?types=note.put&limit=200')).body;
    expect(events.map(({ payload }: { payload: { key: string } }) => payload.key)).to.deep.equal(keys);
    for (const key of ['x'.repeat(257), '🙂'.repeat(257), 'a\nb', '\u0000', '\u0085', '\u007f'])
      for (const reply of [await sheet.put(key, 1), await sheet.get(key), await sheet.delete(key)])
        expect(codeOf(reply), key).to.equal('400 VALIDATION_FAILED');
    await expectAgreement(sheet.world);
  });

  it('have no key that a URL may lose, nor one that is no UTF-8', async () => {
    const space = `/v1/spaces/${sheet.world.spaceId}/scopes/${sheet.scopeId}/notes`;
    for (const key of ['.', '..', '%2e', '%2E%2e', '.%2e', '%ff', '%zz', '%', '%ED%A0%80', '%00'])
      expect(await rawGet(sheet.world, `${space}/${key}`), key).to.match(/^HTTP\/1\.1 400 /);
    for (const path of [`${space}/`, `${space}/a/b`])
      expect(await rawGet(sheet.world, path)).to.match(/^HTTP\/1\.1 404 /);
    const message = (await sheet.get('..%2f')).body.error.message;
    expect(message).to.equal('there is no such note in this scope');
    const batched = await sheet.world.mustPost('/batch', {
      calls: ['..', '\ud800', '', 7, null].map((key) => ({ call: 'note.put', scopeId: sheet.scopeId, key, value: 1 })),
    });
    for (const { status, body } of batched.results) {
      expect(status).to.equal(400);
      expect(body.error.message).to.match(/^key must be a string of 1 to 256 characters/);
    }
  });

  it('notes of different scopes have nothing to do with one another', async () => {
    const other = new Sheet(sheet.world);
    await sheet.mustPut('n', 1);
    expect((await other.put('n', 2)).body.version).to.equal(1);
    expect((await sheet.get('n')).body.value).to.equal(1);
    expect(codeOf(await new Sheet(sheet.world).get('n'))).to.equal('404 NOTE_NOT_FOUND');
    expect(codeOf(await new Sheet(await World.create(), sheet.scopeId).get('n'))).to.equal('404 NOTE_NOT_FOUND');
    expect((await new Sheet(sheet.world).list()).body).to.deep.equal({ notes: [], nextCursor: null });
  });

  it('are replayed with their Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await sheet.put('n', 1, {}, headers);
    await sheet.mustPut('n', 2);
    const again = await sheet.put('n', 1, {}, headers);
    expect([again.status, again.body]).to.deep.equal([201, first.body]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect((await sheet.get('n')).body).to.include({ value: 2, version: 2 });
    expect(codeOf(await sheet.put('m', 1, {}, headers))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
  });

  it('are operations; their events name scope, key and version, and never the value', async () => {
    await sheet.mustPut('a "key" \\ v=1', 'secret');
    await sheet.mustPut('a "key" \\ v=1', 'secret');
    await sheet.delete('a "key" \\ v=1');
    const { text, body } = await sheet.world.get(`/watch?aggregate=note:${sheet.scopeId}`);
    const { scopeId } = sheet;
    const payload = (version: number) => ({ noteId: scopeId, scopeId, key: 'a "key" \\ v=1', version });
    expect(body.events.map((event: object) => Object.values(event).slice(1, 5))).to.deep.equal([
      ['note.put', 'note', scopeId, scopeId],
      ['note.put', 'note', scopeId, scopeId],
      ['note.deleted', 'note', scopeId, scopeId],
    ]);
    expect(body.events.map((event: { payload: object }) => event.payload)).to.deep.equal([
      payload(1),
      payload(2),
      { ...payload(2), actor: await sheet.world.keyId() },
    ]);
    expect(text).not.to.include('secret');
    const [day] = (await sheet.world.get('/usage')).body.days.slice(-1);
    expect(day.byCall).to.include({ 'note.put': 2, 'note.delete': 1 });
  });

  it('have the same events once these are packed, whatever their keys are', async () => {
    for (const key of ['"', '\\"', 'a="b" version=9', "'", '\u2028', '=', '~', 'null', '日本 🙂'])
      await sheet.mustPut(key, 1);
    const events = async () => (await sheet.world.get('/watch?types=note.put&limit=200')).body.events;
    const before = await events();
    expect(before).to.have.length(9);
    const { service, org, spaceId } = sheet.world;
    await service.packing.packSpace(org, spaceId, undefined, { sealAfterMs: 0, isAll: true });
    expect(await service.store.xlen(`${sheet.world.prefix}:events`)).to.be.below(9);
    expect(await events()).to.deep.equal(before);
  });

  it('are called in a batch and are listed with a prefix, in pages', async () => {
    const calls = ['b/2', 'a', 'b/1', 'c', 'b%', 'b*'].map((key) => ({
      call: 'note.put',
      scopeId: sheet.scopeId,
      key,
      value: key,
    }));
    const { results } = await sheet.world.mustPost('/batch', { calls });
    expect(
      results.map(({ status, body }: { status: number; body: { version: number } }) => [status, body.version]),
    ).to.deep.equal([1, 2, 3, 4, 5, 6].map((version) => [201, version]));
    expect(await sheet.keys()).to.deep.equal(['a', 'b%', 'b*', 'b/1', 'b/2', 'c']);
    expect(await sheet.keys('&limit=1')).to.deep.equal(['a', 'b%', 'b*', 'b/1', 'b/2', 'c']);
    expect(await sheet.keys('&prefix=b%2F&limit=1')).to.deep.equal(['b/1', 'b/2']);
    expect(await sheet.keys('&prefix=b*')).to.deep.equal(['b*']);
    expect(await sheet.keys('&prefix=b%25')).to.deep.equal(['b%']);
    expect(await sheet.keys('&prefix=')).to.have.length(6);
    const [note] = (await sheet.list('?values=true&prefix=a')).body.notes;
    expect(note).to.deep.equal((await sheet.get('a')).body);
    const { value: _, ...plain } = note;
    expect((await sheet.list('?values=false&prefix=a')).body.notes).to.deep.equal([plain]);
    for (const query of ['?values=1', '?values=', '?prefix=%00', `?prefix=${'x'.repeat(257)}`, '?limit=201'])
      expect(codeOf(await sheet.list(query)), query).to.equal('400 VALIDATION_FAILED');
    const { nextCursor } = (await sheet.list('?limit=2')).body;
    expect(codeOf(await sheet.list(`?prefix=b&cursor=${nextCursor}`))).to.equal('400 INVALID_CURSOR');
    const removed = await sheet.world.mustPost('/batch', {
      calls: [3, 2].map((ifVersion) => ({ call: 'note.delete', scopeId: sheet.scopeId, key: 'a', ifVersion })),
    });
    expect(removed.results.map(({ status }: { status: number }) => status)).to.deep.equal([409, 204]);
    await expectAgreement(sheet.world);
  });

  it('make their scope, which they leave IDLE', async () => {
    await sheet.mustPut('n', 1);
    const { body } = await sheet.world.get(`/scopes/${sheet.scopeId}`);
    expect(body).to.include({ id: sheet.scopeId, state: 'IDLE', parentScopeId: null });
    expect((await sheet.world.eventTypes()).slice(-2)).to.deep.equal(['scope.created', 'note.put']);
  });

  it('are neither put nor deleted in a cancelled run, and stay readable', async () => {
    await sheet.mustPut('n', 1);
    const { body: child } = await sheet.world.post('/scopes', { parentScopeId: sheet.scopeId });
    const below = new Sheet(sheet.world, child.id);
    await below.mustPut('n', 2);
    await sheet.world.mustPost(`/scopes/${sheet.scopeId}/cancel`);
    for (const one of [sheet, below]) {
      expect(codeOf(await one.put('n', 3, { ifVersion: 9 }))).to.equal('409 SCOPE_CANCELLED');
      expect(codeOf(await one.put('m', 3))).to.equal('409 SCOPE_CANCELLED');
      expect(codeOf(await one.delete('n'))).to.equal('409 SCOPE_CANCELLED');
      expect(codeOf(await one.delete('m'))).to.equal('404 NOTE_NOT_FOUND');
      expect((await one.get('n')).status).to.equal(200);
      expect(await one.keys()).to.deep.equal(['n']);
    }
    await expectAgreement(sheet.world);
  });
});
