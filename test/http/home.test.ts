import { expect } from 'chai';
import { api } from '../support/world.ts';

/** What Chromium sends for a page. */
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const programs = [
  undefined,
  '*/*',
  'application/json',
  'application/json, text/plain, */*',
  'application/json, text/html;q=0.9',
  'text/event-stream',
];

describe('A person with a browser', () => {
  let url: string;
  before(async () => {
    url = (await api()).url ?? '';
  });
  const ask = (path: string, accept: string | undefined, method = 'GET'): Promise<Response> =>
    fetch(url + path, { method, headers: accept === undefined ? {} : { Accept: accept }, redirect: 'manual' });

  it('is led from / to the console, also below a prefix; a program is not', async () => {
    for (const method of ['GET', 'HEAD']) {
      const response = await ask('/', browser, method);
      expect([response.status, response.headers.get('Location')], method).to.deep.equal([302, 'console']);
    }
    for (const accept of programs) expect((await ask('/', accept)).status, accept).to.equal(404);
  });

  it('gets the icon that browsers ask for by themselves', async () => {
    const icon = await ask('/favicon.ico', 'image/*');
    expect(icon.status).to.equal(200);
    expect(icon.headers.get('Content-Type')).to.equal('image/svg+xml');
    expect(await icon.text()).to.equal(await (await ask('/console/icon.svg', 'image/*')).text());
  });

  it('gets a page for a path that is unknown, whose links lead on; programs get the envelope as before', async () => {
    for (const path of ['/nothing', '/docs/nothing', '/a/b/<script>', '/console/x/', '//', '/v1/spaces/x/y']) {
      const response = await ask(path, browser);
      const html = await response.text();
      expect(response.status, path).to.equal(404);
      expect(response.headers.get('Content-Type')).to.equal('text/html; charset=utf-8');
      expect(response.headers.get('Content-Security-Policy')).to.match(/^default-src 'none';/);
      expect(response.headers.get('Vary')).to.equal('Accept');
      expect(html).to.contain(`Request ${response.headers.get('X-Request-Id')}`);
      expect(html).to.not.contain('script');
      const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => new URL(href, url + path).href);
      expect(links).to.deep.equal(['/favicon.ico', '/console', '/docs', '/docs/api'].map((link) => url + link));
      for (const accept of programs) {
        const answer = await ask(path, accept);
        expect(answer.headers.get('Content-Type'), accept).to.equal('application/json; charset=utf-8');
        const { error } = (await answer.json()) as { error: object };
        expect(error).to.deep.equal({
          code: 'ROUTE_NOT_FOUND',
          message: 'there is no such path: see /docs, /openapi.json or /console',
          requestId: answer.headers.get('X-Request-Id'),
        });
      }
    }
    const head = await ask('/nothing', browser, 'HEAD');
    expect([head.status, await head.text()]).to.deep.equal([404, '']);
  });

  it('gets every other error as a program does, and so does a form that posts', async () => {
    const refused = async (path: string, method: string) => {
      const response = await ask(path, browser, method);
      const { error } = (await response.json()) as { error: { code: string } };
      return `${response.status} ${error.code}`;
    };
    expect(await refused('/console', 'POST')).to.equal('405 METHOD_NOT_ALLOWED');
    expect(await refused('/nothing', 'POST')).to.equal('404 ROUTE_NOT_FOUND');
    expect(await refused('/v1/spaces', 'GET')).to.equal('401 UNAUTHENTICATED');
  });
});
