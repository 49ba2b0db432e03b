import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram, type ProgramKind } from '../../src/external-programs/find.ts';

/** Debian builds the headless shell from the same source as `chromium`; it needs far fewer libraries. */
const chromiumProgram: ProgramKind = {
  label: 'Chromium',
  wanted: 'Chromium',
  variable: 'CHROMIUM',
  names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chromium-headless-shell'],
  packages: ['chromium-headless-shell', 'chromium-common', 'fontconfig-config', 'fonts-dejavu-core'],
  path: 'usr/lib/chromium/chromium-headless-shell',
  // Its own fonts and font cache, as the system may have none.
  environment: (root) => ({
    FONTCONFIG_PATH: `${root}/etc/fonts`,
    XDG_DATA_HOME: `${root}/usr/share`,
    XDG_CACHE_HOME: `${root}/var/cache`,
  }),
  versionIn: (printed) => {
    const version = /\b(?:Chromium|Chrome\S*) (\d+[\d.]*)/.exec(printed)?.[1];
    if (!version) throw new Error('its --version is not that of a Chromium');
    return version;
  },
  whatToDo: 'install Chromium or Chrome, or set CHROMIUM to its program',
};

const folder = fileURLToPath(new URL('../../.chromium', import.meta.url));

/** A headless Chromium: from CHROMIUM, PATH, or the distribution's packages, downloaded once into `.chromium/`. */
export async function launchChromium(): Promise<Browser> {
  const log = (line: string): void => console.log(`    ${line}`);
  const { command, env } = await findProgram(chromiumProgram, { log, env: process.env, folder });
  const known = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return chromium.launch({
    executablePath: command,
    env: Object.fromEntries(known),
    // Its sandbox fails for root and in most containers, and it only opens our own pages.
    chromiumSandbox: false,
  });
}

let axe: string | undefined;

/** The rules about colours and sizes. The other rules find the same on a small dark screen as on a large one. */
export const rulesOfLooks = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

/**
 * The violations axe finds on the page or in a part of it, for all rules or only these. Only violations leave the page:
 * transferring the thousands of elements that pass would cost more than checking them.
 */
export async function violationsOf(page: Page, part = 'html', rules: readonly string[] = []): Promise<string> {
  axe ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const options = { resultTypes: ['violations'], ...(rules.length > 0 && { runOnly: rules }) };
  return page.evaluate<string>(
    `axe.run('${part}', ${JSON.stringify(options)}).then(({ violations }) =>
      JSON.stringify(violations, ['id', 'nodes', 'html', 'failureSummary'], 2))`,
  );
}
