import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { html } from '../answer/text.ts';
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

/** Only our own files, no inline code or styles, no text turned into markup, no other server. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/**
 * The console. Its files are listed once, so that no request path ever reaches the file system. traceUrl: where a trace is
 * shown, with `{traceId}` in it.
 */
export const consoleSite = (traceUrl = ''): Site =>
  new Site(
    '/console',
    policy,
    builtFiles().flatMap((name) => pathsOf(name).map((path) => source(path, name, traceUrl))),
  );

/** Browsers ask for the icon at `/favicon.ico` where what they show names none: text, JSON, images. */
function pathsOf(name: string): string[] {
  if (name === 'icon.svg') return ['/console/icon.svg', '/favicon.ico'];
  return [name === 'index.html' ? '/console' : `/console/${name}`];
}

function source(path: string, name: string, traceUrl: string): Source {
  const read = () => readFile(folder + name);
  const told = async () => Buffer.from(withTraceUrl(String(await read()), traceUrl));
  return { path, type: types[extname(name)] ?? '', read: name === 'index.html' ? told : read };
}

/** The page, which says where traces are shown. */
const withTraceUrl = (page: string, traceUrl: string): string =>
  page.replace('<meta name="trace-url" content="">', () => `<meta name="trace-url" content="${html(traceUrl)}">`);

/** None before the first build. */
function builtFiles(): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types);
  } catch {
    return [];
  }
}
