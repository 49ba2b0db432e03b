import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Site, type SiteSource } from '../../doors/http/static-site.ts';
import { packagePath } from '../../package.ts';
import { page } from './reference.ts';

/** Made by `npm run build`, even for a server that runs from source. */
const built = packagePath('dist/docs/');

/** A page may run our scripts and call this server. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
};
/** Programs and settings are served as text to read. */
const text = 'text/plain; charset=utf-8';

/** Where a rendered file is served: `/docs/quickstart` for `quickstart.html`, and `/llms.txt` at the root. */
function pathOf(name: string): string {
  if (name === 'index.html') return '/docs';
  return name.startsWith('llms') ? `/${name}` : `/docs/${name.replace(/\.html$/, '')}`;
}

function filesOf(folder: string): SiteSource[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = entries.map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length).replace(/^\//, ''));
    return names.map((name) => ({
      path: pathOf(name),
      type: types[extname(name)] ?? text,
      read: () => readFile(folder + name),
    }));
  } catch {
    // No pages exist before the first build.
    return [];
  }
}

/** The documentation: the repository's pages as the build has rendered them (src/pages/docs/render). */
export const docsSite = (): Site =>
  new Site(
    '/docs',
    policy,
    // The API reference has a site of its own.
    [`${built}site/`, `${built}browser/`].flatMap(filesOf).filter(({ path }) => !path.startsWith('/docs/api/')),
  );

/** Scalar writes styles into the page. */
const referencePolicy = [
  ...policy.filter((rule) => !/trusted|style-src|img-src/.test(rule)),
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
];

const javascript = 'text/javascript; charset=utf-8';
const builtFile = (path: string, type: string, file: string): SiteSource => ({
  path,
  type,
  read: () => readFile(built + file),
});

export const referenceSite = (): Site =>
  new Site('/docs/api', referencePolicy, [
    { path: '/docs/api', type: 'text/html; charset=utf-8', read: async () => Buffer.from(page) },
    builtFile('/docs/api/page.css', 'text/css; charset=utf-8', 'browser/api/page.css'),
    builtFile('/docs/api/page.js', javascript, 'browser/api/page.js'),
    builtFile('/docs/api/scalar.js', javascript, 'scalar/scalar.js'),
  ]);
