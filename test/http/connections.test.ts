import { once } from 'node:events';
import { type AddressInfo, createConnection, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createHttpServer } from '../../src/doors/http/server.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { World } from '../support/world.ts';

describe('A connection', () => {
  let world: World;
  before(async () => {
    world = await World.create();
  });
  const connected = async (text: string): Promise<Socket> => {
    const { hostname, port } = new URL(world.url);
    const socket = createConnection(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };

  it('a connection that asks for a proxy is closed after its refusal, and may be reset at any moment', async () => {
    const proxied = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';
    for (let ms = 0; ms < 20; ms++) {
      const socket = await connected(proxied);
      await sleep(ms % 4);
      socket.resetAndDestroy();
    }
    const socket = await connected(proxied);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece;
    });
    // Without an end of ours.
    await once(socket, 'close');
    expect(text).to.match(/^HTTP\/1\.1 400 .*this server is not a proxy/s);
    expect((await fetch(`${world.url}/healthz`)).status).to.equal(200);
  });

  it('a request with two Host headers is refused, in whatever case they are written', async () => {
    for (const second of ['Host: a', 'hOST: b', 'Host:']) {
      const socket = await connected(`GET /healthz HTTP/1.1\r\nHost: a\r\n${second}\r\n\r\n`);
      const [answer] = await once(socket.setEncoding('latin1'), 'data');
      socket.destroy();
      expect(answer).to.match(/^HTTP\/1\.1 400 .*the header Host is there more than once/s);
    }
  });

  it('a connection without a request is closed without an answer, one with a part of a request after a 408', async () => {
    const server = createHttpServer((request, response) => void request.resume().on('end', () => response.end()));
    Object.assign(server, { headersTimeout: 1, requestTimeout: 1 });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const heard = async (text: string): Promise<string> => {
      const socket = createConnection(port, '127.0.0.1');
      socket.write(text);
      let answer = '';
      socket.setEncoding('latin1').on('data', (piece) => {
        answer += piece;
      });
      await once(socket, 'close');
      return answer;
    };
    const body = 'POST /v1 HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nContent-Length: 9\r\n\r\n{';
    const [silent, begun, cut] = await Promise.all([heard(''), heard('GET /healthz HTTP/1.1\r\n'), heard(body)]);
    server.close();
    expect(silent).to.equal('');
    const tooLate = /^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT","message":"the request did not arrive in time/s;
    expect(begun).to.match(tooLate);
    expect(cut)
      .to.match(tooLate)
      .and.match(/X-Request-Id: mine\r\n.*"requestId":"mine"/s);
  });

  it('a lost connection ends all its pipelined requests, so none of them takes a message', async () => {
    const queues = [await Queue.create({}, world), await Queue.create({}, world), await Queue.create({}, world)];
    const requests = queues.map(({ id }) => {
      const body = JSON.stringify({ scopeId: '*', holder: 'gone', holderSession: 's', waitSeconds: 30 });
      const head = `POST /v1/spaces/${world.spaceId}/mailboxes/${id}/recv HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.apiKey}`;
      const more = `Idempotency-Key: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
      return `${head}\r\n${more}\r\n\r\n${body}`;
    });
    const socket = await connected(requests.join(''));
    while (world.service.wake.size < queues.length) await sleep(5);
    socket.destroy();
    while (world.service.wake.size > 0) await sleep(5);
    for (const queue of queues) {
      await queue.sent();
      expect((await queue.record()).counts).to.include({ ready: 1, claimed: 0 });
    }
  });
});
