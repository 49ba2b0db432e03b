import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookError } from '../../src/clients/typescript/index.ts';
import { messageHeaders, testMessage } from '../../src/primitives/webhook/message.ts';

describe('verifyWebhook', () => {
  const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
  const [secret, other] = [secretOf(1), secretOf(2)];
  let now: number;
  let message: ReturnType<typeof testMessage>;
  let headers: ReturnType<typeof messageHeaders>;
  before(() => {
    now = Date.now();
    message = testMessage('0190a1b2-0000-7000-8000-000000000000', '0190a1b2-0000-7000-8000-000000000001', now);
    headers = messageHeaders(message, [secret], now);
  });
  const refusal = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'genuine',
      (error) => (error instanceof WebhookError ? error.message : `another error: ${error}`),
    );

  it('gives the event of a message that is signed as deliveries are, however the headers come', async () => {
    for (const form of [headers, new Headers(headers)])
      expect(await verifyWebhook(message.body, form, secret)).to.deep.equal(JSON.parse(message.body));
    const { type, data } = await verifyWebhook(new TextEncoder().encode(message.body), headers, [other, secret]);
    expect([type, data.eventId]).to.deep.equal(['destination.test', message.eventId]);
  });

  it('takes what the public library of Standard Webhooks signs', async () => {
    const at = new Date();
    const signature = new Webhook(secret).sign('msg_1', at, '{"type":"ü"}');
    const signed = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': `v1a,x v1,AAAA ${signature}`,
    };
    expect(await verifyWebhook('{"type":"ü"}', signed, secret)).to.deep.equal({ type: 'ü' });
  });

  it('takes both secrets while one is replaced', async () => {
    const both = messageHeaders(message, [other, secret], now);
    for (const one of [secret, other])
      expect((await verifyWebhook(message.body, both, one)).timestamp).to.be.a('string');
  });

  it('refuses another secret, another body, id or time, and a signature that is none', async () => {
    const wrong = 'no signature matches this secret';
    expect(await refusal(verifyWebhook(message.body, headers, other))).to.equal(wrong);
    expect(await refusal(verifyWebhook(`${message.body} `, headers, secret))).to.equal(wrong);
    for (const change of [{ 'webhook-id': 'x' }, { 'webhook-signature': 'v1,?' }, { 'webhook-signature': 'v2,AAAA' }])
      expect(await refusal(verifyWebhook(message.body, { ...headers, ...change }, secret))).to.equal(wrong);
    const later = { ...headers, 'webhook-timestamp': String(Math.floor(now / 1000) + 1) };
    expect(await refusal(verifyWebhook(message.body, later, secret))).to.equal(wrong);
  });

  it('refuses what is too old, from the future, or without its headers', async () => {
    const old = 'webhook-timestamp is more than 300 seconds from now';
    expect(await refusal(verifyWebhook(message.body, headers, secret, { now: now + 302_000 }))).to.equal(old);
    expect(await refusal(verifyWebhook(message.body, headers, secret, { now: now - 302_000 }))).to.equal(old);
    expect(await refusal(verifyWebhook(message.body, headers, secret, { now: now + 299_000 }))).to.equal('genuine');
    const lenient = { now: now + 302_000, toleranceSeconds: 400 };
    expect(await refusal(verifyWebhook(message.body, headers, secret, lenient))).to.equal('genuine');
    expect(await refusal(verifyWebhook(message.body, { ...headers, 'webhook-timestamp': 'now' }, secret))).to.equal(
      old,
    );
    expect(await refusal(verifyWebhook(message.body, {}, secret))).to.equal('the header webhook-id is missing');
  });

  it('does not take an empty secret for one', async () => {
    const error = await verifyWebhook(message.body, headers, '').catch((thrown) => thrown);
    expect(error).to.be.instanceOf(TypeError);
  });
});
