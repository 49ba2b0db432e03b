import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { type MusterService, startService } from '../../src/service.ts';
import { launchChromium } from '../support/chromium.ts';
import { redisUrl } from '../support/store.ts';
import { World } from '../support/world.ts';

const guide = readFileSync(fileURLToPath(new URL('../../docs/browsers.md', import.meta.url)), 'utf8');
const html = /```html\n(.*?)```/s.exec(guide)?.[1] ?? '';

describe('The page of docs/browsers.md', () => {
  let pages: Server;
  let service: MusterService;
  let world: World;
  let browser: Browser;
  let page: Page;
  let origin: string;

  before(async () => {
    pages = createServer(
      (_, response) => void response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html),
    );
    await once(pages.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const rest = { role: 'api', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) } as const;
    service = await startService({ ...rest, redisUrl: await redisUrl(), corsOrigins: [origin] });
    world = await World.create({ on: service });
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    pages?.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    await page.goto(origin);
  });
  afterEach(() => page.close());

  async function follow(token: string, url = world.url): Promise<void> {
    for (const [name, value] of Object.entries({ url, space: world.spaceId, token }))
      await page.fill(`[name=${name}]`, value);
    await page.click('button');
  }

  it('follows the events of a space from another origin, with a key in a header', async () => {
    await follow(world.apiKey);
    await page.getByText('following').waitFor();
    for (const name of ['one', 'two']) await world.mustPost('/mailboxes', { name });
    await page.locator('li', { hasText: 'mailbox.created' }).nth(1).waitFor();
  });

  it('reads refusals and the id of their request', async () => {
    await follow(`${world.apiKey}x`);
    const refusal = page.locator('li');
    await refusal.waitFor();
    expect(await refusal.textContent()).to.match(/^INVALID_API_KEY: .*, request [0-9a-f-]{36}$/);
  });

  it('is kept out by its browser if its origin is not listed', async () => {
    const other = await World.create();
    await follow(other.apiKey, other.url);
    const refusal = page.locator('li');
    await refusal.waitFor();
    expect(await refusal.textContent()).to.equal('Failed to fetch');
  });
});
