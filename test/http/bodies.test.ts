import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../support/world.ts';
import { rawRequest } from './client.ts';

describe('Request bodies', () => {
  let world: World;
  let mailboxId: string;
  const scopeId = randomUUID();

  before(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
  });

  /** Posts exactly this text. */
  const text = (path: string, body: string, headers: Record<string, string> = {}): Promise<Reply> =>
    world.send('POST', `/v1/spaces/${world.spaceId}${path}`, body, {
      Authorization: `Bearer ${world.apiKey}`,
      'Idempotency-Key': randomUUID(),
      'Content-Type': 'application/json',
      ...headers,
    });

  it('> 256 KiB: 413 PAYLOAD_TOO_LARGE, with or without Content-Length, and the client can read the answer', async () => {
    const fits = JSON.stringify({ name: 'x' }).padEnd(256 * 1024);
    expect((await text('/mailboxes', fits)).status).to.equal(201);
    expect(codeOf(await text('/mailboxes', `${fits} `))).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(codeOf(await text('/mailboxes', 'x'.repeat(300 * 1024)))).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(codeOf(await text('/mailboxes', 'x'.repeat(5 * 1024 * 1024)))).to.equal('413 PAYLOAD_TOO_LARGE');
    const chunk = `${(64 * 1024).toString(16)}\r\n${' '.repeat(64 * 1024)}\r\n`;
    const head = `POST /v1/spaces/${world.spaceId}/mailboxes HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    const answer = await rawRequest(world, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`);
    expect(answer).to.match(/^HTTP\/1\.1 413 /);
  });

  it('not JSON: 400 MALFORMED_JSON', async () => {
    for (const body of ['{', '{"name":}', "{'name':1}", '{"name":"x"} x', 'name=x', '{"name":"x",}', ' ', 'nul']) {
      expect(codeOf(await text('/mailboxes', body)), body).to.equal('400 MALFORMED_JSON');
    }
    for (const body of ['{"name":NaN}', '{"name":"\n"}', '{"name":01}', '{"name":"\\x"}', '\ufeff\ufeff{}']) {
      expect(codeOf(await text('/mailboxes', body)), body).to.equal('400 MALFORMED_JSON');
    }
  });

  it('JSON that is not an object: 400 VALIDATION_FAILED, also on routes without a body; an empty body is {}', async () => {
    const barrier = await world.mustPost('/barriers', { scopeId, target: 1 });
    for (const body of ['[{"name":"x"}]', '[]', '"x"', '5', 'true', 'null', ' 0 ']) {
      for (const path of ['/mailboxes', `/barriers/${barrier.id}/cancel`]) {
        const reply = await text(path, body);
        expect(codeOf(reply), body).to.equal('400 VALIDATION_FAILED');
        expect(reply.body.error.message).to.equal('the body must be a JSON object');
        expect(codeOf(await text(path, body, { Authorization: 'x' })), body).to.equal('401 INVALID_API_KEY');
      }
    }
    expect((await text(`/barriers/${barrier.id}/cancel`, '')).status).to.equal(200);
    const path = `/destinations/${(await world.mustPost('/destinations', { url: 'https://127.0.0.1:9/' })).id}`;
    expect(codeOf(await world.call('DELETE', path, { force: true }))).to.equal('400 VALIDATION_FAILED');
    expect((await world.call('DELETE', path, {})).status).to.equal(204);
  });

  it('other content types: 415 UNSUPPORTED_MEDIA_TYPE; parameters are allowed', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'text/json',
      'application/json-patch+json',
      '',
      'application',
    ];
    for (const type of [...types, 'application/json; =', 'application/json;charset']) {
      const reply = await text('/mailboxes', '{"name":"x"}', { 'Content-Type': type });
      expect(codeOf(reply), type).to.equal('415 UNSUPPORTED_MEDIA_TYPE');
    }
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset=UTF-8']) {
      expect((await text('/mailboxes', '{"name":"x"}', { 'Content-Type': type })).status, type).to.equal(201);
    }
    for (const encoding of ['zip', 'gzip', 'deflate', 'Identity']) {
      const packed = await text('/mailboxes', '{"name":"x"}', { 'Content-Encoding': encoding });
      expect(codeOf(packed), encoding).to.equal('415 UNSUPPORTED_MEDIA_TYPE');
      expect(packed.body.error.message).to.match(
        new RegExp(`^the Content-Encoding ${encoding} is not supported: send `),
      );
    }
    expect((await text('/mailboxes', '{"name":"x"}', { 'Content-Encoding': 'identity' })).status).to.equal(201);
  });

  it('nesting of 10,000 levels is 400, wherever it is', async () => {
    for (const deep of ['['.repeat(10_000) + ']'.repeat(10_000), `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`]) {
      for (const body of [`{"name":${deep}}`, `{"name":"x","more":${deep}}`]) {
        expect(codeOf(await text('/mailboxes', body))).to.equal('400 VALIDATION_FAILED');
      }
      const sent = await text(`/mailboxes/${mailboxId}/messages`, `{"scopeId":"${scopeId}","payload":${deep}}`);
      expect(codeOf(sent)).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('an unknown body field, including __proto__ and constructor, is 400 VALIDATION_FAILED at every level', async () => {
    const token = randomUUID();
    for (const field of ['x', '__proto__', '\\u005f_proto__', 'constructor', 'toString', '', 'Name', 'id']) {
      const body = `{"name":"x","${field}":{"name":"y"}}`;
      expect(codeOf(await text('/mailboxes', body)), field).to.equal('400 VALIDATION_FAILED');
      const nested = `{"token":"${token}","result":{"payload":1,"${field}":{"mailboxId":"x","scopeId":"y"}}}`;
      expect(codeOf(await text(`/messages/${mailboxId}/complete`, nested)), field).to.equal('400 VALIDATION_FAILED');
    }
    const messageOf = async (path: string, body: string) => (await text(path, body)).body.error.message;
    for (const field of ['x', '__proto__']) {
      expect(await messageOf('/mailboxes', `{"name":"x","${field}":1}`)).to.equal(
        `${field} is not a field of the body of this request, which takes name, mode, recipientId, backlogLimit, maxAttempts, retryDelaySeconds, maxRetryDelaySeconds, perKey, attemptSeconds, progressEvents, unique`,
      );
      const complete = `{"token":"${token}","result":{"payload":1,"${field}":1}}`;
      expect(await messageOf(`/messages/${mailboxId}/complete`, complete)).to.equal(
        `result.${field} is not a field of result in the body of this request, which takes payload, mailboxId, scopeId, workKey`,
      );
    }
    expect(await messageOf(`/barriers/${mailboxId}/cancel`, '{"x":1}')).to.equal(
      'x is not a field of the body of this request, which takes none',
    );
    const inherited = await text('/mailboxes', '{"__proto__":{"name":"x"}}');
    expect(codeOf(inherited)).to.equal('400 VALIDATION_FAILED');
  });

  it('the last of two members with one name wins, also in nested objects', async () => {
    expect((await text('/mailboxes', '{"name":"a","name":"b"}')).body.name).to.equal('b');
    const send = `/mailboxes/${mailboxId}/messages`;
    const sent = await text(send, `{"payload":1,"scopeId":"${scopeId}","payload":{"a":[2]},"workKey":"twice"}`);
    expect(sent.status).to.equal(201);
    const { body } = await world.get(`${send}?workKey=twice`);
    expect(body.messages[0].payload).to.deep.equal({ a: [2] });
    const complete = `/messages/${mailboxId}/complete`;
    const gone = await text(complete, `{"token":"x","result":{"payload":1},"result":null}`);
    expect(codeOf(gone), 'no result, no such message').to.equal('404 MESSAGE_NOT_FOUND');
    for (const last of ['{}', '5', '[{"payload":1}]', '{"result":{"payload":1}}']) {
      const reply = await text(complete, `{"token":"x","result":{"payload":1},"result":${last}}`);
      expect(codeOf(reply), last).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('wrong types are 400 and name the field; nothing is coerced', async () => {
    const wrong: [string, unknown][] = [
      ['name', 5],
      ['name', null],
      ['name', ['x']],
      ['mode', 'work'],
      ['mode', 1],
      ['recipientId', {}],
      ['backlogLimit', '5'],
      ['backlogLimit', true],
      ['backlogLimit', 1.5],
      ['backlogLimit', 0],
      ['backlogLimit', 100_001],
    ];
    for (const [field, value] of wrong) {
      const reply = await world.post('/mailboxes', { name: 'x', [field]: value });
      expect(codeOf(reply), `${field} ${JSON.stringify(value)}`).to.equal('400 VALIDATION_FAILED');
      expect(reply.body.error.message).to.match(new RegExp(`^${field} `));
    }
    expect((await world.post('/mailboxes', {})).body.error.message).to.match(
      /^name is missing: it must be a string of /,
    );
  });

  it('huge and fractional numbers are 400; an integer may be in any notation', async () => {
    for (const number of ['1e400', '-1e400', '9007199254740993', '1e20', '0.5', '1e-7', '-0', `1${'0'.repeat(400)}`]) {
      const reply = await text('/mailboxes', `{"name":"x","backlogLimit":${number}}`);
      expect(codeOf(reply), number).to.equal('400 VALIDATION_FAILED');
    }
    for (const number of ['1e2', '100.0', '100']) {
      const reply = await text('/mailboxes', `{"name":"x","backlogLimit":${number}}`);
      expect(reply.body.backlogLimit, number).to.equal(100);
    }
  });

  it('names and keys must not have control characters or lone surrogates; their length is in code points', async () => {
    const send = `/mailboxes/${mailboxId}/messages`;
    for (const bad of ['\\n', '\\u0000', '\\u007f', '\\u0085', '\\ud800', '\\udc00x', '']) {
      expect(codeOf(await text('/mailboxes', `{"name":"${bad}"}`)), bad).to.equal('400 VALIDATION_FAILED');
      const keyed = await text(send, `{"scopeId":"${scopeId}","payload":1,"workKey":"${bad}"}`);
      expect(codeOf(keyed), bad).to.equal('400 VALIDATION_FAILED');
    }
    const longest: [number, string, (value: string) => Promise<Reply>][] = [
      [200, 'name', (name) => world.post('/mailboxes', { name })],
      [512, 'workKey', (workKey) => world.post(send, { scopeId, payload: 1, workKey })],
      [256, 'recipientId', (recipientId) => world.post('/mailboxes', { name: 'x', recipientId })],
    ];
    for (const [length, field, post] of longest) {
      expect((await post('😀'.repeat(length))).status, field).to.equal(201);
      expect(codeOf(await post('x'.repeat(length + 1))), field).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('null for an optional field is absent', async () => {
    const nothing = { mode: null, recipientId: null, backlogLimit: null };
    const { body } = await world.post('/mailboxes', { name: 'x', ...nothing });
    expect(body).to.include({ mode: 'WORK', recipientId: null, backlogLimit: 1000 });
    const send = { scopeId, payload: null, workKey: null, deadline: null };
    expect((await world.post(`/mailboxes/${mailboxId}/messages`, send)).status).to.equal(201);
  });

  it('times are RFC 3339 with any offset; anything else is 400', async () => {
    const send = `/mailboxes/${mailboxId}/messages`;
    const bad = [
      '2030-02-30T00:00:00Z',
      '2030-01-01',
      '2030-01-01T00:00:00',
      '2030-01-01T24:00:00Z',
      '2030-13-01T00:00:00Z',
    ];
    for (const deadline of [
      ...bad,
      '9999-12-31T23:59:59-01:00',
      '+012030-01-01T00:00:00Z',
      'tomorrow',
      '',
      1_900_000_000_000,
    ]) {
      const reply = await world.post(send, { scopeId, payload: 1, deadline });
      expect(codeOf(reply), String(deadline)).to.equal('400 VALIDATION_FAILED');
    }
    for (const deadline of [
      '2999-06-01T14:00:00.1234567+02:00',
      '2999-06-01t12:00:00.123z',
      '2999-06-01T06:30:00.123-05:30',
    ]) {
      const { id } = await world.mustPost(send, { scopeId, payload: 1, deadline, workKey: deadline });
      const { body } = await world.get(`${send}?workKey=${encodeURIComponent(deadline)}`);
      expect(body.messages[0]).to.include({ id, deadline: '2999-06-01T12:00:00.123Z' });
    }
  });
});
