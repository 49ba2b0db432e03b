import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.ts';

let running: Promise<Browser> | undefined;

/** The browser of this run, shared by all test files. */
export function browser(): Promise<Browser> {
  running ??= launchChromium();
  return running;
}

/**
 * Whether this is the icon of a page. A browser with a window asks for it when it likes, and at every other server, too;
 * the headless shell never does. So no test counts it, or what became of it.
 */
export const isIcon = (url: string): boolean => /\/(favicon\.ico|icon\.svg)$/.test(url);

/** Starts the browser before the tests of a `describe`. Its first download takes a while. */
export function useBrowser(): void {
  before(async function () {
    this.timeout(300_000);
    await browser();
  });
}

// Runs once for the whole run, as this file is loaded outside any `describe`.
after(async () => (await running)?.close());
