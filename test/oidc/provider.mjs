// The authorization server oidc-provider in a process of its own. Started with a port, it prints `ready`; a message
// `{ claim }` sets the claim `muster` of its tokens, `{ rotate: true }` replaces its keys. It answers each message.
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { errors } from 'oidc-provider';

const [port, redirectUri = ''] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
let claim = null;

async function newKeys() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] };
}

/** Issues signed tokens for any resource; without a resource they would be opaque. */
const resourceIndicators = {
  enabled: true,
  defaultResource: () => 'https://muster.test',
  useGrantedResource: () => true,
  getResourceServerInfo: (_ctx, audience) => ({
    audience,
    scope: 'openid muster',
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg: 'RS256' } },
  }),
};

async function newProvider() {
  const provider = new Provider(issuer, {
    jwks: await newKeys(),
    cookies: { keys: ['a test'] },
    clients: [
      {
        client_id: 'robot',
        client_secret: 'its secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: 'console',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        redirect_uris: [redirectUri],
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators,
    },
    scopes: ['openid', 'muster', 'offline_access'],
    issueRefreshToken: () => true,
    clientBasedCORS: () => true,
    extraTokenClaims: () => (claim === null ? undefined : { muster: claim }),
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
    // Whoever signs in consents.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid muster');
      for (const resource of Object.keys(oidc.resourceServers ?? {})) grant.addResourceScope(resource, 'openid muster');
      await grant.save();
      return grant;
    },
  });
  return { provider, answer: provider.callback() };
}

let current = await newProvider();

const page = `<!doctype html><html lang="en"><title>Issuer</title><h1>Issuer</h1>
<form method="post"><button>Continue as alice</button></form>`;

const server = createServer(async (request, response) => {
  const { provider, answer } = current;
  if (!request.url?.startsWith('/sign-in/')) return answer(request, response);
  if (request.method !== 'POST') return response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  return provider
    .interactionFinished(request, response, { login: { accountId: 'alice' }, consent: {} })
    .catch((error) => response.writeHead(error instanceof errors.SessionNotFound ? 404 : 500).end(String(error)));
});

process.on('message', async (message) => {
  if ('claim' in message) claim = message.claim;
  if (message.rotate) current = await newProvider();
  process.send?.('done');
});
process.on('disconnect', () => process.exit(0));

server.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
