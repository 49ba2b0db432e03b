import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';

describe('A body that is not UTF-8', () => {
  it('is not JSON (RFC 8259, 8.1): 400 MALFORMED_JSON, wherever the bytes are, and nothing is created', async () => {
    const world = await World.create();
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const send = async (path: string, bytes: string): Promise<string> => {
      const response = await fetch(`${world.url}/v1/spaces/${world.spaceId}${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${world.apiKey}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': randomUUID(),
        },
        body: Buffer.from(bytes, 'latin1'),
      });
      const { error } = (await response.json()) as { error?: { code: string } };
      return `${response.status} ${error?.code ?? ''}`;
    };
    const scopeId = randomUUID();
    const bad = [
      '\xff',
      '\x80',
      '\xc3',
      '\xc0\x80',
      '\xe2\x82',
      '\xed\xa0\x80',
      '\xf4\x90\x80\x80',
      '\xf8\x88\x80\x80\x80',
    ];
    for (const bytes of bad) {
      const hex = Buffer.from(bytes, 'latin1').toString('hex');
      const messages = `/mailboxes/${id}/messages`;
      expect(await send('/mailboxes', `{"name":"a${bytes}"}`), hex).to.equal('400 MALFORMED_JSON');
      expect(await send(messages, `{"scopeId":"${scopeId}","payload":"${bytes}z"}`), hex).to.equal(
        '400 MALFORMED_JSON',
      );
      expect(await send(messages, `{"scopeId":"${scopeId}","payload":{"${bytes}":1}}`), hex).to.equal(
        '400 MALFORMED_JSON',
      );
      expect(await send('/mailboxes', `{"name":"x"}${bytes}`), hex).to.equal('400 MALFORMED_JSON');
    }
    expect(await send('/mailboxes', '\xff\xfe{\0}\0')).to.equal('400 MALFORMED_JSON');
    expect(await send('/mailboxes', '{"name":"\xf0\x9f\x98\x80"}'), 'four good bytes').to.equal('201 ');
    expect(await send('/mailboxes', '{"name":"\xef\xbf\xbd"}'), 'U+FFFD itself').to.equal('201 ');
    expect((await world.get('/mailboxes')).body.mailboxes).to.have.length(3);
    expect((await world.get(`/mailboxes/${id}/messages`)).body.messages).to.have.length(0);
  });
});
