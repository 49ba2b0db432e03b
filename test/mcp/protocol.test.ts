import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { mayCall } from '../../src/doors/mcp/origin.ts';
import { version as release } from '../../src/package.ts';
import { createSpace } from '../../src/primitives/org/admin.ts';
import { startService } from '../../src/service.ts';
import { exchange } from '../support/exchange.ts';
import { redisUrl } from '../support/store.ts';
import { allPermissions, codeOf, overrides, type Reply, World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';

const accept = 'application/json, text/event-stream';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
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
      body: /^[[{]/.test(text) ? JSON.parse(text) : undefined,
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
      expect(agent.client.getServerVersion()).to.include({ name: 'muster', version: release });
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
    const reader = { Authorization: `Bearer ${await world.key(['coordination_read'])}` };
    for (const _ of [1, 2]) expect((await send(list, {}, { spaceId })).status).to.equal(200);
    for (const message of [list, initialize, callOf('budget_list'), callOf('budget_list', { x: 1 }), [list]]) {
      const refused = await send(message, reader, { spaceId });
      expect(codeOf(refused)).to.equal('429 RATE_LIMITED');
      expect(Number(refused.headers.get('Retry-After'))).to.be.within(1, 60);
    }
    expect((await send(list, {}, { spaceId })).status, 'of whoever may raise the limit').to.equal(200);
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
    expect(codeOf(await send(JSON.stringify({ ...list, x: 'x'.repeat(262_144) })))).to.equal('413 PAYLOAD_TOO_LARGE');
  });

  it('a body that is not JSON is a parse error of JSON-RPC, -32700; JSON that is no message, -32600', async () => {
    const errorOf = async (body: string | Uint8Array<ArrayBuffer>) => {
      const headers = { Authorization: `Bearer ${world.apiKey}`, 'Content-Type': 'application/json', Accept: accept };
      const answer = await fetch(world.url + path(), { method: 'POST', headers, body });
      const { jsonrpc, id, error, ...others } = JSON.parse(await answer.text());
      expect([jsonrpc, id, Object.keys(error), others]).to.deep.equal(['2.0', null, ['code', 'message'], {}]);
      expect(error.message).to.be.a('string');
      return [answer.status, error.code];
    };
    const latin1 = Uint8Array.from(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ä"}', 'latin1'));
    for (const body of ['', '{', '{"a":1', 'x', latin1])
      expect(await errorOf(body), String(body)).to.deep.equal([400, -32700]);
    for (const body of ['{}', '7', '"x"', 'null', '[]', `${'['.repeat(600)}${']'.repeat(600)}`])
      expect(await errorOf(body), body).to.deep.equal([400, -32600]);
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

  it('a page of another host under a name that leads here (DNS rebinding): 403; under a name of this machine: served', async () => {
    const { host, port } = new URL(world.url);
    const headers = { Authorization: `Bearer ${world.apiKey}`, 'Content-Type': 'application/json', Accept: accept };
    const call = async (name: string, scheme = 'http') => {
      const named = { ...headers, Host: name, Origin: `${scheme}://${name}` };
      const { status, text } = await exchange('POST', world.url + path(), named, JSON.stringify(list));
      return status === 200 ? 200 : JSON.parse(text).error.code;
    };
    for (const name of [host, `localhost:${port}`, 'localhost', `[::1]:${port}`, '127.0.0.1'])
      expect(await call(name), name).to.equal(200);
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost.evil.example`,
    ];
    for (const name of [...foreign, `10.0.0.1:${port}`, `169.254.169.254`, `localhost.:${port}`])
      for (const scheme of ['http', 'https']) expect(await call(name, scheme), name).to.equal('ORIGIN_NOT_ALLOWED');
    const alone = { ...headers, Host: 'muster.example.com' };
    const { status } = await exchange('POST', world.url + path(), alone, JSON.stringify(list));
    expect(status, 'no browser').to.equal(200);
  });

  it('with PUBLIC_URL pages of its host are served, too', async () => {
    const service = await startService({
      redisUrl: await redisUrl(),
      role: 'api',
      host: '127.0.0.1',
      port: 0,
      publicUrl: 'https://muster.example.com/team',
      log: pino({ level: 'silent' }),
      overrides,
    });
    try {
      const call = async (host: string, origin: string) => {
        const all = { 'Content-Type': 'application/json', Authorization: `Bearer ${world.apiKey}`, Host: host };
        const url = `${service.url}${path()}`;
        return (await exchange('POST', url, { ...all, Origin: origin }, JSON.stringify(list))).status;
      };
      expect(await call('muster.example.com', 'https://muster.example.com')).to.equal(200);
      expect(await call('localhost', 'http://localhost')).to.equal(200);
      expect(await call('evil.example', 'https://evil.example')).to.equal(403);
      expect(await call('muster.example.com:81', 'https://muster.example.com:81')).to.equal(403);
      expect(await call('localhost', 'https://muster.example.com')).to.equal(403);
    } finally {
      await service.stop();
    }
  });

  it('reached from other machines: pages of the host of PUBLIC_URL, and without it of the host that they call', () => {
    const publicUrl = 'http://muster.example.com:8080';
    for (const address of ['10.0.0.7', '::ffff:10.0.0.7', 'fd00::7']) {
      const calls = (host: string, set?: string) => mayCall(`http://${host}`, { host, address, publicUrl: set });
      expect(calls('muster.example.com:8080', publicUrl)).to.equal(true);
      for (const host of ['evil.example', 'localhost:8080', '127.0.0.1', 'muster.example.com'])
        expect([calls(host), calls(host, publicUrl)], host).to.deep.equal([true, false]);
    }
    for (const address of ['127.0.0.1', '127.0.0.53', '::1', '::ffff:127.0.0.1'])
      for (const [host, expected] of [
        ['evil.example', false],
        ['127.0.0.53:1', true],
        ['[::1]', true],
      ] as const)
        expect(mayCall(`http://${host}`, { host, address, publicUrl }), `${host} at ${address}`).to.equal(expected);
  });

  describe('a list of messages, as 2025-03-26 has it', () => {
    const of = (space: string, version?: string) => ({
      send: (messages: unknown) => send(messages, { 'MCP-Protocol-Version': version }, { spaceId: space }),
    });
    const spaceWith = async (requestsPerMinute: number): Promise<string> =>
      (await createSpace(world.service, { org: world.org, limits: { requestsPerMinute } })).spaceId;
    const codesIn = ({ body }: Reply): (string | undefined)[] =>
      body.map(
        ({ result, error }: { result?: { content?: { text: string }[] }; error?: { data?: { code: string } } }) =>
          error?.data?.code ?? JSON.parse(result?.content?.[0]?.text ?? '{}').error?.code,
      );

    it('each is answered by itself, at most 100; nothing in it holds the others', async () => {
      const messages = [callOf('mailbox_list', {}, 'a'), callOf('mailbox_list', { x: 1 }, 'b'), list];
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } };
      const { status, body } = await send([...messages, cancelled]);
      expect(status).to.equal(200);
      expect(body.map(({ id }: { id: unknown }) => id)).to.deep.equal(['a', 'b', 2]);
      expect([body[0].result.isError, body[1].result.isError]).to.deep.equal([false, true]);
      for (const wrong of [[], Array(101).fill(list), [initialize]]) {
        const refused = await send(wrong);
        expect([refused.status, refused.body.error.code]).to.deep.equal([400, -32600]);
        expect(refused.headers.get('RateLimit')).to.be.a('string');
      }
      expect((await send([{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status).to.equal(202);
    });

    it('is refused from 2025-06-18 on, and for a version that nobody knows', async () => {
      for (const version of [undefined, '2025-03-26', '2024-11-05'])
        expect((await of(world.spaceId, version).send([list])).status, version).to.equal(200);
      for (const version of ['2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01', 'x']) {
        const { status, body } = await of(world.spaceId, version).send([list, callOf('mailbox_list')]);
        expect([status, body.jsonrpc, body.id, body.error.code], version).to.deep.equal([400, '2.0', null, -32600]);
        expect(body.error.message).to.contain(version);
      }
    });

    it('each counts as what it is, and is refused by the rates as by itself', async () => {
      // Rates are counted by the minute.
      const restMs = 60_000 - (Date.now() % 60_000);
      if (restMs < 5_000) await sleep(restMs);
      const { send: sendTo } = of(await spaceWith(100));
      const first = left(await sendTo([list]));
      expect(first - left(await sendTo([list, callOf('mailbox_list'), initialized, callOf('none')]))).to.equal(4);
      expect(first - left(await sendTo(Array(3).fill(list))), 'not one for all').to.equal(7);
      expect(first - left(await of(await spaceWith(100), '2025-11-25').send([list, list]))).to.equal(0);

      const calls = await of(await spaceWith(3)).send([1, 2, 3, 4].map((id) => callOf('budget_list', {}, id)));
      expect(codesIn(calls).filter(Boolean)).to.deep.equal(['RATE_LIMITED']);
      const { send: sendMore } = of(await spaceWith(2));
      const lists = await sendMore([1, 2, 3].map((id) => ({ ...list, method: 'prompts/list', id })));
      expect(codesIn(lists).filter(Boolean)).to.deep.equal(['RATE_LIMITED']);
      const refused = lists.body.find(({ error }: { error?: object }) => error);
      expect(refused.error.code).to.equal(-32000);
      expect(refused.error.data.retryAfter).to.be.within(1, 60);
      const prompts = { ...list, method: 'prompts/list' };
      expect(codeOf(await sendMore([prompts, callOf('budget_list')]))).to.equal('429 RATE_LIMITED');
      const renew = callOf('message_renew', { messageId: randomUUID(), token: 'x' });
      expect(codesIn(await sendMore([prompts, renew]))).to.have.members(['RATE_LIMITED', 'MESSAGE_NOT_FOUND']);
    });
  });

  it('acknowledges a subscription, and ends it: nothing that may be subscribed to ever changes', async () => {
    const { client } = await Agent.connect(world, { version: '2026-07-28' });
    const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['muster://guide'] });
    expect(subscription.honoredFilter).to.deep.equal({});
    expect(await subscription.closed).to.equal('graceful');
    await client.close();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { _meta: meta, notifications: { toolsListChanged: true } };
    const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params };
    const version = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' };
    const { status, headers, text } = await send(listen, version);
    expect([status, headers.get('Content-Type')]).to.deep.equal([200, 'text/event-stream']);
    expect([headers.get('Cache-Control'), headers.get('X-Accel-Buffering')]).to.deep.equal(['no-store', 'no']);
    const frames = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(frames.map(({ method, id }) => method ?? id)).to.deep.equal(['notifications/subscriptions/acknowledged', 1]);
    const wrong = await send({ ...listen, params: { _meta: meta } }, version);
    expect(wrong.body.error.code).to.equal(-32602);
  });
});
