import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { findProgram, type ProgramKind } from '../../src/program/find.ts';

/** Debian builds the headless shell from the same source as `chromium`; it needs far fewer libraries. */
const chromiumProgram: ProgramKind = {
  label: 'Chromium',
  wanted: 'Chromium',
  variable: 'CHROMIUM',
  names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chromium-headless-shell'],
  packages: ['chromium-headless-shell', 'chromium-common', 'fontconfig-config', 'fonts-dejavu-core'],
  path: 'usr/lib/chromium/chromium-headless-shell',
  // Its own fonts and font cache: the system may have none.
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
    // Its sandbox fails as root and in most containers, and it only opens our own pages.
    chromiumSandbox: false,
  });
}
