import { expect } from 'chai';
import { freePort } from '../fault/redis-server.ts';
import { call, messagesOf, Processes } from '../support/processes.ts';

describe('A process that accepts tokens', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());
  const settings = async (): Promise<Record<string, string>> => ({
    DATA_DIR: await processes.folder(),
    OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
    OIDC_AUDIENCE: 'https://muster.test',
  });

  it('starts without its issuer, and serves API keys; why a token is refused is in the log, without the token', async () => {
    const port = await freePort();
    const PUBLIC_URL = `http://127.0.0.1:${port}`;
    const given: Record<string, string> = { ...(await settings()), PORT: String(port), PUBLIC_URL, LOG_LEVEL: 'info' };
    const muster = await processes.start(given).ready();
    const { url, access } = muster;
    expect((await call(url, access, '/limits')).status).to.equal(200);
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: given['OIDC_ISSUER'], aud: 'https://muster.test', exp: Math.floor(Date.now() / 1000) + 60 };
    const token = `${part({ alg: 'ES256', kid: 'a' })}.${part(claims)}.${'s'.repeat(86)}`;
    const refused = await call(url, { ...access, apiKey: token }, '/limits');
    expect([refused.status, refused.body.error.code]).to.deep.equal([401, 'INVALID_API_KEY']);
    const { stderr } = await muster.end('SIGTERM');
    expect(stderr).to.include('"reason":"token refused: the keys of the issuer cannot be fetched"');
    expect(stderr).to.match(
      /"error":"\/\.well-known\/openid-configuration: .*ECONNREFUSED.*cannot fetch the keys of OIDC_ISSUER/,
    );
    for (const one of token.split('.')) expect(stderr).to.not.include(one);
  });

  it('needs PUBLIC_URL: Host never says whom a token is for', async () => {
    const { status, stderr } = await processes.start(await settings()).ended;
    expect(status).to.equal(1);
    expect(messagesOf(stderr).join('\n')).to.equal(
      'PUBLIC_URL is missing: with OIDC_ISSUER it must be the address at which callers reach the API',
    );
  });
});
