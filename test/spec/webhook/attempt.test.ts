import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createReceiver, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { attempt } from '../../../src/primitives/webhook/attempt.ts';
import { testMessage } from '../../../src/primitives/webhook/message.ts';
import { resolver } from '../../../src/primitives/webhook/resolve.ts';
import { Targets } from '../../../src/primitives/webhook/target.ts';
import { hangsOn } from '../../support/hangs-on.ts';

/** What a receiver writes when called, and the outcome. */
const answers: readonly [answer: string, responseStatus: string, errorCode: string][] = [
  ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut', '200', ''],
  ['HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n', '202', ''],
  ['HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n', '', 'CONNECTION_FAILED'],
  ['HTTP/1.1 101 Switching Protocols\r\n\r\n', '101', 'STATUS'],
  ['HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n', '302', 'REDIRECTED'],
  ['HTTP/1.1 999 Nine\r\nContent-Length: 0\r\n\r\n', '999', 'STATUS'],
  [`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`, '', 'CONNECTION_FAILED'],
  ['no HTTP at all\r\n\r\n', '', 'CONNECTION_FAILED'],
];

const message = testMessage('e', 'd', 0);
const { signal: never } = new AbortController();
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('a delivery attempt', () => {
  let silent: Server;
  let port: number;
  before(async () => {
    silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    port = (silent.address() as AddressInfo).port;
  });
  after(() => silent.close());
  const to = (host: string, targets: Targets, stop = never) =>
    attempt(targets, { url: `http://${host}:${port}/`, secrets: [], message, at: 0 }, stop);

  it('leaves neither listeners on its long-lived signal nor timers, as a worker makes millions of attempts', async () => {
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const before = hangsOn(signal);
    await Promise.all(Array.from({ length: 20 }, () => to('name.test', new Targets(false, async () => []), signal)));
    expect(hangsOn(signal)).to.equal(before);
    expect(timers()).to.be.below(20);
    process.off('warning', warned);
    expect(warnings).to.deep.equal([]);
  });

  it('is not made to a private address, even if the destination was accepted before', async () => {
    for (const host of ['127.0.0.1', '[::1]', '169.254.169.254'])
      expect((await to(host, new Targets(false))).errorCode, host).to.equal('TARGET_FORBIDDEN');
    const inside = async () => [{ address: '127.0.0.1', family: 4 }];
    expect((await to('name.test', new Targets(false, inside))).errorCode).to.equal('TARGET_FORBIDDEN');
    const nowhere = new Targets(false, async () => []);
    expect((await to('name.test', nowhere)).errorCode).to.equal('NAME_NOT_RESOLVED');
  });

  it('tells a failure of a name server from one of the receiver', async () => {
    const closed = createSocket('udp4').bind(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address();
    await once(closed.close(), 'close');
    const refused = resolver([`127.0.0.1:${port}`]);
    expect((await refused('name.test').catch((error) => error)).code).to.equal('ECONNREFUSED');
    expect((await to('name.test', new Targets(true, refused))).errorCode).to.equal('NAME_NOT_RESOLVED');
    for (const code of ['ESERVFAIL', 'ETIMEOUT', 'EAI_AGAIN']) {
      const failing = new Targets(true, () => Promise.reject(Object.assign(new Error(code), { code })));
      expect((await to('name.test', failing)).errorCode, code).to.equal('NAME_NOT_RESOLVED');
    }
  });

  it('is INTERRUPTED when stopped, also before it began', async () => {
    const stop = new AbortController();
    silent.once('connection', () => stop.abort());
    for (const signal of [stop.signal, AbortSignal.abort()]) {
      const { errorCode, durationMs } = await to('127.0.0.1', new Targets(true), signal);
      expect(errorCode).to.equal('INTERRUPTED');
      expect(durationMs).to.be.below(10_000);
    }
  });

  it('is a TIMEOUT without an answer within 15 s', async () => {
    const { setTimeout: begin } = globalThis;
    globalThis.setTimeout = ((run: () => void, ms: number) => begin(run, ms / 1000)) as typeof setTimeout;
    const outcome = to('localhost', new Targets(true));
    globalThis.setTimeout = begin;
    expect((await outcome).errorCode).to.equal('TIMEOUT');
  });

  it('ends with what the receiver writes, whatever that is; redirects are not followed', async () => {
    for (const [answer, responseStatus, errorCode] of answers) {
      const sockets: Socket[] = [];
      const receiver = createServer((socket) => {
        sockets.push(socket.on('error', () => undefined).once('data', () => socket.write(answer)));
      }).listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      const outcome = await attempt(new Targets(true), { url, secrets: [], message, at: 0 }, never);
      expect([outcome.responseStatus, outcome.errorCode], answer.slice(0, 60)).to.deep.equal([
        responseStatus,
        errorCode,
      ]);
      expect(sockets).to.have.length(1);
      receiver.close();
      sockets[0]?.destroy();
    }
  });

  describe('that reaches its receiver', () => {
    let connections = 0;
    let answer: (response: ServerResponse) => void;
    let heads: string[];
    const receiver = createReceiver((request, response) => {
      const { connection, 'content-length': length } = request.headers;
      heads.push(`${connection} ${length}`);
      answer(response);
    }).on('connection', () => connections++);
    before(async () => void (await once(receiver.listen(0, '127.0.0.1'), 'listening')));
    after(() => {
      receiver.closeAllConnections();
      receiver.close();
    });
    beforeEach(() => {
      connections = 0;
      heads = [];
    });
    const send = (scheme = 'http', at = 0) => {
      const url = `${scheme}://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      return attempt(new Targets(true), { url, secrets: [], message: { ...message, body: '"é"' }, at }, never);
    };

    it('uses a new connection, as the address of a kept-alive one would not be checked again', async () => {
      answer = (response) => response.end();
      for (let i = 0; i < 2; i++) expect((await send()).errorCode).to.equal('');
      expect([connections, heads]).to.deep.equal([2, ['close 4', 'close 4']]);
    });

    it('is followed by a pause as long as Retry-After asks for, a day at most', async () => {
      const at = Date.parse('2026-01-01T00:00:00Z');
      const pauses: [string, number][] = [
        ['7', 7_000],
        ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
        ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
        ['999999999', 86_400_000],
        ['soon', 0],
      ];
      for (const [after, pauseMs] of pauses) {
        answer = (response) => response.writeHead(503, { 'Retry-After': after }).end();
        expect(await send('http', at), after).to.include({ responseStatus: '503', errorCode: 'STATUS', pauseMs });
      }
    });

    it('succeeds by its status, however the body ends; an endless body is not read to the end', async () => {
      answer = (response) => response.writeHead(200, { 'Content-Length': 9 }).write('cut', () => response.destroy());
      expect((await send()).errorCode).to.equal('');
      let written = 0;
      const ended = new Promise<void>((resolve) => {
        answer = (response) => {
          const more = (): void => {
            written += 10_000;
            if (!response.destroyed) response.write('x'.repeat(10_000), () => setImmediate(more));
          };
          response.on('close', resolve);
          more();
        };
      });
      expect((await send()).errorCode).to.equal('');
      await ended;
      // It would go on for two seconds otherwise.
      expect(written).to.be.below(64 * 1024 * 1024);
    });

    it('reports why there was no answer', async () => {
      expect((await send('https')).errorCode).to.equal('TLS_FAILED');
      const refused = { url: 'http://127.0.0.1:1/', secrets: [], message, at: 0 };
      expect((await attempt(new Targets(true), refused, never)).errorCode).to.equal('CONNECTION_REFUSED');
    });
  });
});
