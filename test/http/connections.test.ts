import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
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
