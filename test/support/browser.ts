import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.ts';

let running: Promise<Browser> | undefined;

/** The browser of this run, shared by all test files. */
export function browser(): Promise<Browser> {
  running ??= launchChromium();
  return running;
}

/** Starts the browser before the tests of a `describe`. Its first download takes a while. */
export function useBrowser(): void {
  before(async function () {
    this.timeout(300_000);
    await browser();
  });
}

// Runs once for the whole run, as this file is loaded outside any `describe`.
after(async () => (await running)?.close());
