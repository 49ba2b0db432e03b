import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { canonical, textOf, values } from '../clients/behaviours/values.ts';
import { World } from '../support/world.ts';

describe('A value that is sent over MCP', () => {
  let world: World;
  let mailboxId: string;
  before(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'values' })).id;
  });

  /** Posts this text, and returns that of the answer. */
  const post = async (body: string): Promise<string> => {
    const headers = {
      Authorization: `Bearer ${world.apiKey}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-03-26',
    };
    const { status, text } = await world.send('POST', `/v1/spaces/${world.spaceId}/mcp`, body, headers);
    expect(status, text).to.equal(200);
    return text;
  };
  const toolCall = (name: string, args: string, meta = ''): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}",${meta}"arguments":${args}}}`;
  const send = (value: string, more = ''): string =>
    toolCall('message_send', `{"mailboxId":"${mailboxId}","scopeId":"${randomUUID()}"${more},"payload":${value}}`);
  const payloadIn = (text: string): string => /"payload":(.*),"deadline":/s.exec(text)?.[1] ?? text;
  /** The payload in the structured answer, and that in its text. */
  const payloadsIn = (text: string): string[] => {
    const [, content = ''] = /"text":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
    return [payloadIn(text.slice(text.indexOf('"structuredContent":'))), payloadIn(JSON.parse(content))];
  };
  /** Asks about a task. more: members of the parameters, as text. */
  const task = (method: string, id: string, more = '') => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {
        extensions: { 'io.modelcontextprotocol/tasks': {} },
        elicitation: {},
      },
    };
    const params = `{"taskId":"${id}",${more}"_meta":${JSON.stringify(meta)}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
    return world.send('POST', `/v1/spaces/${world.spaceId}/mcp`, body, {
      ...{ Authorization: `Bearer ${world.apiKey}`, 'Content-Type': 'application/json' },
      ...{ Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28' },
      ...{ 'Mcp-Method': method, 'Mcp-Name': id },
    });
  };
  const view = (id: string): string => toolCall('message_view', `{"messageId":"${id}"}`);

  it('is stored and answered with all its digits, structured and as text', async () => {
    for (const value of values) {
      const text = textOf(value);
      // Two levels are the message's own.
      if (value.name.startsWith('the greatest depth')) continue;
      const { structuredContent } = JSON.parse(await post(send(text))).result;
      const { text: stored } = await world.get(`/messages/${structuredContent.id}`);
      const wanted = canonical(value.short ?? text);
      const found = [payloadIn(stored), ...payloadsIn(await post(view(structuredContent.id)))];
      for (const one of found) expect([wanted, canonical(text)], value.name).to.include(canonical(one));
    }
  });

  it('keeps its digits in a list of messages, in a batch and in the answer of a task', async () => {
    const [number, other] = ['[9007199254740993,1e400]', '{"a":12345678901234567890}'];
    const list = await post(`[${send(number)}, ${send('"plain"')}]`);
    const [{ result }] = JSON.parse(list);
    expect(payloadsIn(await post(view(result.structuredContent.id)))).to.deep.equal([number, number]);

    const one = `{"call":"message.send","mailboxId":"${mailboxId}","scopeId":"${randomUUID()}","payload":${other}}`;
    const { results } = JSON.parse(await post(toolCall('batch', `{"calls":[${one}]}`))).result.structuredContent;
    const { text } = await world.get(`/messages/${results[0].body.id}`);
    expect(payloadIn(text)).to.equal(other);
    expect(text).to.not.match(/"payload":.*12345678901234567000/);

    await world.mustPost(`/messages/${results[0].body.id}/cancel`);
    const scopeId = randomUUID();
    const sent = JSON.parse(
      await post(toolCall('message_send', `{"mailboxId":"${mailboxId}","scopeId":"${scopeId}","payload":1}`)),
    ).result.structuredContent;
    const claim = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    await post(
      toolCall(
        'message_complete',
        `{"messageId":"${sent.id}","token":"${claim.token}","result":{"payload":${number}}}`,
      ),
    );
    const answer = await task('tasks/get', sent.id);
    expect(answer.text).to.contain(`"result":${number},"createdAt":`);
    expect(answer.text).to.contain(`\\"result\\":${number},\\"createdAt\\":`);
  });

  it('keeps its digits in the form of a question, and in the answer that comes back', async () => {
    const number = '{"pages":9007199254740993}';
    const scopeId = randomUUID();
    const sent = JSON.parse(await post(send('1', `,"scopeId":"${scopeId}"`))).result.structuredContent;
    const claim = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    const headers = {
      Authorization: `Bearer ${world.apiKey}`,
      'Idempotency-Key': randomUUID(),
      'Content-Type': 'application/json',
    };
    const ask = `{"token":"${claim.token}","question":${number}}`;
    const path = `/v1/spaces/${world.spaceId}/messages/${sent.id}/ask`;
    const { question } = (await world.send('POST', path, ask, headers)).body;
    const { text } = await task('tasks/get', sent.id);
    expect(JSON.parse(text).result.inputRequests[question.id].params.message).to.equal(number);
    await task(
      'tasks/update',
      sent.id,
      `"inputResponses":{"${question.id}":{"action":"accept","content":{"answer":${number},"answeredBy":"ann"}}},`,
    );
    expect((await world.get(`/questions/${question.id}`)).text).to.contain(`"answer":${number},`);
  });

  it('is known again by its idempotencyKey', async () => {
    const key = `,"idempotencyKey":"${randomUUID()}"`;
    const scopeId = randomUUID();
    const twice = (value: string) =>
      post(
        toolCall('message_send', `{"mailboxId":"${mailboxId}","scopeId":"${scopeId}"${key},"payload":${value}}`),
      ).then((text) => JSON.parse(text).result);
    const [first, again, other] = [
      await twice('9007199254740993'),
      await twice('9007199254740993'),
      await twice('9007199254740995'),
    ];
    expect(again.structuredContent.id).to.equal(first.structuredContent.id);
    expect([other.isError, JSON.parse(other.content[0].text).error.code]).to.deep.equal([
      true,
      'IDEMPOTENCY_KEY_REUSED',
    ]);
  });
});
