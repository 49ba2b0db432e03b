import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { redisUrl } from '../support/store.ts';
import { someTrace } from '../support/trace.ts';
import { World } from '../support/world.ts';

interface Line {
  readonly level: number;
  readonly method?: string;
  readonly route?: string;
  readonly [name: string]: unknown;
}

const [debug, info] = [20, 30];

describe('The access log', () => {
  const lines: Line[] = [];
  let service: MusterService;
  let world: World;

  before(async () => {
    const log = pino({ level: 'debug', base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
    service = await startService({ redisUrl: await redisUrl(), role: 'api', host: '127.0.0.1', port: 0, log });
    world = await World.create({ on: service });
  });
  after(() => service.stop());
  beforeEach(() => lines.splice(0));

  const requests = () => lines.filter(({ method }) => method !== undefined);

  it('has the ids in the path, in lower case', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    await world.get(`/mailboxes/${id.toUpperCase()}/messages`);
    const [created, listed] = requests();
    expect(created).to.include({ level: info, route: '/v1/spaces/:spaceId/mailboxes', spaceId: world.spaceId });
    expect(created).to.not.have.property('mailboxId');
    expect(listed).to.include({ spaceId: world.spaceId, mailboxId: id, status: 200 });
  });

  it('has the id of the trace that a request belongs to, over MCP that of the message', async () => {
    const [ofHeader, ofMessage] = [someTrace(), someTrace()];
    const id = (traceparent: string): string => traceparent.slice(3, 35);
    await world.call('GET', '/census', undefined, { traceparent: ofHeader });
    await world.call('GET', '/census', undefined, { traceparent: `${ofHeader}-01` });
    const call = { name: 'mailbox_list', arguments: {}, _meta: { traceparent: ofMessage } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
    const accept = { Accept: 'application/json, text/event-stream', traceparent: ofHeader };
    await world.call('POST', '/mcp', message, accept);
    const [traced, malformed, tool] = requests();
    expect(traced).to.include({ status: 200, traceId: id(ofHeader) });
    expect(malformed).to.not.have.property('traceId');
    expect(tool).to.include({ status: 200, traceId: id(ofMessage) });
  });

  it('has them for refused requests too, but nothing else of a path', async () => {
    const mailboxId = randomUUID();
    await world.send('GET', `/v1/spaces/${world.spaceId}/mailboxes/${mailboxId}/messages`);
    await world.get('/mailboxes/secret-text/messages');
    const [refused, malformed] = requests();
    expect(refused).to.include({ spaceId: world.spaceId, mailboxId, code: 'UNAUTHENTICATED' });
    expect(malformed).to.include({ spaceId: world.spaceId, code: 'VALIDATION_FAILED' });
    expect(JSON.stringify(lines)).to.not.contain('secret-text');
  });

  it('never has the token of a link to a page', async () => {
    const { answerUrl } = await world.mustPost('/questions', { scopeId: randomUUID(), question: 1 });
    for (const path of [answerUrl, `${answerUrl}x`, `${answerUrl}?a=${answerUrl}`, `${answerUrl}/`])
      for (const method of ['GET', 'POST', 'PUT']) await (await fetch(path, { method })).text();
    expect(
      new Set(
        requests()
          .slice(1)
          .map(({ route }) => route),
      ),
    ).to.deep.equal(new Set(['/answer/:token']));
    expect(JSON.stringify(lines)).to.not.contain(answerUrl.split('_').at(-1));
  });

  it('has a line for each request with its route: probes at debug, everything else at info', async () => {
    const paths = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/console', '/console/main.js'];
    for (const path of [...paths, '/nothing', '/console/secret']) await (await fetch(service.url + path)).text();
    expect(requests().map(({ method, route, status, level }) => [method, route, status, level])).to.deep.equal([
      ['GET', '/healthz', 200, debug],
      ['GET', '/readyz', 200, debug],
      ['GET', '/metrics', 200, debug],
      ['GET', '/openapi.json', 200, info],
      ['GET', '/console', 200, info],
      ['GET', '/console/:file', 200, info],
      ['GET', undefined, 404, info],
      ['GET', undefined, 404, info],
    ]);
    expect(requests().map(({ path }) => path)).to.deep.equal([
      ...paths.map(() => undefined),
      '/nothing',
      '/console/secret',
    ]);
  });

  it('has an unknown path, cut where it may have a secret, and goes on', async () => {
    const long = 'x'.repeat(37);
    for (const path of [`/v1/space/${world.spaceId}/"jobs"`, `/v1/${long}/keys`, `/a${'/b'.repeat(50)}`])
      await (await fetch(service.url + path)).text();
    expect(requests().map(({ path }) => path)).to.deep.equal([
      `/v1/space/${world.spaceId}/%22jobs%22`,
      '/v1/…/keys',
      `/a${'/b'.repeat(9)}`,
    ]);
  });
});
