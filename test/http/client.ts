import { createConnection } from 'node:net';
import { expect } from 'chai';
import type { Reply, World } from '../support/world.ts';

/** The error code of an answer, whose envelope must be exact and carry the request's id. */
export function codeOf({ status, body, headers }: Reply): string {
  expect(status, JSON.stringify(body)).to.be.at.least(400);
  expect(Object.keys(body)).to.deep.equal(['error']);
  expect(Object.keys(body.error)).to.deep.equal(['code', 'message', 'requestId']);
  expect(body.error.message).to.be.a('string').that.is.not.equal('');
  expect(body.error.requestId).to.equal(headers.get('X-Request-Id'));
  expect(headers.get('X-API-Version')).to.equal('1');
  expect(headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
  return `${status} ${body.error.code}`;
}

/** Writes exactly these bytes on a connection of its own; resolves with everything that comes back. */
export function rawRequest(world: Pick<World, 'url'>, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(world.url);
  return new Promise((resolve, reject) => {
    const socket = createConnection(Number(port), hostname, () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

/** A request line with this target, as the API key's owner; the connection closes after it. */
export function rawGet(world: World, target: string): Promise<string> {
  const head = [`GET ${target} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${world.apiKey}`, 'Connection: close'];
  return rawRequest(world, `${head.join('\r\n')}\r\n\r\n`);
}
