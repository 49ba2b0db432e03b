import { expect } from 'chai';
import pino from 'pino';
import { Issuer } from '../../src/doors/oidc/issuer.ts';
import { Tokens } from '../../src/doors/oidc/tokens.ts';
import { keyOf, OwnIssuer } from './own-issuer.ts';
import { audience, inSeconds } from './signed-in.ts';

describe('A token that is used again', () => {
  const minutes = 60_000;
  let own: OwnIssuer;
  let tokens: Tokens;
  let now = 0;
  /** How often a signature was checked. */
  let checks = 0;
  beforeEach(async () => {
    now = 0;
    checks = 0;
    own = await OwnIssuer.start();
    const issuer = new Issuer(own.url, pino({ level: 'silent' }), () => now);
    const counted = {
      name: issuer.name,
      get keys() {
        return issuer.keys;
      },
      keyOf: (...given: Parameters<typeof issuer.keyOf>) => {
        checks++;
        return issuer.keyOf(...given);
      },
    };
    tokens = new Tokens({ issuer: counted, audience, claim: 'muster' });
  });
  afterEach(() => own.stop());

  const sign = (changes: object = {}): Promise<string> =>
    own.sign({
      iss: own.url,
      aud: audience,
      exp: inSeconds(300),
      muster: { org: 'acme', permissions: [] },
      ...changes,
    });
  const refused = (token: string, resource?: string): Promise<boolean> =>
    tokens.callerOf(token, resource).then(
      () => false,
      () => true,
    );

  it('is judged once', async () => {
    const token = await sign();
    const caller = await tokens.callerOf(token);
    expect(await tokens.callerOf(token)).to.equal(caller);
    expect(checks).to.equal(1);
    await tokens.callerOf(await sign({ sub: 'another' }));
    expect(checks).to.equal(2);
  });

  it('makes a caller with the known permissions, but never with the one over keys', async () => {
    const muster = { org: 'acme', permissions: ['key_admin', 'coordination_read', 'everything'], spaces: [] };
    const { org, apiKeyDigest } = await tokens.callerOf(await sign({ exp: 1e15, sub: 'a b', muster }));
    expect(org).to.equal('acme');
    const [, name] = /^grant 100000000060000 coordination_read none ([\w-]{43}) oidc:a b$/.exec(apiKeyDigest) ?? [];
    expect(name).to.not.equal(undefined);
  });

  it('is judged anew at another resource', async () => {
    const token = await sign({ aud: 'https://muster.test/mcp' });
    expect(await refused(token, 'https://muster.test/mcp')).to.equal(false);
    expect(await refused(token, 'https://muster.test/other')).to.equal(true);
    expect(await refused(token)).to.equal(true);
  });

  it('is judged anew when the keys were fetched again, and refused if its key is gone', async () => {
    const token = await sign();
    expect(await refused(token)).to.equal(false);
    own.keys.splice(0, 1, await keyOf('second'));
    now = 10 * minutes;
    // Nobody waits for the refresh, which this one starts.
    expect(await refused(token)).to.equal(false);
    expect(await refused(await sign())).to.equal(false);
    expect(await refused(token)).to.equal(true);
  });

  it('is refused when the issuer has been away for an hour', async () => {
    const token = await sign();
    expect(await refused(token)).to.equal(false);
    own.fails = 503;
    now = 60 * minutes - 1;
    expect(await refused(token)).to.equal(false);
    now = 60 * minutes;
    expect(await refused(token)).to.equal(true);
  });

  it('makes room: a thousand are known, and the oldest is judged anew', async () => {
    const first = await sign({ sub: 'first' });
    await tokens.callerOf(first);
    let last = '';
    for (let i = 0; i < 1_000; i++) {
      last = await sign({ sub: String(i) });
      await tokens.callerOf(last);
    }
    checks = 0;
    await tokens.callerOf(last);
    expect(checks).to.equal(0);
    await tokens.callerOf(first);
    expect(checks).to.equal(1);
  });
});
