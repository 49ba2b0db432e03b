import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { expect } from 'chai';
import { api, World } from '../support/world.ts';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
}

/** Requests exactly this path, whose dots fetch would resolve. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const { url = '' } = await api();
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { path, headers, method }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(pieces).toString() });
    });
    outgoing.on('error', reject).end();
  });
}

const files = readdirSync(new URL('../../dist/console/browser/', import.meta.url))
  .filter((name) => /\.(js|css|svg)$/.test(name))
  .map((name) => `/console/${name}`);

describe('GET /console', () => {
  it('is a page without a key, under a policy that allows only our own files', async () => {
    const { status, headers, text } = await ask('/console');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(text).to.match(/^<!doctype html>/);
    expect(String(headers['content-security-policy']).split('; ')).to.have.members([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(headers).to.include({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    expect(headers).to.include.keys('x-request-id', 'etag');
  });

  it('serves each of its files with its type and the same policy', async () => {
    const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };
    const policy = (await ask('/console')).headers['content-security-policy'];
    expect(files).to.have.members([
      '/console/main.js',
      '/console/sign-in.js',
      '/console/console.css',
      '/console/icon.svg',
    ]);
    for (const path of files) {
      const { status, headers } = await ask(path);
      expect([path, status]).to.deep.equal([path, 200]);
      expect(headers['content-type']).to.equal(types[path.split('.')[1] as keyof typeof types]);
      expect(headers['content-security-policy']).to.equal(policy);
    }
  });

  it('names no other server, in the page or its files', async () => {
    for (const path of ['/console', ...files]) {
      const names = (await ask(path)).text.match(/\bhttps?:\/\/[^\s"'`]+/g) ?? [];
      expect(names.filter((name) => name !== 'http://www.w3.org/2000/svg')).to.deep.equal([]);
    }
  });

  it('answers 304 to a client that has it already, by its ETag', async () => {
    for (const path of ['/console', '/console/main.js']) {
      const etag = String((await ask(path)).headers['etag']);
      for (const given of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const { status, headers, text } = await ask(path, { 'If-None-Match': given });
        expect([status, text, headers['etag']]).to.deep.equal([304, '', etag]);
      }
      expect((await ask(path, { 'If-None-Match': '"other"' })).status).to.equal(200);
    }
  });

  it('answers HEAD, and no other method', async () => {
    const head = await ask('/console', {}, 'HEAD');
    expect([head.status, head.text]).to.deep.equal([200, '']);
    expect(Number(head.headers['content-length'])).to.be.above(0);
    const post = await ask('/console', {}, 'POST');
    expect([post.status, post.headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
  });

  it('redirects /console/ to /console, also behind a proxy', async () => {
    const { status, headers } = await ask('/console/');
    expect([status, headers['location']]).to.deep.equal([308, '../console']);
  });

  it('serves only its own files: any other path is 404', async () => {
    const others = [
      '/console/../package.json',
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/..%2f..%2fpackage.json',
      '/console/panels/../../../main.js',
      '/console//etc/passwd',
      '/console/index.html',
      '/console/main.ts',
      '/console/tsconfig.json',
      '/console/panels',
      '/console/api.js',
      '/console/__proto__',
      '/Console',
    ];
    for (const path of others) {
      const { status, text } = await ask(path);
      expect([path, status]).to.deep.equal([path, 404]);
      expect(JSON.parse(text).error.code).to.equal('ROUTE_NOT_FOUND');
    }
  });

  it('uses no rate of a space or organization, and no Redis command', async () => {
    const world = await World.create({ limits: { requestsPerMinute: 3 } });
    for (let i = 0; i < 10; i++) {
      const { status, headers } = await ask('/console', { Authorization: `Bearer ${world.apiKey}` });
      expect(status).to.equal(200);
      expect(headers).to.not.include.keys('ratelimit');
    }
    expect((await world.get('/census')).headers.get('RateLimit')).to.match(/^"space";r=2;/);
  });
});
