import { expect } from 'chai';
import { rawGet } from '../http/client.ts';
import { codeOf, World } from '../support/world.ts';

/** Every address in a page, resolved as a browser does. */
function addresses(html: string, base: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => new URL(address, base).href);
}

describe('GET /docs/api', () => {
  let world: World;
  before(async () => {
    world = await World.create();
  });
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${world.url}${path}`, { method, headers, redirect: 'manual' });

  it('is a page that needs no key and loads nothing from other servers', async () => {
    const response = await get('/docs/api');
    expect(response.status).to.equal(200);
    expect(response.headers.get('Content-Type')).to.equal('text/html; charset=utf-8');
    const named = addresses(await response.text(), response.url).filter((one) => !one.startsWith('data:'));
    expect(named).to.include(`${world.url}/openapi.json`).and.to.include(`${world.url}/docs/api/scalar.js`);
    expect(named).to.have.length(9);
    for (const address of named) {
      expect(address.startsWith(`${world.url}/`), address).to.equal(true);
      expect((await fetch(address)).status, address).to.equal(200);
    }
  });

  it('allows scripts and calls of this server only, and no inline scripts', async () => {
    for (const path of ['/docs/api', '/docs/api/page.js', '/docs/api/scalar.js', '/docs/api/page.css']) {
      const { headers } = await get(path);
      const policy = headers.get('Content-Security-Policy') ?? '';
      expect(policy).to.include("default-src 'none'").and.include("script-src 'self';");
      expect(policy).to.include("connect-src 'self'").and.include("frame-ancestors 'none'");
      expect(headers.get('X-Content-Type-Options')).to.equal('nosniff');
    }
    expect(await (await get('/docs/api')).text()).to.not.match(/<script>|<style|\son\w+=/);
  });

  it('passes the document to the library, and nothing to anybody else', async () => {
    const script = await (await get('/docs/api/page.js')).text();
    expect(script)
      .to.match(/fetch\("\.\.\/openapi\.json"\)/)
      .and.to.match(/telemetry: false/)
      .and.to.match(/withDefaultFonts: false/);
  });

  it('is revalidated each time, with a 304 if unchanged, and compressed if the client accepts it', async () => {
    const { url } = await get('/docs/api/page.css');
    const first = await fetch(url, { headers: { 'Accept-Encoding': 'identity' } });
    const etag = first.headers.get('ETag') ?? '';
    expect(etag).to.match(/^W\/"[\w-]{22}"$/);
    expect(first.headers.get('Cache-Control')).to.equal('no-cache');
    for (const known of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
      const again = await get('/docs/api/page.css', { 'If-None-Match': known });
      expect(again.status, known).to.equal(304);
      expect(await again.text()).to.equal('');
      expect(again.headers.get('ETag')).to.equal(etag);
    }
    expect((await get('/docs/api/page.css', { 'If-None-Match': '"other"' })).status).to.equal(200);
    const plain = Number(first.headers.get('Content-Length'));
    const zipped = await get('/docs/api/page.css', { 'Accept-Encoding': 'gzip' }, 'HEAD');
    expect(zipped.headers.get('Content-Encoding')).to.equal('gzip');
    expect(Number(zipped.headers.get('Content-Length'))).to.be.lessThan(plain / 2);
    const refused = await get('/docs/api/page.css', { 'Accept-Encoding': 'gzip;q=0' }, 'HEAD');
    expect(refused.headers.get('Content-Encoding')).to.equal(null);
  });

  it('is the same text compressed or not', async () => {
    const text = async (encoding: string) => (await get('/docs/api/page.css', { 'Accept-Encoding': encoding })).text();
    expect(await text('gzip')).to.equal(await text('identity'));
  });

  it('redirects /docs/api/ to /docs/api, accepts GET and HEAD only, and answers HEAD without a body', async () => {
    const moved = await get('/docs/api/');
    expect(moved.status).to.equal(308);
    expect(new URL(moved.headers.get('Location') ?? '', moved.url).pathname).to.equal('/docs/api');
    const head = await get('/docs/api', {}, 'HEAD');
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
    const refused = await world.send('POST', '/docs/api');
    expect(codeOf(refused)).to.equal('405 METHOD_NOT_ALLOWED');
    expect(refused.headers.get('Allow')).to.equal('GET, HEAD');
  });

  it('serves only its files, whatever the path', async () => {
    for (const target of [
      '/docs/api/LICENSE',
      '/docs/scalar/scalar.js',
      '/docs/api/../../package.json',
      '/docs/%2e%2e/%2e%2e/package.json',
      '/docs/..%2f..%2fpackage.json',
      '/docs/api/page.css%00',
      '/docs/api/page.js/',
      '/docs/api//page.js',
      '/docs//api',
      '/docs/__proto__',
      '/docs/api/__proto__',
      '/docs/index.html',
      '/docs/files/package.json',
      '/docs/llms.txt',
    ])
      expect(await rawGet(world, target), target).to.match(/^HTTP\/1\.1 404 .*ROUTE_NOT_FOUND/s);
  });
});
