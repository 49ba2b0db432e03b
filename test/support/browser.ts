import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.ts';

let running: Promise<Browser> | undefined;

/** The browser of this run: one for all its files. The first download takes a while. */
export function browser(): Promise<Browser> {
  running ??= launchChromium();
  return running;
}

// Of the whole run, as this file is loaded outside of any `describe`.
after(async () => (await running)?.close());
