import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { redisUrl } from '../support/store.ts';
import { World } from '../support/world.ts';

const origin = 'https://app.example.com';
const asked = {
  Origin: origin,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization',
};

describe('Web pages of other origins', () => {
  let service: MusterService;
  let world: World;
  before(async () => {
    const rest = { role: 'api', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) } as const;
    service = await startService({
      ...rest,
      redisUrl: await redisUrl(),
      corsOrigins: [origin, 'http://localhost:5173'],
    });
    world = await World.create({ on: service });
  });
  after(() => service.stop());

  const ask = (path: string, init: RequestInit = {}, url = service.url) => fetch(`${url}${path}`, init);
  const allowed = ({ headers }: Response) => headers.get('Access-Control-Allow-Origin');
  const bearer = () => ({ Authorization: `Bearer ${world.apiKey}`, Origin: origin });
  const inSpace = (path: string) => `/v1/spaces/${world.spaceId}${path}`;

  it('may ask whether they may call, if their origin is listed', async () => {
    const { status, headers } = await ask(inSpace('/mailboxes'), { method: 'OPTIONS', headers: asked });
    expect([status, headers.get('Access-Control-Allow-Origin'), headers.get('Vary')]).to.deep.equal([
      204,
      origin,
      'Origin',
    ]);
    expect(headers.get('Access-Control-Allow-Methods')?.split(', ')).to.include.members([
      'GET',
      'POST',
      'PUT',
      'DELETE',
    ]);
    const names = headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(', ');
    expect(names).to.include.members([
      'authorization',
      'content-type',
      'idempotency-key',
      'last-event-id',
      'mcp-method',
    ]);
    expect(headers.has('Access-Control-Allow-Credentials')).to.equal(false);
  });

  it('may read answers with their headers: of calls, refusals, unknown paths and streams', async () => {
    const answers = [
      [200, await ask(inSpace('/mailboxes'), { headers: bearer() })],
      [401, await ask(inSpace('/mailboxes'), { headers: { Origin: origin } })],
      [404, await ask('/v1/nowhere', { headers: bearer() })],
      [405, await ask(inSpace('/mailboxes'), { method: 'DELETE', headers: bearer() })],
      [
        400,
        await ask(inSpace('/mailboxes'), {
          method: 'POST',
          headers: { ...bearer(), 'Content-Type': 'application/json' },
          body: '{',
        }),
      ],
      [200, await ask('/openapi.json', { headers: { Origin: origin } })],
      [200, await ask('/readyz', { headers: { Origin: origin } })],
    ] as const;
    for (const [status, answer] of answers) {
      expect([answer.status, allowed(answer)], answer.url).to.deep.equal([status, origin]);
      expect(answer.headers.get('Access-Control-Expose-Headers')?.split(', ')).to.include.members([
        'X-Request-Id',
        'Retry-After',
      ]);
      expect(answer.headers.get('Vary')).to.match(/\bOrigin$/);
      await answer.text();
    }
    const gone = new AbortController();
    const headers = { ...bearer(), Accept: 'text/event-stream' };
    const stream = await ask(inSpace('/watch'), { headers, signal: gone.signal });
    expect([allowed(stream), stream.headers.get('Content-Type')]).to.deep.equal([origin, 'text/event-stream']);
    gone.abort();
  });

  it('may call MCP', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const headers = { ...bearer(), 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const call = async (from: string) =>
      ask(inSpace('/mcp'), { method: 'POST', headers: { ...headers, Origin: from }, body });
    const listed = await call(origin);
    expect([listed.status, allowed(listed)]).to.deep.equal([200, origin]);
    const other = await call('https://other.example.com');
    expect([other.status, allowed(other)]).to.deep.equal([403, null]);
  });

  it('get what programs get if their origin is not listed, in any spelling, or nothing is', async () => {
    const others = [
      'https://other.example.com',
      'http://app.example.com',
      `${origin}:8443`,
      `${origin}.evil.example`,
      'null',
    ];
    for (const from of others) {
      const preflight = await ask(inSpace('/mailboxes'), { method: 'OPTIONS', headers: { ...asked, Origin: from } });
      expect([preflight.status, allowed(preflight)], from).to.deep.equal([405, null]);
      const answer = await ask(inSpace('/mailboxes'), { headers: { ...bearer(), Origin: from } });
      expect([answer.status, allowed(answer)], from).to.deep.equal([200, null]);
    }
    const plain = await World.create();
    for (const method of ['OPTIONS', 'GET']) {
      const headers = { ...asked, Authorization: `Bearer ${plain.apiKey}` };
      const answer = await ask(`/v1/spaces/${randomUUID()}/mailboxes`, { method, headers }, plain.url);
      expect([allowed(answer), answer.headers.has('Vary')], method).to.deep.equal([null, false]);
    }
  });
});
