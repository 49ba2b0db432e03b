import { readFile } from 'node:fs/promises';
import { Site, type Source } from '../http/site.ts';
import { packagePath } from '../package.ts';
import { page, script, style } from './page.ts';

/** The build's copy of swagger-ui. */
const libraryFolder = packagePath('dist/docs/swagger-ui/');

/** The page may run our scripts and call this server. swagger-ui sets style attributes. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

const html = 'text/html; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';

const inline = (path: string, type: string, text: string): Source => ({
  path,
  type,
  read: async () => Buffer.from(text),
});
const library = (type: string, name: string): Source => ({
  path: `/docs/${name}`,
  type,
  read: () => readFile(libraryFolder + name),
});

/** The API reference. */
export const docsSite = (): Site =>
  new Site('/docs', policy, [
    inline('/docs', html, page),
    inline('/docs/page.css', css, style),
    inline('/docs/page.js', javascript, script),
    library(css, 'swagger-ui.css'),
    library(javascript, 'swagger-ui-bundle.js'),
  ]);
