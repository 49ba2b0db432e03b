import { expect } from 'chai';
import { codeOf, World } from '../support/world.ts';
import { rawGet, rawRequest } from './client.ts';

describe('Paths and methods', () => {
  let world: World;
  let space: string;
  before(async () => {
    world = await World.create();
    space = `/v1/spaces/${world.spaceId}`;
  });

  it('unknown route: 404 ROUTE_NOT_FOUND, without checking the key', async () => {
    const id = world.spaceId;
    for (const path of [
      '/',
      '/v1',
      '/v1/spaces/',
      `/v1/spaces/${id}`,
      `${space}/`,
      `${space}/nothing`,
      `${space}/Mailboxes`,
      `${space}/mailboxes/`,
      `${space}/mailboxes/${id}/x`,
      `${space}//mailboxes`,
      `/v1//spaces/${id}/mailboxes`,
      `/V1/spaces/${id}/mailboxes`,
      `${space}/mailboxes/${id}/messages/${id}`,
      `${space}/constructor`,
      `${space}/__proto__`,
      '/healthz/',
    ]) {
      expect(codeOf(await world.send('GET', path)), path).to.equal('404 ROUTE_NOT_FOUND');
    }
  });

  it('wrong method: 405 METHOD_NOT_ALLOWED with Allow, without checking the key', async () => {
    const id = world.spaceId;
    const expected: [string, string, string][] = [
      ['PUT', `${space}/mailboxes`, 'GET, HEAD, POST'],
      ['OPTIONS', `${space}/mailboxes`, 'GET, HEAD, POST'],
      ['DELETE', `${space}/limits`, 'GET, HEAD, PUT'],
      ['GET', `${space}/messages/${id}/complete`, 'POST'],
      ['PATCH', `${space}/mailboxes/${id}/recv`, 'POST'],
      ['POST', '/healthz', 'GET, HEAD'],
      ['OPTIONS', '/openapi.json', 'GET, HEAD'],
    ];
    for (const [method, path, allow] of expected) {
      const reply = await world.send(method, path);
      expect(codeOf(reply), `${method} ${path}`).to.equal('405 METHOD_NOT_ALLOWED');
      expect(reply.headers.get('Allow')).to.equal(allow);
    }
  });

  it('HEAD answers as GET does, without the body', async () => {
    const headers = { Authorization: `Bearer ${world.apiKey}` };
    const reply = await world.send('HEAD', `${space}/mailboxes`, undefined, headers);
    expect([reply.status, reply.text]).to.deep.equal([200, '']);
    expect(reply.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
    expect((await world.send('HEAD', `${space}/mailboxes`)).status).to.equal(401);
    expect((await world.send('HEAD', `${space}/mailboxes/x/messages`, undefined, headers)).status).to.equal(400);
    expect((await world.send('HEAD', '/healthz')).text).to.equal('');
  });

  it('percent-encoding reaches no other path: an id that is not a uuid is 400, a bad path 404', async () => {
    const bad = ['..', '%2e%2e', '%00', '%', '%zz', '%ff', '%2F', `${world.spaceId}%00`, '*', ':', '{}', '%7B%7D'];
    for (const part of bad) {
      const [, id] = (await rawGet(world, `/v1/spaces/${part}/mailboxes`)).split(' ');
      expect(id, part).to.equal('400');
      expect(await rawGet(world, `${space}/mailboxes/${part}/messages`), part).to.match(/^HTTP\/1\.1 400 /);
      expect(await rawGet(world, `${space}/${part}`), part).to.match(/^HTTP\/1\.1 404 /);
    }
    expect(await rawGet(world, `${space}/mail%62oxes`)).to.match(/^HTTP\/1\.1 404 /);
    expect(await rawGet(world, `http://elsewhere${space}/mailboxes`)).to.match(/^HTTP\/1\.1 200 /);
    expect(await rawGet(world, '//a@[#')).to.match(/^HTTP\/1\.1 404 /);
  });

  it('an id in percent-encoded form is the same id', async () => {
    const encoded = `%${world.spaceId.charCodeAt(0).toString(16)}${world.spaceId.slice(1)}`;
    expect(await rawGet(world, `/v1/spaces/${encoded}/mailboxes`)).to.match(/^HTTP\/1\.1 200 /);
  });

  it('malformed HTTP gets an error body of the API, too', async () => {
    const answer = await rawRequest(world, 'NOT HTTP\r\n\r\n');
    expect(answer).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(Object.keys(body.error)).to.deep.equal(['code', 'message', 'requestId']);
    const large = `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(await rawRequest(world, large)).to.match(
      /^HTTP\/1\.1 431 .*"code":"HEADERS_TOO_LARGE","message":"the request line/s,
    );
  });

  it('a refusal closes the connection only if a body is unread', async () => {
    const key = `Authorization: Bearer ${world.apiKey}\r\n`;
    const body = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    const unread = `Content-Type: application/json\r\nContent-Length: ${300 * 1024}\r\n\r\n`;
    const refused: [string, string, number][] = [
      ['GET /nothing', '\r\n', 404],
      ['GET /nothing', body, 404],
      ['PUT /healthz', '\r\n', 405],
      [`PUT ${space}/mailboxes`, body, 405],
      [`GET ${space}/mailboxes`, '\r\n', 401],
      [`POST ${space}/mailboxes`, body, 401],
      [`POST ${space}/mailboxes`, `${key}Content-Encoding: gzip\r\n${body}`, 415],
      [`POST ${space}/mailboxes`, key + body, 400],
    ];
    for (const [target, rest, status] of refused) {
      const answer = await rawRequest(world, `${target} HTTP/1.1\r\nHost: x\r\n${rest}GET /healthz HTTP/1.0\r\n\r\n`);
      const [first = '', second = ''] = answer.split(/(?<=})(?=HTTP)/);
      expect(first, target)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.to.match(/^Connection: keep-alive\r\nKeep-Alive: timeout=75\r$/im);
      expect(second, target).to.match(/^HTTP\/1\.1 200 /);
    }
    for (const [target, status] of [
      ['POST /nothing', 404],
      [`POST ${space}/mailboxes`, 413],
    ] as const) {
      const answer = await rawRequest(world, `${target} HTTP/1.1\r\nHost: x\r\n${unread}{`);
      expect(answer, target)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.to.match(/^Connection: close/im);
    }
  });

  it('unknown and repeated query parameters are 400, also on routes without parameters', async () => {
    for (const query of [
      'x=1',
      'limit=1&limit=2',
      '__proto__=1',
      'constructor=1',
      'limit[]=1',
      '%00=1',
      '&&x',
      'Limit=1',
    ]) {
      expect(codeOf(await world.get(`/mailboxes?${query}`)), query).to.equal('400 VALIDATION_FAILED');
      expect(codeOf(await world.get(`/limits?${query}`)), query).to.equal('400 VALIDATION_FAILED');
      expect(codeOf(await world.post(`/mailboxes?${query}`, { name: 'x' })), query).to.equal('400 VALIDATION_FAILED');
    }
    const messageOf = async (path: string) => (await world.get(path)).body.error.message;
    expect(await messageOf('/mailboxes?x=1')).to.equal(
      'x is not a query parameter of this request, which takes limit, cursor, name',
    );
    expect(await messageOf('/limits?x=1')).to.equal('x is not a query parameter of this request, which takes none');
    for (const path of ['/mailboxes?', '/limits?']) {
      expect(await rawGet(world, `${space}${path}`), path).to.match(/^HTTP\/1\.1 200 /);
    }
  });

  it('limit is a whole number from 1 to 200, given once', async () => {
    for (const value of ['0', '201', '-1', '1.5', '1e2', '', 'x', ' 5', '0x10', '99999999999999999999', 'null']) {
      const reply = await world.get(`/mailboxes?limit=${encodeURIComponent(value)}`);
      expect(codeOf(reply), value).to.equal('400 VALIDATION_FAILED');
      expect(reply.body.error.message).to.contain('limit').and.to.contain('1 to 200');
    }
    for (const value of ['1', '200']) expect((await world.get(`/mailboxes?limit=${value}`)).status).to.equal(200);
  });

  it('HEAD of an event stream ends with its headers', async () => {
    const response = await fetch(`${world.url}/v1/spaces/${world.spaceId}/watch`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${world.apiKey}`, Accept: 'text/event-stream' },
    });
    expect(response.status).to.equal(200);
    expect(await response.text()).to.equal('');
  });
});
