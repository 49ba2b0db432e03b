import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

/** What a receiver writes when called, and the responseStatus and errorCode of the attempt. */
const answers: readonly [string, number | null, string | null][] = [
  ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut', 200, null],
  ['HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n', 202, null],
  ['HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n', null, 'CONNECTION_FAILED'],
  ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 101, 'STATUS'],
  ['HTTP/1.1 999 Nine\r\nContent-Length: 0\r\n\r\n', 999, 'STATUS'],
  [`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`, null, 'CONNECTION_FAILED'],
  ['no HTTP at all\r\n\r\n', null, 'CONNECTION_FAILED'],
];

describe('the answer of a webhook receiver', () => {
  let service: MusterService;
  before(async () => {
    service = await delivering();
  });
  after(() => service.stop());

  for (const [answer, responseStatus, errorCode] of answers) {
    const title = `${JSON.stringify(answer.slice(0, 60))} ends the attempt: ${responseStatus ?? errorCode}`;
    it(title, async () => {
      const receiver = createServer((socket) => {
        socket.on('error', () => undefined).once('data', () => socket.write(answer));
      }).listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const world = await World.create({ on: service });
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      const { id } = await world.made('/destinations', { url });
      const { body } = await world.post(`/destinations/${id}/test`);
      expect(body).to.include({ responseStatus, errorCode, state: errorCode ? 'FAILED' : 'SUCCEEDED' });
      receiver.close();
    });
  }
});
