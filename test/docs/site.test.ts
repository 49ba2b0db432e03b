import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { find, type Section } from '../../src/pages/docs/browser/find.ts';
import { groups, pathOf, sourcePathOf } from '../../src/pages/docs/pages.ts';
import { browser, isIcon, useBrowser } from '../support/browser.ts';
import { rulesOfLooks, violationsOf } from '../support/chromium.ts';
import { isLong, many } from '../support/long.ts';
import { api } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = groups.flatMap((group) => group.files);
const paths = files.map(pathOf);

/** Where the part of a page begins in which one looks things up: at these headings, or at one of its own. */
const usual = /^(States|Recipes|Calls|Limits)\b/;
const begins: Readonly<Record<string, string>> = {
  'docs/quickstart.md': 'See it work',
  'docs/concepts.md': 'Message state, task state',
  'docs/workers.md': 'Leases and retries',
  'docs/codecs.md': 'Ready to copy',
  'docs/testing.md': 'A task without a server',
  'docs/rolling-deploy.md': 'When the payload changes',
  'docs/guarantees.md': 'What happens when something dies',
  'docs/requests.md': 'Lists',
  'docs/alternatives.md': 'Feature by feature',
  'docs/bullmq.md': 'The words',
  'docs/atomic.md': 'Take turns',
  'docs/mcp.md': 'What it can do',
  'docs/traces.md': 'Find a trace',
  'docs/operate/security.md': 'Who may do what',
  'docs/operate/identity.md': 'Keycloak',
  'docs/operate/production.md': '1. Redis',
  'docs/operate/kubernetes.md': 'Values of the chart',
  'docs/operate/redis-cli.md': 'Questions at 3 a.m.',
};

/** Pages that are all of that kind, and those that GitHub shows first. */
const isLookedUp = (file: string): boolean =>
  !/^(docs|src)\//.test(file) ||
  /^docs\/(errors|reference|design|operate\/settings)\.md$|^docs\/(evidence\/|examples$)/.test(file);

/** What the service answers, by its path: asked once. */
const texts = new Map<string, Promise<string>>();
async function textOf(path: string): Promise<string> {
  const { url = '' } = await api();
  const text =
    texts.get(path) ??
    fetch(url + path).then(async (response) => {
      expect(response.status, path).to.equal(200);
      return response.text();
    });
  texts.set(path, text);
  return text;
}

describe('The pages of /docs', () => {
  it('are all of docs/, each once', () => {
    const written = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`);
    expect(files, 'a page of docs/ is to be listed in src/pages/docs/pages.ts').to.include.members(written);
    expect(new Set(paths).size).to.equal(files.length);
  });

  it('have titles of their own, one first heading, the navigation, and the next page', async () => {
    const titles = new Set<string>();
    for (const [index, path] of paths.entries()) {
      const html = await textOf(path);
      const [, title = ''] = /<title>(.*)<\/title>/.exec(html) ?? [];
      expect(title, path).to.match(/Muster/);
      titles.add(title);
      expect(html.match(/<h1 /g), path).to.have.length(1);
      expect(html.match(/aria-current="page"/g), path).to.have.length(1);
      expect(html.includes('rel="prev"'), path).to.equal(index > 0);
      expect(html.includes('rel="next"'), path).to.equal(index < paths.length - 1);
      for (const group of groups) expect(html).to.include(`<h2>${group.title.replace('&', '&amp;')}</h2>`);
    }
    expect(titles.size).to.equal(paths.length);
  });

  it('link to what is there, with relative addresses only: page, file and heading', async () => {
    const { url = '' } = await api();
    const named = new Set<string>();
    for (const path of paths)
      for (const [, address = ''] of (await textOf(path)).matchAll(/(?:src|href)="([^"]*)"/g)) {
        if (/^https:/.test(address)) continue;
        expect(address, path).to.match(/^(?!\/|\w+:)./);
        named.add(new URL(address, url + path).href.slice(url.length));
      }
    expect(named).to.include.keys('/docs/examples#worker-poolts', '/docs/api', '/console', '/openapi.json');
    for (const address of named) {
      const [path = '', anchor] = address.split('#');
      const text = await textOf(path);
      if (anchor !== undefined) expect(text, address).to.include(`id="${anchor}"`);
    }
  });

  it('are there as Markdown, too, whose links lead to Markdown', async () => {
    const { url = '' } = await api();
    for (const file of files) {
      const path = sourcePathOf(file);
      const text = await textOf(path);
      for (const [, address = ''] of text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s]+)\)/g)) {
        const target = new URL(address, url + path).pathname;
        await textOf(target);
        if (paths.includes(target)) expect.fail(`${path} links to the HTML of ${target}`);
      }
    }
    const quickstart = readFileSync(`${root}docs/quickstart.md`, 'utf8');
    expect(await textOf('/docs/quickstart.md')).to.equal(quickstart);
    const { headers } = await fetch(`${url}/docs/quickstart.md`);
    expect(headers.get('Content-Type')).to.equal('text/markdown; charset=utf-8');
  });

  it('have no inline code or style, and a policy that allows none', async () => {
    for (const path of paths) expect(await textOf(path), path).to.not.match(/<script>|<style|<[^>]*\s(?:on\w+|style)=/);
    const { url = '' } = await api();
    const policy = (await fetch(`${url}/docs`)).headers.get('Content-Security-Policy') ?? '';
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "trusted-types 'none'"])
      expect(policy.split('; ')).to.include(rule);
  });
});

describe('/llms.txt', () => {
  it('lists every page with its title and a sentence, as Markdown', async () => {
    const { url = '' } = await api();
    const text = await textOf('/llms.txt');
    expect(text).to.match(/^# Muster\n\n> \S.*\n\n## Start\n/);
    const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.*$/gm)].map(([, address = '']) => address);
    const listed = links.map((address) => new URL(address, `${url}/llms.txt`).pathname);
    expect(listed).to.include.members([...files.map(sourcePathOf), '/openapi.json', '/llms-full.txt']);
    expect((await fetch(`${url}/llms.txt`)).headers.get('Content-Type')).to.equal('text/plain; charset=utf-8');
  });

  it('has a second file with all of them', async () => {
    const text = await textOf('/llms-full.txt');
    for (const file of files) expect(text).to.include((await textOf(sourcePathOf(file))).trim());
  });
});

describe('The search', () => {
  let sections: readonly Section[];
  before(async () => {
    sections = JSON.parse(await textOf('/docs/search.json'));
  });

  it('leads to what a page, a heading or a recipe begins with in bold', async () => {
    for (const [address] of sections.filter(([address]) => !address.startsWith('api#'))) {
      const [path = '', anchor] = address.split('#');
      const html = await textOf(new URL(path, 'http://docs/docs/').pathname);
      if (anchor !== undefined) expect(html.split(` id="${anchor}"`), address).to.have.length(2);
    }
  });

  for (const [query, address] of [
    ['kill job', 'mailboxes#cancel-a-message'],
    ['pause queue', 'mailboxes#pause-a-mailbox'],
    ['priority', 'mailboxes#priority-and-keys'],
    ['helm', 'operate/kubernetes'],
    ['redis cluster', 'operate/cluster'],
    ['dead letter', 'mailboxes#see-what-failed-and-bring-it-back'],
    ['approval', 'questions'],
    ['How do I sign in with SSO?', 'operate/identity'],
    ['retry a failed job', 'mailboxes#see-what-failed-and-bring-it-back'],
    ['leader election', 'pools#elect-a-leader'],
    ['budgets', 'budgets'],
    ['idempotency precedence', 'reference#precedence'],
  ] as const)
    it(`answers "${query}" with ${address}`, () => {
      expect(find(sections, query)[0]?.address).to.equal(address);
    });

  it('answers "tls" and "rotate key" with pages for operators', () => {
    const found = find(sections, 'tls', 3).map(({ address }) => address);
    expect(found).to.include('operate/security#tls-in-front');
    expect(find(sections, 'rotate key')[0]?.address).to.match(/^operate\/(security#change-a-key|keys)/);
  });

  it('has nothing for a word that is nowhere', () => {
    expect(find(sections, 'zzzz')).to.deep.equal([]);
  });
});

describe('/docs in a browser', () => {
  let page: Page;
  const problems: string[] = [];
  useBrowser();
  afterEach(async () => {
    await page.context().close();
    expect(problems.splice(0)).to.deep.equal([]);
  });

  async function open(path: string, width = 1280, more: { bypassCSP?: boolean } = {}): Promise<void> {
    const context = await (await browser()).newContext({ viewport: { width, height: 800 }, ...more });
    page = await context.newPage();
    page.setDefaultTimeout(45_000);
    page.on('console', (message) => {
      const { url } = message.location();
      if (['error', 'warning'].includes(message.type()) && !isIcon(url)) problems.push(`${message.text()} ${url}`);
    });
    page.on('pageerror', (error) => problems.push(String(error.stack)));
    await go(path);
  }
  const go = async (path: string) => page.goto((await api()).url + path, { waitUntil: 'domcontentloaded' });
  /** It has no finding of axe on a large light screen, or a small dark one, of all its rules there or of these. */
  const passes = async (inDark?: readonly string[]) => {
    for (const [width, colorScheme, rules] of [
      [1280, 'light', []],
      [360, 'dark', inDark],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      // Scalar's markup is mended in the frame after it is there.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      expect(await violationsOf(page, 'html', rules), `${page.url()} at ${width} pixels in ${colorScheme}`).to.equal(
        '[]',
      );
    }
  };
  /** Puts another page into the document, at two thirds of what going there costs; the policy must be bypassed. */
  const put = (path: string) =>
    page.evaluate(`(async () => {
      // What the head names stays where it was: a browser with a window reads the icon again at each address.
      for (const link of document.head.querySelectorAll('link')) link.setAttribute('href', link.href);
      history.replaceState(null, '', '${path}');
      const text = await (await fetch('${path}')).text();
      document.body = new DOMParser().parseFromString(text, 'text/html').body;
      await import('/docs/docs.js?${path}');
      for (const image of document.images) image.loading = 'eager';
      await Promise.all([...document.images].map((image) => image.decode()));
    })()`);
  const place = () => page.evaluate<string>('location.pathname + location.hash');

  it('finds a section by its words, loads the index only then, and takes the keyboard alone', async () => {
    await open('/docs/quickstart');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (!isIcon(request.url())) asked.push(new URL(request.url()).pathname);
    });
    expect(asked).to.deep.equal([]);
    await page.keyboard.press('/');
    await page.keyboard.type('idempotency precedence');
    await page
      .getByRole('status')
      .filter({ hasText: /^\d+ place/ })
      .waitFor();
    expect(asked).to.deep.equal(['/docs/search.json']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/reference#/);
    expect(await place()).to.match(/^\/docs\/reference#(precedence|requests)$/);
    await page.getByRole('searchbox').fill('zzzz');
    await page.getByRole('status').filter({ hasText: 'Nothing has "zzzz"' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#results').isVisible()).to.equal(false);
    await page.getByRole('searchbox').fill('budgets');
    await page.locator('#results a').first().waitFor();
    await page.getByRole('searchbox').fill('');
    // There is nothing left that Enter would open.
    expect(await page.locator('#results a').count()).to.equal(0);
  });

  it('shows a call of the API reference by its name, on two screens, accessibly, and asks no other host', async () => {
    await open('/docs');
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.getByRole('searchbox').fill('message.recv');
    await page.locator('#results a[href$="/docs/api#tag/mailbox/message.recv"]').click();
    await page.getByRole('heading', { name: "Claim the oldest ready message of a scope's subtree" }).waitFor();
    await page.getByText('--request POST').first().waitFor();
    const section = page.locator('section[id$="/message.recv"]').last();
    expect((await section.boundingBox())?.height).to.be.within(800, 2 * 856);
    const cut =
      '[...document.querySelectorAll(".endpoints, .endpoint-path, .request-card .scalar-card-header-title")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)';
    expect(await page.evaluate(cut), 'paths that are cut at 1280 pixels').to.deep.equal([]);
    // What many calls are refused with is in one place, not in a line and a tab for each status.
    expect(await section.getByText('Errors that many calls share').count()).to.equal(1);
    const said = await section.innerText();
    expect(said)
      .to.match(/default/i)
      .and.to.not.match(/^(401|402|500|503)$/m);
    await passes(rulesOfLooks);
    expect([...hosts]).to.deep.equal([new URL((await api()).url ?? '').host]);
  });

  it('passes an automatic accessibility audit', async () => {
    await open('/docs/evidence/scale');
    await passes(rulesOfLooks);
    // What the pages have in common is otherwise arranged on a small screen.
    await go('/docs');
    await passes();
    // This page is Scalar's, and large. Of its parts, the test above has looked at a call.
    if (!isLong) return;
    await go('/docs/api');
    await page.getByText('Show More').first().waitFor();
    await passes();
  });

  it('puts the page about a thing before pages that mention it', async () => {
    await open('/docs', 360);
    for (const [query, expected] of [
      ['budgets', 'Budgets'],
      ['webhook', 'Webhooks'],
      ['redis cluster', 'Redis Cluster'],
    ] as const) {
      await page.getByRole('searchbox').fill(query);
      const first = page.locator('#results li').first();
      await first.filter({ hasText: expected }).waitFor();
      expect(await first.locator('b').innerText()).to.equal(expected);
    }
  });

  it('answers the question of a page in two screens, before what is looked up, and fits 360 pixels', async () => {
    await open('/docs', 1280, { bypassCSP: true });
    const long: string[] = [];
    const wide: string[] = [];
    // A low screen, as nobody looks at what is drawn; each page in both widths, without going back to the first.
    const widths = [1440, 360];
    const step = many(6, 1);
    for (const file of files.filter((_, index) => index % step === 0)) {
      await put(pathOf(file));
      for (const width of widths) {
        await page.setViewportSize({ width, height: 100 });
        const [scrolls, tops] = await page.evaluate<[number, [string, number][]]>(
          '[document.documentElement.scrollWidth, [...document.querySelectorAll("article h2"), document.querySelector("article + *")].map((one) => [one.textContent, one.getBoundingClientRect().top])]',
        );
        const [, height = 0] = tops.find(([title]) => title === begins[file] || usual.test(title)) ?? tops.at(-1) ?? [];
        if (width === 1440 && height > 2 * 900 && !isLookedUp(file)) long.push(`${file} ${Math.round(height)}`);
        if (width === 360 && scrolls !== 360) wide.push(file);
      }
      widths.reverse();
    }
    expect({ long, wide }).to.deep.equal({ long: [], wide: [] });
  });

  it('opens the list of pages on a phone, and closes it with the choice of a heading', async () => {
    await open('/docs/mcp', 360);
    const list = page.getByRole('navigation', { name: 'Pages' });
    expect(await list.isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'Pages' }).click();
    await list.getByRole('link', { name: 'Add it to a client' }).click();
    await list.waitFor({ state: 'hidden' });
    expect(await place()).to.equal('/docs/mcp#add-it-to-a-client');
    await page.getByRole('button', { name: 'Pages' }).click();
    await list.getByRole('link', { name: 'Budgets', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
  });
});
