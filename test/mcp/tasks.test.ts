import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { Agent } from './agent.ts';
import { sendAndWait } from './rest.ts';

const extension = 'io.modelcontextprotocol/tasks';
const version = '2026-07-28';

describe('A message as a task of MCP', () => {
  let world: World;
  let mailboxId: string;
  const scopeId = randomUUID();
  const receiver = { scopeId, holder: 'h', holderSession: 's' };

  before(async () => {
    world = await World.create();
    ({ id: mailboxId } = await world.mustPost('/mailboxes', { name: 'tasks' }));
  });

  /** A request of a client that declares the extension, unless `extensions` says otherwise. */
  async function ask(
    method: string,
    params: Record<string, unknown>,
    extensions: object = { [extension]: {} },
    capabilities: object = {},
  ) {
    const response = await fetch(`${world.url}/v1/spaces/${world.spaceId}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${world.apiKey}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': version,
        'Mcp-Method': method,
        ...(method !== 'server/discover' && { 'Mcp-Name': String(params['taskId'] ?? params['name']) }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': version,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { extensions, ...capabilities },
          },
        },
      }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
    return (await response.json()) as any;
  }

  const create = async (workKey: string) => {
    const args = { mailboxId, scopeId, payload: workKey, workKey };
    return (await ask('tools/call', { name: sendAndWait, arguments: args })).result;
  };
  const get = async (taskId: string) => (await ask('tasks/get', { taskId })).result;
  const receive = () => world.mustPost(`/mailboxes/${mailboxId}/recv`, receiver);

  it('is one for a client that declares the extension, at once; for others it is the answer that they wait for', async () => {
    const { result } = await ask('server/discover', {});
    expect(result.capabilities.extensions).to.deep.equal({ [extension]: {} });
    const task = await create('a');
    expect(task).to.include({ resultType: 'task', status: 'working', statusMessage: 'READY', ttlMs: null });
    const { body: message } = await world.get(`/messages/${task.taskId}`);
    expect(message).to.include({ workKey: 'a', createdAt: task.createdAt });
    expect((await create('a')).taskId, 'the same workKey: the same task').to.equal(task.taskId);
    expect(await get(task.taskId)).to.include({ resultType: 'complete', taskId: task.taskId, status: 'working' });
    const args = { mailboxId, scopeId, payload: 1, workKey: 'a', waitSeconds: 0 };
    const plain = await ask('tools/call', { name: sendAndWait, arguments: args }, {});
    expect(plain.result).to.include({ resultType: 'complete', isError: false });
    for (const other of ['2025-11-25', version]) {
      const agent = await Agent.connect(world, { version: other });
      expect(await agent.mustCall(sendAndWait, args)).to.include({ id: task.taskId });
      await agent.close();
    }
    const { token } = await receive();
    await world.mustPost(`/messages/${task.taskId}/complete`, { token, result: { payload: { pages: 3 } } });
    const done = await get(task.taskId);
    expect(done).to.include({ status: 'completed' });
    expect(done.result).to.include({ isError: false });
    expect(done.result.structuredContent.result).to.deep.equal({ pages: 3 });
    expect(JSON.parse(done.result.content[0].text)).to.deep.equal(done.result.structuredContent);
  });

  it('a message that was not done is completed with an error; a cancelled one is cancelled', async () => {
    const { taskId } = await create('b');
    const { token } = await receive();
    await world.mustPost(`/messages/${taskId}/nack`, { token, retry: false, error: 'no paper' });
    const failed = await get(taskId);
    expect(failed).to.include({ status: 'completed', statusMessage: 'REJECTED: no paper' });
    expect([failed.result.isError, 'structuredContent' in failed.result]).to.deep.equal([true, false]);
    expect(JSON.parse(failed.result.content[0].text)).to.include({ id: taskId, state: 'REJECTED' });
    const { taskId: unwanted } = await create('c');
    const cancelled = await ask('tasks/cancel', { taskId: unwanted });
    expect(cancelled.result).to.include({ resultType: 'complete' });
    expect(await get(unwanted)).to.include({ status: 'cancelled', statusMessage: 'CANCELLED: CANCELLED_BY_CALLER' });
    expect((await ask('tasks/cancel', { taskId })).result, 'it has ended').to.include({ resultType: 'complete' });
    expect((await get(taskId)).status).to.equal('completed');
  });

  it('waits for input while a person is asked, and shows the question to a client that has forms', async () => {
    const { taskId } = await create('d');
    const { token } = await receive();
    const question = { token, question: 'Publish?', options: ['yes', 'no'] };
    const { question: asked } = await world.mustPost(`/messages/${taskId}/ask`, question);
    expect(await get(taskId)).to.deep.include({ status: 'input_required', inputRequests: {} });
    const shown = await ask('tasks/get', { taskId }, undefined, { elicitation: {} });
    expect(Object.keys(shown.result.inputRequests)).to.deep.equal([asked.id]);
    const { method, params } = shown.result.inputRequests[asked.id];
    expect([method, params.mode, params.message]).to.deep.equal(['elicitation/create', 'form', 'Publish?']);
    expect(params.requestedSchema.properties.answer.enum).to.deep.equal(['yes', 'no']);

    const update = async (key: string, response: object) =>
      ask('tasks/update', { taskId, inputResponses: { [key]: response } });
    const acknowledged = ({ result }: { result: object }) => {
      expect(result).to.include({ resultType: 'complete' }).and.have.all.keys('resultType', '_meta');
    };
    const state = async () => (await world.get(`/questions/${asked.id}`)).body;
    const accept = (answer: string) => ({ action: 'accept', content: { answer, answeredBy: 'ann' } });
    for (const [key, response] of [
      [asked.id, { action: 'decline' }],
      [randomUUID(), accept('yes')],
    ] as const) {
      acknowledged(await update(key, response));
      expect(await state()).to.include({ state: 'OPEN' });
    }
    const wrong = await update(asked.id, accept('perhaps'));
    expect([wrong.error.code, wrong.error.message]).to.deep.equal([
      -32_602,
      'answer must be one of the options: yes, no',
    ]);
    acknowledged(await update(asked.id, accept('yes')));
    expect(await state()).to.include({ state: 'ANSWERED', answer: 'yes', answeredBy: 'ann' });
    acknowledged(await update(asked.id, accept('no')));
    expect(await state(), 'the first answer stands').to.include({ answer: 'yes' });
    expect(await get(taskId)).to.include({ status: 'working' });
    expect((await receive()).id, 'the message goes on').to.equal(taskId);
  });

  it('is refused by the protocol: unknown tasks, clients without the extension; the tool by its own refusal', async () => {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect((await ask(method, { taskId: randomUUID(), inputResponses: {} })).error.code).to.equal(-32_602);
      expect((await ask(method, { taskId: 'x', inputResponses: {} })).error.code).to.equal(-32_602);
      const { error } = await ask(method, { taskId: randomUUID(), inputResponses: {} }, {});
      expect([error.code, error.data.requiredCapabilities]).to.deep.equal([
        -32_021,
        { extensions: { [extension]: {} } },
      ]);
    }
    const args = { mailboxId: randomUUID(), scopeId, payload: 1 };
    const { result } = await ask('tools/call', { name: sendAndWait, arguments: args });
    expect([result.resultType, result.isError]).to.deep.equal(['complete', true]);
    expect((await ask('tasks/list', {})).error.code).to.equal(-32_601);
  });
});
