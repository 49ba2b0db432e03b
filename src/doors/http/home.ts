import type { Response } from '../../engine/call/call.ts';
import type { Context, Step } from './context.ts';
import { readOnly } from './probes.ts';

/** A page of a few words. It needs no code, styles or frames, whatever its path. */
const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
  Vary: 'Accept',
};

/** Whether a browser wants a page to show: unlike API clients and curl, its Accept prefers HTML. */
function isForPerson(ctx: Context): boolean {
  return (ctx.method === 'GET' || ctx.method === 'HEAD') && ctx.accepts('json', 'html') === 'html';
}

/** Redirects `/` to the console. */
export const home: Step = (ctx, next) => {
  if (ctx.path !== '/' || !isForPerson(ctx)) return next();
  readOnly(ctx, ctx.path);
  // Relative, so that it also works below a proxy's prefix.
  ctx.state.answer = { status: 302, headers: { ...headers, Location: 'console' }, text: '' };
  return Promise.resolve();
};

/** The answer to an unknown path: `refused` or, for a person, a page that says where to go. */
export function notFound(ctx: Context, refused: Response): Response {
  if (!isForPerson(ctx)) return refused;
  const root = '../'.repeat(Math.max(0, ctx.path.split('/').length - 2));
  const link = (path: string, text: string): string => `<li><a href="${root}${path}">${text}</a></li>`;
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Page not found – Muster</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${root}favicon.ico" type="image/svg+xml">
</head>
<body>
<main>
<h1>Page not found</h1>
<p>There is no such page here. You may be looking for:</p>
<ul>
${link('console', 'the console')}
${link('docs', 'the documentation')}
${link('docs/api', 'the API reference')}
</ul>
<p>Request ${ctx.state.requestId}</p>
</main>
</body>
</html>
`;
  return { ...refused, headers: { ...refused.headers, ...headers }, text };
}
