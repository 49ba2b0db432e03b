import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** A key pair as an issuer keeps it. */
export async function keyOf(kid: string, alg = 'ES256'): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An issuer whose private keys the test holds, so that it signs any claims. */
export class OwnIssuer {
  readonly #server: Server;
  readonly keys: Key[];
  /** How often each path was asked for. */
  readonly asked: Record<string, number> = {};
  /** Answers every request with this status. */
  fails: number | undefined;
  /** Members of the discovery document. */
  document: Record<string, unknown> = {};

  private constructor(keys: Key[]) {
    this.keys = keys;
    this.#server = createServer((request, response) => {
      const path = request.url ?? '';
      this.asked[path] = (this.asked[path] ?? 0) + 1;
      const body = path === '/keys' ? { keys: this.keys.map(({ jwk }) => jwk) } : this.#discovery();
      response.writeHead(this.fails ?? 200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    });
  }

  static async start(...keys: Key[]): Promise<OwnIssuer> {
    const issuer = new OwnIssuer(keys.length > 0 ? keys : [await keyOf('first')]);
    await new Promise<void>((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How often its keys were asked for. */
  get fetches(): number {
    return this.asked['/keys'] ?? 0;
  }

  #discovery(): Record<string, unknown> {
    return { issuer: this.url, jwks_uri: `${this.url}/keys`, ...this.document };
  }

  /** Signs these claims, by default with its first key. */
  sign(
    claims: Record<string, unknown>,
    header: Partial<JWTHeaderParameters> = {},
    key = this.keys[0],
  ): Promise<string> {
    if (!key) throw new Error('it has no key');
    const { kid, alg, privateKey } = key;
    return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
