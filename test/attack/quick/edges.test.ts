import { randomUUID } from 'node:crypto';
import { createConnection } from 'node:net';
import { expect } from 'chai';
import { rawRequest } from '../../http/client.ts';
import { World } from '../../support/world.ts';

/** The answers on one connection, separated as a proxy would. */
function answersOf(text: string): { status: number; body: string }[] {
  const found: { status: number; body: string }[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    found.push({ status: Number(head.split(' ')[1]), body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return found;
}

describe('Edge cases of HTTP', () => {
  let world: World;
  let authHeaders: string;
  before(async () => {
    world = await World.create();
    authHeaders = `Host: x\r\nAuthorization: Bearer ${world.apiKey}`;
  });

  /** The statuses of all answers; each failure must have the error envelope. */
  async function statuses(bytes: string): Promise<string> {
    const answers = answersOf(await rawRequest(world, bytes));
    for (const { status, body } of answers) {
      if (status >= 400) expect(Object.keys(JSON.parse(body).error).join(), bytes).to.equal('code,message,requestId');
    }
    return answers.map(({ status }) => status).join();
  }
  const list = (): string => `/v1/spaces/${world.spaceId}/mailboxes`;
  const last = '\r\nConnection: close\r\n\r\n';
  const post = (headers: string, body: string): string =>
    `POST ${list()} HTTP/1.1\r\n${authHeaders}\r\nContent-Type: application/json\r\nIdempotency-Key: ${randomUUID()}\r\n${headers}\r\n\r\n${body}`;
  const names = async (): Promise<string[]> =>
    (await world.get('/mailboxes')).body.mailboxes.map(({ name }: { name: string }) => name);

  it('requests refused by Node itself get the error envelope, too', async () => {
    const refused: [string, string][] = [
      [`GET ${list()} HTTP/1.1\r\n\r\n`, '400'],
      ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', '400'],
      [`GET ${list()} HTTP/1.1\r\n${authHeaders}\r\nHost: another${last}`, '400'],
      [`GET ${list()} HTTP/9.9\r\n${authHeaders}${last}`, '400'],
      [`GET ${list()} HTTP/1.1\r\n${authHeaders}\r\nX: \0${last}`, '400'],
      [`GET ${list()} HTTP/1.1\r\n${authHeaders}\r\n folded: x${last}`, '400'],
      [`GET ${list()} HTTP/1.1\r\n${authHeaders}\r\nX : x${last}`, '400'],
      [`GET ${list()} HTTP/1.1\nHost: x\n\n`, '400'],
      [`GET ${list()} HTTP/1.1\r\n${authHeaders}\r\n${'x: y\r\n'.repeat(10_000)}\r\n`, '431'],
      [`GET ${list()} HTTP/1.1\r\n${authHeaders}\r\nX: ${'x'.repeat(65_536)}${last}`, '431'],
      [`GET ${list()}?cursor=${'x'.repeat(65_536)} HTTP/1.1\r\n${authHeaders}${last}`, '431'],
      ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '400'],
      ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
    ];
    for (const [bytes, expected] of refused) expect(await statuses(bytes), bytes.slice(0, 200)).to.equal(expected);
  });

  it('targets of every form lead to the same routes, or to none', async () => {
    const id = world.spaceId;
    const targets: [string, string][] = [
      [`http://elsewhere${list()}`, '200'],
      [`http://user:pw@elsewhere:1${list()}`, '200'],
      [`//${list()}`, '404'],
      [`//elsewhere${list()}`, '404'],
      ['http://[::1/', '404'],
      ['http://a:b:c/', '404'],
      ['http://a:99999999/', '404'],
      ['http:///', '404'],
      ['*', '404'],
      ['/.', '404'],
      ['/..', '404'],
      [`/v1/spaces/${id}/../${id}/mailboxes`, '404'],
      [`/v1/spaces/%2e%2e/${id}/mailboxes`, '404'],
      [`/v1/spaces/${id}%2Fmailboxes`, '404'],
      [`/v1/spaces/${id}/mailboxes%00`, '404'],
      [`/v1/spaces/${id}/mailboxes;x=1`, '404'],
      [`/v1/spaces/${id}/mailboxes%3Flimit=1`, '404'],
      [`/v1/spaces/${id}\\mailboxes`, '404'],
      [`/v1/spaces/${id}/mailboxes#x`, '200'],
      [`/healthz?${'x'.repeat(8000)}`, '200'],
    ];
    for (const [target, expected] of targets) {
      expect(await statuses(`GET ${target} HTTP/1.1\r\n${authHeaders}${last}`), target).to.equal(expected);
    }
  });

  it('no header changes the method, the path or the protocol', async () => {
    for (const header of [
      'X-HTTP-Method-Override: DELETE',
      'X-HTTP-Method: PUT',
      'X-Original-URL: /nothing',
      'X-Rewrite-URL: /nothing',
      'X-Forwarded-Host: evil',
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      'Expect: anything',
    ])
      expect(await statuses(`GET ${list()} HTTP/1.1\r\n${authHeaders}\r\n${header}${last}`), header).to.match(/^200/);
    for (const method of ['TRACE', 'OPTIONS', 'PROPFIND', 'PURGE', 'QUERY', 'LINK'])
      expect(await statuses(`${method} ${list()} HTTP/1.1\r\n${authHeaders}${last}`), method).to.match(/^40[05]$/);
    expect(await statuses(`GET ${list()} HTTP/1.0\r\nAuthorization: Bearer ${world.apiKey}\r\n\r\n`)).to.equal('200');
  });

  it('bodies with ambiguous lengths are refused, and nothing after them is read', async () => {
    const inner = `GET ${list()} HTTP/1.1\r\n${authHeaders}\r\n\r\n`;
    const body = '{"name":"smuggled"}';
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (const headers of [
      `Content-Length: 4\r\nTransfer-Encoding: chunked`,
      `Transfer-Encoding: chunked\r\nContent-Length: 4`,
      'Content-Length: 4\r\nContent-Length: 19',
      'Content-Length: 4, 19',
      'Content-Length: +19',
      'Content-Length: -1',
      'Content-Length: 1e1',
      'Content-Length: 99999999999999999999',
      'Transfer-Encoding: chunked, identity',
      'Transfer-Encoding: xchunked',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
      'Transfer-Encoding:\x0bchunked',
    ])
      expect(await statuses(post(headers, chunked + inner)), headers).to.equal('400');
    for (const broken of ['zz\r\n', '-1\r\n', 'ffffffffffffffffff\r\n', '5\r\nhelloXX0\r\n', '0x13\r\n'])
      expect(await statuses(post('Transfer-Encoding: chunked', broken + inner)), broken).to.equal('400');
    expect(await names()).to.deep.equal([]);
  });

  it('pipelined requests are answered in order; nothing after a bad one is read', async () => {
    const get = (path: string, end = '') => `GET ${path} HTTP/1.1\r\n${authHeaders}\r\n${end}\r\n`;
    const many = get('/healthz').repeat(12) + get('/nothing') + get(list(), 'Connection: close\r\n');
    expect(await statuses(many)).to.equal(`${'200,'.repeat(12)}404,200`);
    const refused = `${'{'.repeat(300 * 1024)}`;
    expect(await statuses(post(`Content-Length: ${refused.length}`, refused + get(list())))).to.equal('413');
  });

  it('pipelined requests of more than one read are all answered, in order', async () => {
    const created = Array.from({ length: 100 }, (_, n) => `{"name":"ahead ${n}"}`.padEnd(2000));
    const bytes = created.map((body, n) =>
      post(`Content-Length: ${body.length}${n === 99 ? '\r\nConnection: close' : ''}`, body),
    );
    const answers = answersOf(await rawRequest(world, bytes.join('')));
    expect(answers.map(({ status, body }) => [status, JSON.parse(body).name])).to.deep.equal(
      created.map((body) => [201, JSON.parse(body).name]),
    );
  });

  it('data after a request in progress is not answered in its place', async () => {
    const watch = `GET /v1/spaces/${world.spaceId}/watch?cursor=latest&waitSeconds=30 HTTP/1.1\r\n${authHeaders}\r\n`;
    expect(await rawRequest(world, `${watch}\r\nGARBAGE\r\n\r\n`)).to.equal('');
    const { hostname, port } = new URL(world.url);
    const text = await new Promise<string>((resolve, reject) => {
      let answer = '';
      const socket = createConnection(Number(port), hostname, () =>
        socket.write(`${watch}Accept: text/event-stream\r\n\r\n`),
      );
      socket.on('error', reject).on('close', () => resolve(answer));
      socket.setEncoding('utf8').on('data', (more) => {
        answer += more;
        if (answer.includes('heartbeat')) socket.write('GARBAGE\r\n\r\n');
      });
    });
    expect(text)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.not.match(/HTTP\/1\.1 400|VALIDATION/);
  });

  it('an announced body that never comes, or ends early, changes nothing', async () => {
    const { hostname, port } = new URL(world.url);
    for (const headers of ['Content-Length: 500', 'Transfer-Encoding: chunked']) {
      await new Promise<void>((resolve, reject) => {
        const socket = createConnection(Number(port), hostname, () => socket.end(post(headers, '{"name":"half"}')));
        socket
          .resume()
          .on('error', reject)
          .on('close', () => resolve());
      });
    }
    expect(await names()).to.not.include('half');
  });
});
