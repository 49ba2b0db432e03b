import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Site, type Source } from '../http/site.ts';
import { packagePath } from '../package.ts';

/** Built into dist/ by `npm run build`, also for a server that runs from source. */
const folder = packagePath('dist/console/browser/');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Only our own files, no inline code or styles, no text turned into markup, no server but this. */
export const policyFor = (connect: string): string[] => [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  `connect-src ${connect}`,
  "img-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/**
 * The console. Its files are listed once, so that no request path ever reaches the file system. hasAccounts: people also
 * sign in at an issuer (./sign-in.ts).
 */
export const consoleSite = (hasAccounts: boolean): Site =>
  new Site(
    '/console',
    policyFor("'self'"),
    builtFiles().flatMap((name) => pathsOf(name).map((path) => source(path, name, hasAccounts))),
  );

/** Browsers ask for the icon at `/favicon.ico` where what they show names none: text, JSON, images. */
function pathsOf(name: string): string[] {
  if (name === 'icon.svg') return ['/console/icon.svg', '/favicon.ico'];
  return [name === 'index.html' ? '/console' : `/console/${name}`];
}

function source(path: string, name: string, hasAccounts: boolean): Source {
  const file = () => readFile(folder + name);
  const withAccounts = async () => Buffer.from((await file()).toString().replace(hidden, ''));
  const isChanged = hasAccounts && name === 'index.html';
  return { path, type: types[extname(name)] ?? '', read: isChanged ? withAccounts : file };
}

/** Of the element `accounts` of index.html. */
const hidden = /(?<=id="accounts") hidden/;

/** None before the first build. */
function builtFiles(): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types);
  } catch {
    return [];
  }
}
