import type { BrowserContext, Page, Request } from 'playwright-core';
import { browser, isIcon, useBrowser } from '../support/browser.ts';
import { violationsOf } from '../support/chromium.ts';
import type { World } from '../support/world.ts';

/** The contexts by the look of their pages. Their tabs share the browser's cache, and nothing that a page stores. */
const contexts = new Map<string, Promise<BrowserContext>>();
const tabs: Tab[] = [];

interface Look {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** Problems that the browser is expected to report. */
  readonly expected?: RegExp;
}

/** A tab of a real Chromium, which records every problem in it. */
export class Tab {
  readonly page: Page;
  readonly world: World;
  readonly problems: string[] = [];
  readonly requests: Request[] = [];

  private constructor(page: Page, world: World, expected: RegExp | undefined) {
    this.page = page;
    // Shorter than mocha's limit, whose error would not say what the test waited for.
    page.setDefaultTimeout(45_000);
    this.world = world;
    const note = (text: string): void => {
      if (!expected?.test(text)) this.problems.push(text);
    };
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !isIcon(message.location().url)) note(message.text());
    });
    page.on('pageerror', (error) => note(String(error.stack)));
    page.on('dialog', (dialog) => note(`a dialog: ${dialog.message()}`));
    page.on('request', (request) => {
      if (!isIcon(request.url())) this.requests.push(request);
    });
    page.on('requestfailed', (request) => {
      if (isIcon(request.url())) return;
      const why = request.failure()?.errorText ?? '';
      // The console aborts reads whose answer it no longer needs, or has awaited for too long.
      if (!(why === 'net::ERR_ABORTED' && request.url().includes('/v1/spaces')))
        note(`${request.url()} failed: ${why}`);
    });
  }

  /** Opens the console at a place in the world's space. */
  static async open(world: World, look: Look = {}, place = ''): Promise<Tab> {
    const { width = 1280, colorScheme = 'light', expected } = look;
    const name = `${width} ${colorScheme}`;
    const context =
      contexts.get(name) ?? browser().then((one) => one.newContext({ viewport: { width, height: 800 }, colorScheme }));
    contexts.set(name, context);
    const tab = new Tab(await (await context).newPage(), world, expected);
    tabs.push(tab);
    await tab.page.goto(`${world.url}/console#/space/${world.spaceId}${place}`);
    return tab;
  }

  /** Signs in, by default with a read-only key, and waits until the page is live. */
  static async live(world: World, look: Look = {}, place = '', key?: string): Promise<Tab> {
    const tab = await Tab.open(world, look, place);
    await tab.signIn(key ?? (await world.key(['coordination_read'])));
    await tab.status('Live.');
    return tab;
  }

  async signIn(key: string): Promise<void> {
    await this.page.getByLabel('API key').fill(key);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Goes to another page of the space. */
  async go(place: string): Promise<void> {
    await this.page.goto(`${this.world.url}/console#/space/${this.world.spaceId}${place}`);
  }

  /** Waits until the status line has this text. */
  async status(text: string | RegExp): Promise<void> {
    await this.page.getByRole('status').filter({ hasText: text }).waitFor();
  }

  /** The value of an expression in the page. */
  evaluate<T>(expression: string): Promise<T> {
    return this.page.evaluate(expression) as Promise<T>;
  }

  /** The violations that axe finds on the page, or in a part of it, for all its rules or only these. */
  violations(part?: string, rules?: readonly string[]): Promise<string> {
    return violationsOf(this.page, part, rules);
  }

  /** The visible text of the whole page. */
  text(): Promise<string> {
    return this.page.locator('body').innerText();
  }
}

/** Starts the browser, and closes tabs after each test. */
export function useTabs(): void {
  useBrowser();
  // A problem in any tab fails the test.
  afterEach(async () => {
    const pages = (await Promise.all(contexts.values())).flatMap((context) => context.pages());
    await Promise.all(pages.map((page) => page.close()));
    const problems = tabs.splice(0).flatMap((tab) => tab.problems);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  });
  after(async () => {
    const all = await Promise.all(contexts.values());
    contexts.clear();
    await Promise.all(all.map((context) => context.close()));
  });
}
