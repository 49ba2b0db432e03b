import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createMuster, MusterError, type MusterOptions } from '../../src/clients/typescript/index.ts';
import { hangsOn } from '../support/hangs-on.ts';
import { expectBefore } from '../support/order.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

/** What stands between client and service does with a request; true: it has dealt with it. */
type Mishap = (response: ServerResponse, forward: () => Promise<void>) => Promise<void> | void;

describe('retries of the typed client', () => {
  let world: World;
  let server: Server;
  let url: string;
  let mishaps: Mishap[] = [];
  let seen: { method: string | undefined; key: string | undefined }[] = [];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    seen.push({ method: request.method, key: request.headers['idempotency-key'] as string | undefined });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    const method = request.method ?? '';
    const call = () =>
      fetch(`${world.url}${request.url}`, {
        method,
        headers,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
    response.setHeader('X-Request-Id', headers['x-request-id'] ?? '');
    const mishap = mishaps.shift();
    if (mishap) return mishap(response, async () => void (await (await call()).text()));
    const answer = await call();
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
  }

  before(async () => {
    world = await World.create();
    server = createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    mishaps = [];
    seen = [];
  });

  const client = (more: Partial<MusterOptions> = {}) =>
    createMuster({ url, key: world.apiKey, spaceId: world.spaceId, ...more });
  const failure = (call: Promise<unknown>): Promise<MusterError> =>
    call.then(
      () => expect.fail('it succeeded'),
      (error) => error,
    );
  const unavailable: Mishap = (response) =>
    void response.writeHead(503, { 'Retry-After': '0' }).end('{"error":{"code":"STORE_UNAVAILABLE","message":"away"}}');
  const breakOff: Mishap = (response) => void response.destroy();
  const loseAnswer: Mishap = async (response, forward) => {
    await forward();
    response.destroy();
  };

  it('a call whose answer is lost is made again with the same Idempotency-Key, and happens once', async () => {
    mishaps = [loseAnswer, unavailable, breakOff];
    const { id } = await client().mailbox.create({ name: 'once' });
    expect(seen.length).to.equal(4);
    expect(new Set(seen.map(({ key }) => key)).size).to.equal(1);
    const { mailboxes } = await client().mailbox.list();
    expect(mailboxes.map((mailbox) => mailbox.id)).to.deep.equal([id]);
  });

  it('every call has a key of its own, and a given key is used', async () => {
    await client().mailbox.create({ name: 'a' });
    await client().mailbox.create({ name: 'b' });
    const first = await client().mailbox.create({ name: 'c' }, { idempotencyKey: 'mine' });
    const second = await client().mailbox.create({ name: 'c' }, { idempotencyKey: 'mine' });
    expect(second.id).to.equal(first.id);
    expect(new Set(seen.map(({ key }) => key)).size).to.equal(3);
    expect(seen[2]?.key).to.equal('mine');
  });

  it('a key that is a function is asked for each attempt, and by the journal', async () => {
    const keys: string[] = [];
    const key = async () => {
      keys.push(keys.length === 0 ? 'stale' : world.apiKey);
      return keys.at(-1) ?? '';
    };
    mishaps = [unavailable];
    await client({ key }).mailbox.create({ name: 'tokens' });
    expect(keys).to.deep.equal(['stale', world.apiKey]);
    for await (const event of createMuster({ url: world.url, key, spaceId: world.spaceId }).events()) {
      expect(event.type).to.be.a('string');
      break;
    }
    expect(keys).to.have.length(3);
    const error = await failure(client({ key: () => Promise.reject(new Error('no token today')) }).limits.get());
    expect([error.code, error.message]).to.deep.equal(['UNREACHABLE', 'the key function threw Error: no token today']);
  });

  it('the tries are bounded, and the last answer is thrown', async () => {
    mishaps = [
      (response) => void response.writeHead(503, { 'Retry-After': '3' }).end('{"error":{"code":"X","message":"x"}}'),
    ];
    const patient = client().limits.get();
    await until(() => seen.length === 1);
    seen = [];
    mishaps = Array.from({ length: 9 }, () => unavailable);
    await expectBefore(failure(client({ attempts: 4 }).limits.get()), patient, 'told to come back soon, it does');
    expect(seen.length).to.equal(4);
    mishaps = [];
    await patient;
    mishaps = Array.from({ length: 9 }, () => unavailable);
    seen = [];
    const error = await failure(client({ attempts: 3 }).limits.get());
    expect(seen.length).to.equal(3);
    expect([error.code, error.status, error.message]).to.deep.equal(['STORE_UNAVAILABLE', 503, 'away']);
    mishaps = [breakOff, breakOff, breakOff];
    const lost = performance.now();
    const none = await failure(client().limits.get({}, { attempts: 3 }));
    expect(performance.now() - lost).to.be.at.least(290);
    expect(none.message).to.match(/no answer: (?!fetch failed)./);
    expect([none.code, none.status, none.requestId]).to.deep.equal(['UNREACHABLE', 0, null]);
    expect(none.cause).to.be.instanceOf(Error);
  });

  it('Retry-After is respected up to a minute; without one that can be read it is a second', async () => {
    const retryAfter = (status: number, after: string): Mishap[] => [
      (response) =>
        void response.writeHead(status, { 'Retry-After': after }).end('{"error":{"code":"X","message":"x"}}'),
    ];
    mishaps = retryAfter(429, '0');
    await client().limits.get();
    mishaps = retryAfter(503, '61');
    expect((await failure(client().limits.get())).retryAfterSeconds).to.equal(61);
    mishaps = retryAfter(503, 'soon');
    const begun = performance.now();
    await client().limits.get();
    expect(performance.now() - begun).to.be.at.least(990);
    expect(seen.length).to.equal(5);
  });

  it('a call that wants something now or not at all is answered at once', async () => {
    const busy = await World.create({ figures: { agents: '1' } });
    const muster = client({ key: busy.apiKey, spaceId: busy.spaceId });
    const [scopeId, holder] = [busy.spaceId, 'agent'];
    const { id: poolId } = await muster.pool.create({ name: 'locks', units: 1 });
    const { id: free } = await muster.pool.create({ name: 'free', units: 1 });
    const { id: mailboxId } = await muster.mailbox.create({ name: 'jobs' });
    await muster.message.send({ mailboxId, scopeId, payload: 1 });
    const { id: allowanceId } = await muster.allowance.create({ name: 'api', unitsLimit: 1, windowSeconds: 60 });
    const { id: cooling } = await muster.allowance.create({ name: 'cooling', unitsLimit: 1, windowSeconds: 60 });
    await muster.allowance.cooldown({ allowanceId: cooling, seconds: 5, reason: 'busy' });
    await muster.allowance.consume({ allowanceId, scopeId, units: 1, holder });
    await muster.pool.acquire({ poolId, scopeId, holder, holderSession: 'a' });
    const asked = { scopeId, holder, holderSession: 'b', ttlSeconds: 0 };
    const calls: [string, () => Promise<unknown>][] = [
      ['POOL_EXHAUSTED', () => muster.pool.acquire({ ...asked, poolId })],
      ['POOL_EXHAUSTED', () => muster.pool({ poolId }).hold(() => 1, { ttlSeconds: 0 })],
      ['CONCURRENCY_LIMITED', () => muster.pool.acquire({ ...asked, poolId: free })],
      ['CONCURRENCY_LIMITED', () => muster.message.recv({ mailboxId, scopeId, holder, holderSession: 'b' })],
      ['ALLOWANCE_EXHAUSTED', () => muster.allowance.consume({ allowanceId, scopeId, units: 1, holder })],
      ['ALLOWANCE_COOLING_DOWN', () => muster.allowance.consume({ allowanceId: cooling, scopeId, units: 1, holder })],
      ['POOL_EXHAUSTED', () => muster.atomic((t) => t.pool.acquire({ ...asked, poolId }))],
    ];
    for (const [code, call] of calls) {
      seen = [];
      const refused = await failure(call());
      expect([refused.code, refused.status, seen.length]).to.deep.equal([code, 429, 1]);
    }
  });

  it('no other failure is tried again', async () => {
    const away = () => Promise.reject(new Error('away', { cause: new Error() }));
    expect((await failure(client({ fetch: away, attempts: 1 }).limits.get())).message).to.match(/no answer: away$/);
    const refused = await failure(client({ key: 'mk_x_y' }).limits.get());
    expect([refused.code, refused.status, seen.length]).to.deep.equal(['INVALID_API_KEY', 401, 1]);
  });

  it('a signal ends a call, also between its tries, with its own reason', async () => {
    const stop = new AbortController();
    const why = new Error('enough');
    mishaps = [
      (response) => {
        response.writeHead(503, { 'Retry-After': '30' }).end('{}');
        setImmediate(() => stop.abort(why));
      },
    ];
    expect(await failure(client().limits.get({}, { signal: stop.signal }))).to.equal(why);
    expect(await failure(client().limits.get({}, { signal: stop.signal, attempts: 1 }))).to.equal(why);
    expect(seen.length).to.equal(1);
    const later = new AbortController();
    const busy = async () => {
      setTimeout(() => later.abort(why), 20);
      return new Response('{}', { status: 503, headers: { 'Retry-After': '60' } });
    };
    expect(await failure(client({ fetch: busy }).limits.get({}, { signal: later.signal }))).to.equal(why);
  });

  it('a signal that outlives its calls is left as it was', async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const signals: AbortSignal[] = [];
    const tried: typeof fetch = (to, request) => {
      if (request?.signal) signals.push(request.signal);
      return fetch(to, request);
    };
    mishaps = [unavailable];
    await client().limits.get({}, { signal });
    // One listener stands for all calls, however many are made, and are under way at once.
    const ofOne = hangsOn(signal);
    const many = Array.from({ length: 20 }, () => client({ fetch: tried }).limits.get({}, { signal }));
    expect(getEventListeners(signal, 'abort').length).to.equal(1);
    await Promise.all(many);
    expect(hangsOn(signal)).to.equal(ofOne);
    stop.abort();
    expect(signals.filter((one) => one.aborted)).to.deep.equal([]);
  });

  it('a call goes where its arguments say, without what is not given; it needs url, key and spaceId', async () => {
    const requests: [url: string, body: unknown][] = [];
    const recording: typeof fetch = async (to, request) => {
      requests.push([String(to), request?.body]);
      return new Response('{}', {
        headers: { 'X-Request-Id': new Headers(request?.headers).get('X-Request-Id') ?? '' },
      });
    };
    const to = client({ url: 'http://h//', spaceId: 'a/b', fetch: recording });
    const some = { mailboxId: '../c', state: 'READY', limit: undefined, cursor: null } as unknown;
    await to.message.list(some as Parameters<typeof to.message.list>[0]);
    await to.destination.delete({ destinationId: 'd' });
    const space = 'http://h/v1/spaces/a%2Fb';
    expect(requests).to.deep.equal([
      [`${space}/mailboxes/..%2Fc/messages?state=READY`, undefined],
      [`${space}/destinations/d`, undefined],
    ]);
    for (const missing of ['url', 'key', 'spaceId'])
      expect(await failure(client({ [missing]: undefined }).limits.get())).to.be.instanceOf(TypeError);
  });

  it('a try ends when nothing comes for timeoutSeconds, and not at once when that is long', async () => {
    mishaps = [() => undefined];
    const error = await failure(client({ timeoutSeconds: 0.05, attempts: 1 }).limits.get());
    expect([error.code, (error.cause as Error).name]).to.deep.equal(['UNREACHABLE', 'TimeoutError']);
    await client({ timeoutSeconds: 1e9, attempts: 1 }).limits.get();
  });

  it('a try ends with its time though its answer drips, and an answer without end is refused', async () => {
    const body = (bytes: number, everyMs: number) => (response: ServerResponse) => {
      response.writeHead(200);
      const piece = Buffer.alloc(bytes, 'private');
      const timer = setInterval(() => response.write(piece), everyMs);
      response.on('close', () => clearInterval(timer));
    };
    mishaps = [body(1, 5)];
    const dripping = await failure(client({ timeoutSeconds: 0.3, retrySeconds: 0 }).limits.get());
    expect([dripping.code, (dripping.cause as Error).name]).to.deep.equal(['UNREACHABLE', 'TimeoutError']);
    mishaps = [body(1_048_576, 1)];
    const endless = await failure(client({ retrySeconds: 0 }).limits.get());
    expect(endless.code).to.equal('UNREADABLE');
    expect(endless.message).to.match(/: 200, not a Muster response: larger than 32 MiB$/);
  });

  it('an error of the service carries its code, message, status and request id', async () => {
    const direct = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    const error = await failure(direct.mailbox.create({ name: '' }));
    expect(error).to.be.instanceOf(MusterError).and.to.be.instanceOf(Error);
    expect(error.code).to.equal('VALIDATION_FAILED');
    expect(error.message).to.match(/^name must be/);
    expect(error.requestId).to.match(/^[\w-]{36}$/);
    expect(String(error)).to.match(/^MusterError: name must be/);
  });
});
