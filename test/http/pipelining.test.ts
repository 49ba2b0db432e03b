import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createConnection, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { inTurn } from '../../src/doors/http/pipelining.ts';

/** Some 1 MB, each with a body, which Node reads by resuming the connection. */
const requests = 4_000;
const path = (n: number) => `/${n}?${'x'.repeat(200)}`;
const request = (n: number) => `POST ${path(n)} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;

describe('Pipelined requests', () => {
  it('at most 16 run at a time, the rest is not read meanwhile, and all are answered in order', async () => {
    const begun: [number, ServerResponse][] = [];
    const server = createServer(
      inTurn((incoming, response) => {
        incoming.resume();
        begun.push([Number(/^\/(\d+)/.exec(incoming.url ?? '')?.[1]), response]);
      }),
    ).listen(0, '127.0.0.1');
    const connected = once(server, 'connection');
    await once(server, 'listening');
    const client = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(Array.from({ length: requests }, (_, n) => request(n)).join(''));
    const [socket] = (await connected) as [Socket];
    while (begun.length < 16) await turn();
    // A connection delivers up to 64 KiB per turn.
    for (let turns = 0; turns < 100; turns++) await turn();
    expect(begun.length).to.equal(16);
    expect(socket.bytesRead).to.be.below(256 * 1024);

    let text = '';
    client.setEncoding('latin1').on('data', (piece) => {
      text += piece;
    });
    let maxRunning = 0;
    for (let answered = 0; answered < requests; ) {
      maxRunning = Math.max(maxRunning, begun.length);
      // Answers of later requests may be ready first.
      for (const [n, response] of begun.splice(0).reverse()) {
        response.end(`answer ${n};`);
        answered++;
      }
      await turn();
    }
    while (!text.includes(`answer ${requests - 1};`)) await once(client, 'data');
    expect(maxRunning).to.equal(16);
    const order = [...text.matchAll(/answer (\d+);/g)].map(([, n]) => Number(n));
    expect(order).to.deep.equal(Array.from({ length: requests }, (_, n) => n));
    client.destroy();
    server.close();
  });
});
