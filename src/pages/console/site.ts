import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Site, type SiteSource } from '../../doors/http/static-site.ts';
import { packagePath } from '../../package.ts';
import { html } from '../answer/text.ts';

/** Built into dist/ by `npm run build`, even for a server that runs from source. */
const folder = packagePath('dist/console/browser/');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * A Content-Security-Policy that allows only our own files: no inline code or styles, and no text parsed as markup.
 * connect: where scripts may send requests.
 */
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

interface Told {
  /** Whether people also sign in at an issuer (./sign-in.ts). */
  readonly hasAccounts: boolean;
  /** Where a trace can be viewed, with `{traceId}` in it, or ''. */
  readonly traceUrl: string;
}

/** The console. Its files are listed once, so a request path never reaches the file system. */
export const consoleSite = (told: Told): Site =>
  new Site(
    '/console',
    policyFor("'self'"),
    builtFiles().flatMap((name) => pathsOf(name).map((path) => source(path, name, told))),
  );

/** For text, JSON and images, browsers request the icon at `/favicon.ico`. */
function pathsOf(name: string): string[] {
  if (name === 'icon.svg') return ['/console/icon.svg', '/favicon.ico'];
  return [name === 'index.html' ? '/console' : `/console/${name}`];
}

function source(path: string, name: string, told: Told): SiteSource {
  const file = () => readFile(folder + name);
  const page = async () => Buffer.from(pageFor(String(await file()), told));
  return { path, type: types[extname(name)] ?? '', read: name === 'index.html' ? page : file };
}

/** The page, with the settings of this server that it needs. */
function pageFor(page: string, { hasAccounts, traceUrl }: Told): string {
  const shown = hasAccounts ? page.replace(/(?<=id="accounts") hidden/, '') : page;
  return shown.replace(
    '<meta name="trace-url" content="">',
    () => `<meta name="trace-url" content="${html(traceUrl)}">`,
  );
}

/** Empty before the first build. */
function builtFiles(): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types);
  } catch {
    return [];
  }
}
