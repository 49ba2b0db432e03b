import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createSpace } from '../../src/org/admin.ts';
import { allPermissions, codeOf, type Reply, World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';

const accept = 'application/json, text/event-stream';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
const callOf = (name: string, args: object = {}, id: number | string = 3) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('POST /v1/spaces/{spaceId}/mcp', () => {
  let world: World;
  const path = (spaceId = world.spaceId) => `/v1/spaces/${spaceId}/mcp`;
  /** headers: undefined takes one away. */
  async function send(
    message: unknown,
    headers: Record<string, string | undefined> = {},
    { method = 'POST', spaceId = world.spaceId } = {},
  ): Promise<Reply> {
    const all = {
      Authorization: `Bearer ${world.apiKey}`,
      'Content-Type': 'application/json',
      Accept: accept,
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    const init = { method, headers: given, ...(method === 'POST' && { body }) };
    const response = await fetch(world.url + path(spaceId), init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }
  /** What is left of the minute's requests. */
  const left = ({ headers }: Reply): number => Number(/"space";r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1]);

  before(async () => {
    world = await World.create();
  });

  it('answers JSON, without a session, in every version that the SDK offers', async () => {
    for (const protocolVersion of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
      const { status, headers, body } = await send({
        ...initialize,
        params: { ...initialize.params, protocolVersion },
      });
      expect(status).to.equal(200);
      expect(headers.get('Content-Type')).to.match(/^application\/json/);
      expect(headers.get('Mcp-Session-Id')).to.equal(null);
      expect(body.result.protocolVersion).to.equal(protocolVersion);
      const named = { 'MCP-Protocol-Version': protocolVersion };
      expect((await send(list, named)).body.result.tools).to.have.length.above(20);
    }
    const unknown = await send(list, { 'MCP-Protocol-Version': '1999-01-01' });
    expect([unknown.status, unknown.body.error.code]).to.deep.equal([400, -32000]);
    for (const version of versions) {
      const agent = await Agent.connect(world, { version });
      expect(agent.client.getServerVersion()?.name).to.equal('muster');
      expect(agent.client.getNegotiatedProtocolVersion()).to.equal(version);
      await agent.close();
    }
  });

  it('explains the model of work: instructions, a prompt and a resource, the same page', async () => {
    for (const version of versions) {
      const { client, ...agent } = await Agent.connect(world, { version });
      expect(client.getInstructions()).to.contain('muster://guide');
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).to.deep.equal(['guide']);
      const { messages } = await client.getPrompt({ name: 'guide' });
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).to.deep.equal(['muster://guide']);
      const { contents } = await client.readResource({ uri: 'muster://guide' });
      expect((await client.listResourceTemplates()).resourceTemplates).to.deep.equal([]);
      const [page] = contents;
      expect(messages[0]?.content).to.deep.equal({ type: 'text', text: page && 'text' in page ? page.text : '' });
      for (const wrong of [() => client.getPrompt({ name: 'x' }), () => client.readResource({ uri: 'muster://x' })])
        expect(await wrong().then(String, ({ code }) => code)).to.be.oneOf([-32602, -32002]);
      expect(agent.name).to.match(/^agent-/);
      await client.close();
    }
  });

  it('counts a listing, and every message but a call, as a read; a call as the call that it is', async () => {
    const { spaceId } = await createSpace(world.service, { org: world.org });
    const ask = async (message: unknown) => left(await send(message, {}, { spaceId }));
    const first = await ask(list);
    for (const message of [
      initialize,
      list,
      callOf('mailbox_list'),
      callOf('mailbox_list', { x: 1 }),
      callOf('none'),
      {},
    ]) {
      const before = await ask(list);
      expect(before - (await ask(message)), JSON.stringify(message)).to.equal(1);
    }
    expect(await ask({ jsonrpc: '2.0', method: 'notifications/initialized' })).to.equal(first - 13);
    const { body } = await world.call('GET', '/usage');
    expect(JSON.stringify(body.days.map(({ byCall }: { byCall: object }) => byCall))).to.not.contain('mcp');
  });

  it('answers what is wrong with a message as JSON-RPC', async () => {
    const code = async (message: unknown) => (await send(message)).body.error.code;
    expect(await code(callOf('no_such_tool'))).to.equal(-32602);
    expect(await code({ ...list, method: 'no/such' })).to.equal(-32601);
    expect(await code({ ...callOf('mailbox_list'), params: { name: 7 } })).to.equal(-32602);
    expect(await code({})).to.equal(-32600);
    for (const text of ['null', '7', '"x"', '[]', '[[]]'])
      expect((await send(text)).status, text).to.be.within(200, 400);
    const done = await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([done.status, done.text]).to.deep.equal([202, '']);
  });

  it('no key, a wrong one: 401; no such space: 404; a key of other spaces: 403; all in the envelope', async () => {
    const other = await World.create();
    const { spaceId: another } = await createSpace(world.service, { org: world.org });
    const limited = await world.key(allPermissions, [another]);
    for (const message of [initialize, list, callOf('mailbox_list'), callOf('none'), {}, [list]]) {
      const as = async (key: string | undefined, spaceId?: string) =>
        codeOf(await send(message, { Authorization: key }, spaceId === undefined ? {} : { spaceId }));
      expect(await as(undefined)).to.equal('401 UNAUTHENTICATED');
      expect(await as('Basic x')).to.equal('401 INVALID_API_KEY');
      expect(await as(`Bearer mk_${world.org}_${'a'.repeat(43)}`)).to.equal('401 INVALID_API_KEY');
      expect(await as(`Bearer ${other.apiKey}`)).to.equal('404 SPACE_NOT_FOUND');
      expect(await as(`Bearer ${world.apiKey}`, randomUUID())).to.equal('404 SPACE_NOT_FOUND');
      expect(await as(`Bearer ${world.apiKey}`, 'x')).to.equal('404 SPACE_NOT_FOUND');
      expect(await as(`Bearer ${limited}`)).to.equal('403 PERMISSION_DENIED');
    }
    const { headers } = await send(list, { Authorization: undefined });
    expect(headers.get('WWW-Authenticate')).to.equal('Bearer');
    const failed = await Agent.connect(world, { key: 'x' }).then(String, String);
    expect(failed).to.match(/INVALID_API_KEY|401|[Uu]nauthorized/);
  });

  it('the rates: 429 with Retry-After in the envelope; recovery calls go on', async () => {
    const { spaceId } = await createSpace(world.service, { org: world.org, limits: { requestsPerMinute: 2 } });
    for (const _ of [1, 2]) expect((await send(list, {}, { spaceId })).status).to.equal(200);
    for (const message of [list, initialize, callOf('mailbox_list'), callOf('mailbox_list', { x: 1 }), [list]]) {
      const refused = await send(message, {}, { spaceId });
      expect(codeOf(refused)).to.equal('429 RATE_LIMITED');
      expect(Number(refused.headers.get('Retry-After'))).to.be.within(1, 60);
    }
    const renew = callOf('message_renew', { messageId: randomUUID(), token: 'x' });
    const { status, body } = await send(renew, {}, { spaceId });
    expect([status, body.result.isError]).to.deep.equal([200, true]);
    expect(JSON.parse(body.result.content[0].text).error.code).to.equal('MESSAGE_NOT_FOUND');
  });

  it('takes POST of JSON only, and answers JSON only', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
      const refused = await send(list, {}, { method });
      expect([codeOf(refused), refused.headers.get('Allow')]).to.deep.equal(['405 METHOD_NOT_ALLOWED', 'POST']);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'text/event-stream', undefined])
      expect(codeOf(await send(list, { 'Content-Type': type }))).to.equal('415 UNSUPPORTED_MEDIA_TYPE');
    expect(codeOf(await send(list, { 'Content-Encoding': 'gzip' }))).to.equal('415 UNSUPPORTED_MEDIA_TYPE');
    for (const type of ['text/event-stream', 'text/html', 'application/json;q=0'])
      expect(codeOf(await send(list, { Accept: type }))).to.equal('406 NOT_ACCEPTABLE');
    for (const type of ['application/json', '*/*', 'application/*;q=0.1', undefined])
      expect((await send(list, { Accept: type })).status).to.equal(200);
    for (const text of ['', '{', '{"a":1']) expect(codeOf(await send(text)), text).to.equal('400 MALFORMED_JSON');
    expect(codeOf(await send(JSON.stringify({ ...list, x: 'x'.repeat(262_144) })))).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(codeOf(await send(`${'['.repeat(600)}${']'.repeat(600)}`))).to.equal('400 VALIDATION_FAILED');
  });

  it('an Origin of another host: 403, whatever the key; of this host, or none: served', async () => {
    const { host } = new URL(world.url);
    const [name = '', port] = host.split(':');
    const others = [
      'null',
      '',
      'x',
      'http://evil.example',
      `http://${name}`,
      `http://${host}.evil.example`,
      `http://${name}:1`,
    ];
    for (const origin of [...others, `http://${host}, http://evil.example`, 'file://', `http://evil.example/${host}`]) {
      for (const Authorization of [undefined, `Bearer ${world.apiKey}`])
        expect(codeOf(await send(list, { Origin: origin, Authorization })), origin).to.equal('403 ORIGIN_NOT_ALLOWED');
    }
    for (const origin of [`http://${host}`, `https://${host}`, undefined])
      expect((await send(list, { Origin: origin })).status, origin).to.equal(200);
    expect(port).to.match(/^\d+$/);
  });

  it('a list of messages, as 2025-03-26 has it: each by itself, at most 100; nothing in it holds the others', async () => {
    const messages = [callOf('mailbox_list', {}, 'a'), callOf('mailbox_list', { x: 1 }, 'b'), list];
    const { status, body } = await send([
      ...messages,
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } },
    ]);
    expect(status).to.equal(200);
    expect(body.map(({ id }: { id: unknown }) => id)).to.deep.equal(['a', 'b', 2]);
    expect([body[0].result.isError, body[1].result.isError]).to.deep.equal([false, true]);
    for (const wrong of [[], Array(101).fill(list)])
      expect(codeOf(await send(wrong))).to.equal('400 VALIDATION_FAILED');
    expect((await send([{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status).to.equal(202);
    const { spaceId } = await createSpace(world.service, { org: world.org, limits: { requestsPerMinute: 3 } });
    const calls = [1, 2, 3].map((id) => callOf('mailbox_list', {}, id));
    const limited = await send(calls, {}, { spaceId });
    const codes = limited.body.map(
      ({ result }: { result: { content: { text: string }[] } }) =>
        JSON.parse(result.content[0]?.text ?? '').error?.code,
    );
    expect(codes.filter(Boolean), 'the list is one, its calls are three').to.deep.equal(['RATE_LIMITED']);
  });

  it('offers no stream: a subscription is refused at once', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const listen = {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { _meta: meta, notifications: {} },
    };
    const { headers, body } = await send(listen, {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'subscriptions/listen',
    });
    expect(headers.get('Content-Type')).to.match(/^application\/json/);
    expect(body.error.message).to.match(/limit/);
  });
});
