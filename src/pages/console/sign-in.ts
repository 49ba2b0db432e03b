import type { Step } from '../../doors/http/context.ts';
import { readOnly } from '../../doors/http/probes.ts';
import { headersUnder } from '../../doors/http/static-site.ts';
import { html } from '../answer/text.ts';
import { policyFor } from './site.ts';

export const signInPath = '/console/sign-in';

/** How the console signs people in. */
interface SignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  readonly audience: string;
  readonly publicUrl: string;
  /** The issuer's endpoints; undefined if they cannot be fetched now. */
  readonly endpoints: () => Promise<{ readonly authorization: string; readonly token: string } | undefined>;
}

/**
 * The page that sends the browser to the issuer and then back to the console. It is the only page that may connect to
 * another server: it gets the token there.
 */
export function signInPage({ publicUrl, endpoints, ...client }: SignIn): Step {
  return async (ctx, next) => {
    if (ctx.path !== signInPath) return next();
    readOnly(ctx, signInPath);
    const found = await endpoints();
    const settings = { ...client, ...found, redirectUri: publicUrl + signInPath };
    const headers = {
      ...headersUnder(policyFor(found ? sourceOf(found.token) : "'none'")),
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
    };
    ctx.state.answer = found
      ? { status: 200, headers, text: page('Signing in…', '', settings) }
      : {
          status: 503,
          headers: { ...headers, 'Retry-After': '30' },
          text: page('Not signed in', 'The issuer cannot be reached now. An API key works all the same.'),
        };
  };
}

/** Escapes an address for a Content-Security-Policy, in which `;` and `,` are separators. */
function sourceOf(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
}

function page(title: string, problem: string, settings?: object): string {
  const script = settings
    ? `<meta name="sign-in" content="${html(JSON.stringify(settings))}">
<script type="module" src="sign-in.js"></script>`
    : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sign in – Muster console</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="console.css">
${script}
</head>
<body>
<header><p class="brand">Muster <span>console</span></p></header>
<main id="content">
<section id="sign-in" aria-labelledby="sign-in-title">
<h1 id="sign-in-title">${title}</h1>
<p id="problem" class="problem" role="alert">${problem}</p>
<p><a href="../console">To the console</a></p>
</section>
</main>
</body>
</html>
`;
}
