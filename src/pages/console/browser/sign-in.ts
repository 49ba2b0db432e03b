import { byId, setText } from './dom.ts';
import { session } from './session.ts';

/** Signs in at the issuer: the authorization code flow with PKCE. The issuer redirects back to this page. */

const stored = 'muster.signing-in';

/** src/pages/console/sign-in.ts puts them into the page. */
interface Settings {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  readonly audience: string;
  readonly redirectUri: string;
  readonly authorization: string;
  readonly token: string;
}

/** The state that this tab keeps while the user is at the issuer. */
interface Begun {
  readonly state: string;
  readonly verifier: string;
  /** The place in the console to return to. */
  readonly place: string;
}

/** A failure to sign in. Its message is shown to the user. */
class Problem extends Error {}

/** Asks for a token for this server. The standard is `resource` (RFC 8707), an address; Auth0 reads `audience`. */
function audienceOf({ audience }: Settings): Record<string, string> {
  return { audience, ...(URL.canParse(audience) && { resource: audience }) };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Goes to the issuer. */
async function begin(settings: Settings): Promise<void> {
  // The issuer redirects to that address, so begin there: each origin has its own session storage.
  if (location.origin + location.pathname !== settings.redirectUri) {
    location.replace(settings.redirectUri + location.hash);
    return;
  }
  if (!crypto.subtle) throw new Problem('Signing in needs https');
  const begun: Begun = { state: random(), verifier: random(), place: location.hash };
  sessionStorage.setItem(stored, JSON.stringify(begun));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.verifier));
  const { clientId, scope, redirectUri, authorization } = settings;
  const url = new URL(authorization);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state: begun.state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...audienceOf(settings),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  location.replace(url);
}

/** Handles the issuer's answer, and returns to where the console was. */
async function finish(settings: Settings, answer: URLSearchParams): Promise<void> {
  const begun = JSON.parse(sessionStorage.getItem(stored) ?? 'null') as Begun | null;
  sessionStorage.removeItem(stored);
  // Don't leave the code in the address.
  history.replaceState(null, '', location.pathname);
  if (begun === null || answer.get('state') !== begun.state) throw new Problem('This tab has not begun to sign in');
  if ((answer.get('iss') ?? settings.issuer) !== settings.issuer)
    throw new Problem('This is the answer of another issuer');
  const code = answer.get('code');
  if (code === null)
    throw new Problem(
      `The issuer refuses: ${answer.get('error_description') ?? answer.get('error') ?? 'it gives no code'}`,
    );
  session.begin(await tokenFor(code, begun.verifier, settings));
  location.replace(`../console${begun.place}`);
}

async function tokenFor(code: string, verifier: string, settings: Settings): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: settings.redirectUri,
    client_id: settings.clientId,
    code_verifier: verifier,
    ...audienceOf(settings),
  });
  const answer = await fetch(settings.token, { method: 'POST', body, credentials: 'omit', redirect: 'error' }).catch(
    () => {
      throw new Problem('The issuer cannot be reached, or does not let this page ask it for the token (CORS)');
    },
  );
  const given = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
  const token = given['access_token'];
  if (typeof token !== 'string')
    throw new Problem(`The issuer gives no token: ${given['error_description'] ?? given['error'] ?? answer.status}`);
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token))
    throw new Problem('The issuer’s token is not a JWT: its audience may be wrong');
  return token;
}

async function signIn(): Promise<void> {
  const settings = JSON.parse(
    document.querySelector<HTMLMetaElement>('meta[name="sign-in"]')?.content ?? '',
  ) as Settings;
  const answer = new URLSearchParams(location.search);
  const isAnswer = answer.has('code') || answer.has('error') || answer.has('state');
  await (isAnswer ? finish(settings, answer) : begin(settings)).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    setText(byId('sign-in-title'), 'Not signed in');
    setText(byId('problem'), `${error.message}.`);
  });
}

void signIn();
