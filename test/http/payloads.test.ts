import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../support/world.ts';

/** The text that is sent, and the compact JSON that is returned if that differs. */
const samples: [string, string?][] = [
  ['null'],
  ['true'],
  ['0'],
  ['-0'],
  ['""'],
  ['[]'],
  ['{}'],
  ['[[],{},[{}],null]'],
  ['9007199254740993'],
  ['123456789012345678901234567890'],
  ['-9223372036854775809'],
  ['1.10'],
  ['1e2'],
  ['1E+400'],
  ['0.1000000000000000055511151231257827021181583404541015625'],
  ['{"a":1,"a":2}'],
  ['{"__proto__":{"x":1},"constructor":null,"":0}'],
  ['{"payload":"inner","result":{"payload":1}}'],
  ['"{\\"payload\\":1}"'],
  ['"\\ud800"'],
  ['"a\\u0000b"'],
  ['"€😀\u2028"'],
  [' { "a" : [ 1 ,\t2 ] ,\n"b c" : " d " } ', '{"a":[1,2],"b c":" d "}'],
  ['"\\u0041\\/\\u20ac\\u001f"', '"A/€\\u001f"'],
  ['"\\\\\\"\\\\"'],
  [`"${'\\\\'.repeat(2000)}"`],
  [`${'['.repeat(500)}1${']'.repeat(500)}`],
];

describe('Payloads are returned unchanged', () => {
  let world: World;
  let mailboxId: string;
  const scopeId = randomUUID();
  const send = (payload: string, on = world, id = mailboxId): Promise<Reply> =>
    on.send(
      'POST',
      `/v1/spaces/${on.spaceId}/mailboxes/${id}/messages`,
      `{"scopeId":"${scopeId}","payload":${payload}}`,
      {
        Authorization: `Bearer ${on.apiKey}`,
        'Idempotency-Key': randomUUID(),
        'Content-Type': 'application/json',
      },
    );
  const recv = (): Promise<Reply> =>
    world.post(`/mailboxes/${mailboxId}/recv`, { scopeId, holder: 'h', holderSession: 's' });

  before(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
  });

  it('in recv, in lists and as a result: long numbers, [], {}, null and escapes, as compact JSON', async () => {
    for (const [sent, back = sent.trim()] of samples) {
      expect((await send(sent)).status, sent).to.equal(201);
      const { text, body } = await recv();
      expect(text, sent).to.contain(`,"payload":${back},"deadline":`);
      const complete = `{"result":{"payload":${sent}},"token":"${body.token}"}`;
      await world.send('POST', `/v1/spaces/${world.spaceId}/messages/${body.id}/complete`, complete, {
        Authorization: `Bearer ${world.apiKey}`,
        'Idempotency-Key': randomUUID(),
        'Content-Type': 'application/json',
      });
    }
    const { text } = await world.get(`/mailboxes/${mailboxId}/messages`);
    for (const [sent, back = sent.trim()] of samples) {
      expect(text, sent).to.contain(`,"payload":${back},"deadline":`);
      expect(text, sent).to.contain(`,"result":${back},"createdAt":`);
    }
    expect((await send(`1,"p\\u0061yload":[1.0]`)).status).to.equal(201);
    expect((await recv()).text, 'the last of equal names').to.contain(',"payload":[1.0],');
  });

  it('payload is required, null is a payload', async () => {
    const missing = await world.post(`/mailboxes/${mailboxId}/messages`, { scopeId });
    expect(missing.body.error.message).to.equal('payload is missing: it may be any JSON value, including null');
    expect((await send('null')).status).to.equal(201);
  });

  it('maxPayloadBytes counts UTF-8 bytes of compact JSON: 413 PAYLOAD_TOO_LARGE above it', async () => {
    const small = await World.create({ limits: { maxPayloadBytes: 10 } });
    const { id } = await small.mustPost('/mailboxes', { name: 'jobs' });
    for (const fits of ['"12345678"', '"€€12"', ' [ 1 , 2 , 3 ]         ', '"\\u0041BCDEFGH"', '"😀😀"']) {
      expect((await send(fits, small, id)).status, fits).to.equal(201);
    }
    for (const large of ['"123456789"', '"€€123"', '"\\u0001\\u0002"', '"😀😀x"', '12345678901']) {
      const reply = await send(large, small, id);
      expect(codeOf(reply), large).to.equal('413 PAYLOAD_TOO_LARGE');
      expect(reply.body.error.message).to.contain('payload').and.to.contain('10 bytes');
    }
  });

  it('a payload of 64 KiB is returned, one byte more is refused', async () => {
    const full = `"${'é'.repeat(32_767)}"`;
    expect(Buffer.byteLength(full)).to.equal(65_536);
    expect((await send(full)).status).to.equal(201);
    expect(codeOf(await send(`${full.slice(0, -1)}x"`))).to.equal('413 PAYLOAD_TOO_LARGE');
    const { body } = await world.get(`/mailboxes/${mailboxId}/messages?state=READY`);
    expect(JSON.stringify(body.messages.at(-1).payload)).to.equal(full);
  });
});
