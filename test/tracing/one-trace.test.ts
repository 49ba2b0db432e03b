import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp.ts';
import { call, Processes } from '../support/processes.ts';
import { someTrace } from '../support/trace.ts';

const program = fileURLToPath(new URL('program.mjs', import.meta.url));
const [server, client, producer, consumer] = [2, 3, 4, 5];

describe('A trace', () => {
  const processes = new Processes();
  let receiver: OtlpReceiver;
  before(async () => {
    receiver = await OtlpReceiver.start();
  });
  afterEach(() => processes.clear());
  after(() => receiver.stop());

  const settings = async (): Promise<Record<string, string>> => ({
    DATA_DIR: await processes.folder(),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    LOG_LEVEL: 'info',
  });

  /** Runs the program; resolves with what it printed. */
  async function run(url: string, { spaceId, apiKey }: { spaceId: string; apiKey: string }) {
    const ACCESS = JSON.stringify({ url, key: apiKey, spaceId });
    const env = { ...process.env, ACCESS, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    endAtExit(child);
    let printed = '';
    for await (const text of child.stdout) printed += text;
    return JSON.parse(printed);
  }

  it('goes from an agent’s send over two attempts to the result that it waited for, and is one', async () => {
    const service = await processes.start(await settings()).ready();
    const { jobs, done, traceId, ended, messages } = await run(service.url, service.access);
    expect(ended).to.include({ state: 'ACKED', attempts: 2, result: 42 });
    const { stderr } = await service.end('SIGTERM');
    const spans = receiver.spans.filter((span) => span.traceId === traceId);
    const one = (name: string, parent?: ReceivedSpan): ReceivedSpan => {
      const found = spans.filter((span) => span.name === name && (!parent || span.parentId === parent.spanId));
      expect(found, `${name} among ${spans.map((span) => span.name).join(', ')}`).to.have.length(1);
      return found[0] as ReceivedSpan;
    };
    const path = '/v1/spaces/:spaceId';

    const agent = one('agent');
    const send = one(`send ${jobs}`, agent);
    expect(send).to.deep.include({ service: 'agent', kind: producer });
    expect(send.attributes).to.include({
      'messaging.system': 'muster',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': jobs,
      'messaging.message.id': ended.id,
    });
    expect(ended.traceparent).to.equal(`00-${traceId}-${send.spanId}-01`);
    const posted = one(`POST ${path}/mailboxes/:mailboxId/messages`, send);
    expect(posted).to.deep.include({ service: 'muster', kind: server });
    expect(posted.attributes).to.include({ 'http.response.status_code': 201 });
    const ran = one('FCALL mailbox/send', posted);
    expect(ran).to.deep.include({ service: 'muster', kind: client });
    expect(ran.attributes).to.include({ 'db.system.name': 'redis', 'db.stored_procedure.name': 'mailbox/send' });

    const attempts = spans.filter(({ name }) => name === `process ${jobs}`);
    for (const attempt of attempts) {
      expect(attempt).to.deep.include({ kind: consumer, parentId: send.spanId, links: [send.spanId] });
      expect(attempt.attributes).to.include({
        'messaging.message.id': ended.id,
        'messaging.operation.type': 'process',
      });
    }
    const numbered = attempts.map(({ attributes, isError }) => [attributes['muster.message.attempt'], isError]);
    expect(numbered.sort()).to.deep.equal([
      [1, true],
      [2, false],
    ]);

    const second = attempts.find(({ isError }) => !isError);
    const complete = one('complete', second);
    one('FCALL mailbox/complete', one(`POST ${path}/messages/:messageId/complete`, complete));
    const inWork = one(`send ${done}`, one('work', second));
    const waited = one('message.view', agent);
    one(`GET ${path}/messages/:messageId`, waited);
    const parents = messages.map(({ traceparent }: { traceparent: string }) => traceparent);
    expect(parents).to.have.members([inWork, complete].map(({ spanId }) => `00-${traceId}-${spanId}-01`));
    const received = one(`recv ${done}`, agent);
    expect(received.links).to.have.members([inWork.spanId, complete.spanId]);
    expect(received.attributes).to.include({ 'messaging.batch.message_count': 2 });

    expect(receiver.requests).to.include('POST /v1/traces application/x-protobuf');
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ofTrace = lines.filter((line) => line.traceId === traceId).map(({ route }) => route);
    expect(ofTrace).to.include.members([
      `${path}/mailboxes/:mailboxId/messages`,
      `${path}/messages/:messageId/complete`,
    ]);
  });

  it('begins with the firing of a schedule, whose span the service exports', async () => {
    const service = await processes.start(await settings()).ready();
    const post = async (below: string, body: object) => (await call(service.url, service.access, below, body)).body;
    const { id: mailboxId } = await post('/mailboxes', { name: 'ticks' });
    const scopeId = '0190a1b2-0000-7000-8000-000000000001';
    const every = { name: 'tick', mailboxId, scopeId, payload: 1, everySeconds: 5 };
    await post('/schedules', every);
    const recv = { scopeId, holder: 'h', holderSession: 's', waitSeconds: 30 };
    const { traceparent } = await post(`/mailboxes/${mailboxId}/recv`, recv);
    const [, traceId, spanId] = traceparent.split('-');
    const begun = await receiver.find((span) => span.spanId === spanId);
    expect(begun).to.deep.include({ traceId, name: 'schedule.fire', kind: producer, parentId: '' });
    await receiver.find((span) => span.name === 'FCALL schedule/fire' && span.parentId === spanId);
  });

  it('a trace that a message of MCP names goes on in the service, linked to its request', async () => {
    const service = await processes.start(await settings()).ready();
    const { spaceId, apiKey } = service.access;
    const { id: mailboxId } = (await call(service.url, service.access, '/mailboxes', { name: 'jobs' })).body;
    const traceparent = someTrace();
    const [, traceId, spanId] = traceparent.split('-');
    const fields = { mailboxId, scopeId: '0190a1b2-0000-7000-8000-000000000001', payload: 1 };
    const params = { name: 'message_send', arguments: fields, _meta: { traceparent } };
    const answer = await fetch(`${service.url}/v1/spaces/${spaceId}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${apiKey}`,
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    expect(answer.status).to.equal(200);
    const tool = await receiver.find((span) => span.name === 'tools/call message_send');
    expect(tool).to.deep.include({ traceId, parentId: spanId, kind: server });
    const ran = await receiver.find((span) => span.parentId === tool.spanId);
    expect(ran).to.deep.include({ traceId, name: 'FCALL mailbox/send' });
    const request = await receiver.find((span) => span.name === 'POST /v1/spaces/:spaceId/mcp');
    expect(tool.links).to.deep.equal([request.spanId]);
  });

  it('the trace of a refusal has its code; a receiver that is away costs a line of the log', async () => {
    const service = await processes.start(await settings()).ready();
    const missing = await call(service.url, service.access, '/messages/0190a1b2-0000-7000-8000-000000000001');
    expect(missing.status).to.equal(404);
    const span = await receiver.find(({ attributes }) => attributes['error.type'] === 'MESSAGE_NOT_FOUND');
    expect(span).to.include({ isError: false });
    const ran = await receiver.find(({ parentId }) => parentId === span.spanId);
    expect(ran.attributes['db.response.status_code']).to.equal('MESSAGE_NOT_FOUND');

    const away = await processes
      .start({ ...(await settings()), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
      .ready();
    const { status } = await call(away.url, away.access, '/census');
    expect(status).to.equal(200);
    const ended = await away.end('SIGTERM');
    expect(ended.status).to.equal(0);
    expect(ended.stderr).to.include('spans could not be exported');
  });
});
