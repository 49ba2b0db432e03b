import { expect } from 'chai';
import type { FlattenedJWSInput, JWTHeaderParameters } from 'jose';
import pino from 'pino';
import { Issuer } from '../../src/doors/oidc/issuer.ts';
import { keyOf, OwnIssuer } from './own-issuer.ts';

describe('The keys of the issuer', () => {
  const seconds = 1_000;
  const minutes = 60 * seconds;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const started: OwnIssuer[] = [];
  let own: OwnIssuer;
  let issuer: Issuer;
  let now = 0;

  beforeEach(async () => {
    now = 0;
    lines.length = 0;
    own = await OwnIssuer.start();
    started.push(own);
    issuer = new Issuer(own.url, log, () => now);
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
  });

  /** Looks for a key: `found`, or why there is none. */
  async function look(kid: string): Promise<string> {
    const header: JWTHeaderParameters = { alg: 'ES256', kid };
    return Promise.resolve(issuer.keyOf(header, {} as FlattenedJWSInput)).then(
      () => 'found',
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
  }
  const away = 'the keys of the issuer cannot be fetched';

  it('are fetched for the first token, once for many', async () => {
    expect(own.fetches).to.equal(0);
    expect(await Promise.all(Array.from({ length: 20 }, () => look('first')))).to.deep.equal(Array(20).fill('found'));
    expect(await look('first')).to.equal('found');
    expect(own.fetches).to.equal(1);
  });

  it('are fetched at most once in 30 s for keys that are unknown', async () => {
    expect(await look('none')).to.equal('ERR_JWKS_NO_MATCHING_KEY');
    for (now = 0; now < 30 * seconds; now += seconds) expect(await look(`none ${now}`)).to.equal('unknown key');
    expect(own.fetches).to.equal(1);
    expect(await look('none')).to.equal('ERR_JWKS_NO_MATCHING_KEY');
    expect(own.fetches).to.equal(2);
  });

  it('are rotated: a new one is found at once, the next one 30 s later', async () => {
    expect(await look('first')).to.equal('found');
    own.keys.push(await keyOf('second'));
    expect(await look('second')).to.equal('found');
    own.keys.push(await keyOf('third'));
    expect(await look('third')).to.equal('unknown key');
    now = 30 * seconds;
    expect(await look('third')).to.equal('found');
    expect(own.fetches).to.equal(3);
  });

  it('are refused once the issuer has withdrawn them, ten minutes later at the latest', async () => {
    expect(await look('first')).to.equal('found');
    own.keys.splice(0, 1, await keyOf('second'));
    now = 10 * minutes - 1;
    expect(await look('first')).to.equal('found');
    expect(own.fetches).to.equal(1);
    now = 10 * minutes;
    // Nobody waits for the refresh.
    expect(await look('first')).to.equal('found');
    expect(await look('second')).to.equal('found');
    expect(await look('first')).to.equal('unknown key');
    expect(own.fetches).to.equal(2);
  });

  it('stay known for an hour while the issuer is away, and are found again when it is back', async () => {
    expect(await look('first')).to.equal('found');
    own.fails = 503;
    now = 60 * minutes - 1;
    expect(await look('first')).to.equal('found');
    now = 60 * minutes;
    expect(await look('first')).to.equal(away);
    own.fails = undefined;
    expect(await look('first')).to.equal(away);
    now += 30 * seconds;
    expect(await look('first')).to.equal('found');
    expect(lines.join('')).to.include('"error":"/.well-known/openid-configuration: status 503"');
  });

  it('are nobody else’s: the discovery document must be the issuer’s own', async () => {
    own.document = { issuer: 'https://other.test' };
    expect(await look('first')).to.equal(away);
    expect(own.fetches).to.equal(0);
  });

  it('are fetched over https, or on a loopback address', async () => {
    for (const jwks_uri of [
      'http://192.0.2.1/keys',
      'file:///etc/passwd',
      'data:application/json,{"keys":[]}',
      '/keys',
      undefined,
    ]) {
      own.document = { jwks_uri };
      expect([jwks_uri, await look('first')]).to.deep.equal([jwks_uri, away]);
      now += 30 * seconds;
    }
    expect(own.fetches).to.equal(0);
  });

  it('come with the endpoints for signing in, none of which is a script or in the clear', async () => {
    const good = { authorization_endpoint: `${own.url}/auth`, token_endpoint: 'https://login.test/token' };
    const cases: [Record<string, unknown>, unknown][] = [
      [{}, undefined],
      [{ ...good, authorization_endpoint: 'javascript:alert(1)' }, undefined],
      [{ ...good, token_endpoint: 'http://login.test/token' }, undefined],
      [good, { authorization: `${own.url}/auth`, token: 'https://login.test/token' }],
    ];
    for (const [document, endpoints] of cases) {
      own.document = document;
      expect(await new Issuer(own.url, log).endpoints()).to.deep.equal(endpoints);
    }
  });
});
